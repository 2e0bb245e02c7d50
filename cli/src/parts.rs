//! Reductions of each part of an array in files: along axes, of segments, or of rows.

pub mod column;
mod convert;
mod layout;
mod load;
mod results;

use warpfold::many::Distributed;
use warpfold::{
    ArgMax, ArgMin, Axes, Buffer, Device, Element, Error, Max, Mean, MeanVariance, Min, Norm, Op,
    Predicate, Product, Strided, SumSquares, SumWide, View,
};

use crate::answer::Answer;
use crate::by_key::{Fill, converted};
use crate::command::{Done, Session};
use crate::failure::Failure;
use crate::memory::{Budget, group_budget};
use crate::options::{Command, CountOptions, Input, NormOptions, Order, PartOptions, VarOptions};
use crate::ranks::together;
use crate::reduce::predicate;
use crate::sources::Sources;
use column::{Column, Printed};
use convert::{Convert, own};
use layout::{Layout, Parts};
use load::Loader;
pub use results::Results;

pub fn run<'a>(
    command: &Command,
    input: &Input,
    options: &PartOptions,
    sources: Sources<'a>,
    session: &mut Session<'a>,
) -> Result<Done, Failure> {
    if let (Command::MinMax(_), Some(_)) = (command, &options.output) {
        let text =
            "min-max has two results for each part, and a .npy file has one: give min or max";
        return Err(Failure::Usage(text.into()));
    }
    let dtype = sources.dtype;
    check_exact(command, input, dtype.is_float())?;
    let layout = Layout::of(options, &sources, session)?;
    warpfold::with_type!(dtype, |T| {
        let predicate = match command {
            Command::Count(CountOptions { condition, .. }) => {
                Some(predicate::<T>(condition, dtype)?)
            }
            _ => None,
        };
        let device = session.device(input)?;
        let reading = session.reading(sources.bytes());
        let share = session.share(&sources)?;
        // What this rank reads and reduces, if there are several: nothing, if there are fewer parts.
        let assigned = share.as_ref().map(|share| {
            let (rank, size) = (share.ranks.rank(), share.ranks.size());
            layout.of_rank(rank, size, share.n as usize)
        });
        let mut job = Job {
            device: &device,
            input,
            layout: match &assigned {
                None => Some(&layout),
                Some(parts) => parts.as_ref().map(|(layout, _)| layout),
            },
            all: session.all(),
            name: sources.name(),
            len: match &assigned {
                Some(Some((_, part))) => Some(part.len()),
                _ => sources.len,
            },
            n: 0,
            chunk_bytes: 0,
        };
        let mut x = sources.elements::<T>();
        if let Some(parts) = &assigned {
            let part = parts.as_ref().map_or((0..0).into(), |(_, part)| *part);
            session.together("open", x.only(part).map_err(Failure::from))?;
        }
        let columns = match command {
            Command::Sum(_) => job.numbers(own(x, &reading), SumWide, |sum, _| Some(sum))?,
            Command::Product(_) => {
                job.numbers(T::factors(x, &reading), Product, |product, _| {
                    Some(T::of_factor(product))
                })?
            }
            Command::Min(_) => job.numbers(own(x, &reading), Min, |min, _| min)?,
            Command::Max(_) => job.numbers(own(x, &reading), Max, |max, _| max)?,
            Command::MinMax(_) => {
                let (mut min, mut max) = (vec![], vec![]);
                job.each(own(x, &reading), |group| {
                    min.extend(group.reduce(Min)?);
                    max.extend(group.reduce(Max)?);
                    Ok(())
                })?;
                vec![column("min", min), column("max", max)]
            }
            Command::Argmin(_) => {
                job.indexed::<T, _>(T::ordered(x, &reading), ArgMin, |found| {
                    found.map(|found| (found.index(), T::of_ordered(found.value())))
                })?
            }
            Command::Argmax(_) => {
                job.indexed::<T, _>(T::ordered(x, &reading), ArgMax, |found| {
                    found.map(|found| (found.index(), T::of_ordered(found.value())))
                })?
            }
            Command::Mean(_) if T::IS_LONG => {
                job.numbers(T::reals(x, &reading), MeanVariance, |moments, n| {
                    moments.mean(n)
                })?
            }
            Command::Mean(_) => job.numbers(own(x, &reading), SumWide, |sum, n| sum.mean(n))?,
            Command::Var(VarOptions { ddof, .. }) => {
                job.numbers(T::reals(x, &reading), MeanVariance, |moments, n| {
                    let divisor = (n as u64).checked_sub(*ddof).filter(|d| *d > 0);
                    let both = moments.zip(divisor);
                    both.map(|(moments, divisor)| moments.squares() / divisor as f64)
                })?
            }
            Command::Norm(NormOptions { order, .. }) => match order {
                Order::One => {
                    let magnitudes = converted(x, &reading, T::magnitude, |_| {});
                    job.numbers(magnitudes, SumWide, |sum, _| Some(sum))?
                }
                Order::Two => job.numbers(T::reals(x, &reading), SumSquares, |squares, _| {
                    Some(squares.norm())
                })?,
                Order::Inf => {
                    let mut norms = vec![];
                    job.each(own(x, &reading), |group| {
                        let (min, max) = (group.reduce(Min)?, group.reduce(Max)?);
                        norms.extend(min.into_iter().zip(max).map(|both| match both {
                            (Some(min), Some(max)) => Some(norm_inf(min, max)),
                            _ => None,
                        }));
                        Ok(())
                    })?;
                    vec![column("", norms)]
                }
            },
            Command::Count(_) => {
                let Some(predicate) = predicate else {
                    unreachable!("it is set for `count`")
                };
                let is = move |x: T| u8::from(holds(predicate, x));
                job.numbers(converted(x, &reading, is, |_| {}), SumWide, |count, _| {
                    Some(count)
                })?
            }
            Command::Dot(_)
            | Command::ReduceByKey(_)
            | Command::GroupBy(_)
            | Command::CountByKey(_)
            | Command::Devices(_)
            | Command::Completions { .. }
            | Command::Man { .. } => unreachable!("these have no parts"),
        };
        let n = share.as_ref().map_or(job.n, |share| share.n as usize);
        let chunk_bytes = job.chunk_bytes;
        let columns = match session.all() {
            None => columns,
            Some(all) => {
                let columns = columns.into_iter();
                let columns = columns.map(|(name, own)| Ok((name, own.of_ranks(all)?)));
                columns.collect::<Result<_, Error>>()?
            }
        };
        let results = Results::new(layout.shape(), columns);
        Ok(Done {
            n,
            result: answer(options, results, session.writes())?,
            reading,
            device,
            chunk_bytes,
        })
    })
}

/// The results, or the name of the file with them, which this process writes if `writes`.
fn answer(options: &PartOptions, results: Results, writes: bool) -> Result<Answer, Failure> {
    let Some(output) = &options.output else {
        return Ok(Answer::Parts(results));
    };
    if writes {
        results.write(output)?;
    }
    Ok(Answer::Saved {
        output: output.display().to_string(),
        shape: results.shape,
    })
}

/// An error for results that would be rounded more than once.
fn check_exact(command: &Command, input: &Input, is_float: bool) -> Result<(), Failure> {
    let rounds_again = match command {
        Command::Mean(_) => true,
        Command::Norm(NormOptions { order, .. }) => matches!(order, Order::Two),
        _ => false,
    };
    match input.exact && is_float && rounds_again {
        true => Err(Failure::Usage(format!(
            "--exact: the {} of each part is not exact; give the command for each part alone",
            command.name()
        ))),
        false => Ok(()),
    }
}

/// Whether the predicate holds, as on the device.
fn holds<T: Element + PartialOrd + Default>(predicate: Predicate<T>, x: T) -> bool {
    match predicate {
        Predicate::Equal(value) => x == value,
        Predicate::Less(value) => x < value,
        Predicate::Greater(value) => x > value,
        Predicate::Nan => x.partial_cmp(&x).is_none(),
        Predicate::Nonzero => x != T::default(),
        _ => unreachable!("there is no option for it"),
    }
}

/// The larger absolute value of the extrema.
fn norm_inf<T: Convert>(min: T, max: T) -> f64 {
    let (min, max) = (min.to_f64().abs(), max.to_f64().abs());
    // Either both are NaN, or neither is.
    if min > max { min } else { max }
}

/// Results with their name.
type Named = (&'static str, Box<dyn Column>);

fn column<R: Printed>(name: &'static str, results: Vec<Option<R>>) -> Named {
    (name, Box::new(results))
}

/// An array in files that is reduced in parts.
struct Job<'a> {
    device: &'a Device,
    input: &'a Input,
    /// The parts of this rank; `None` if it has none.
    layout: Option<&'a Layout>,
    /// The ranks, if there are several.
    all: Option<&'a Distributed>,
    /// The array's name.
    name: String,
    /// The number of elements, if it is known before the end.
    len: Option<usize>,
    /// The number of elements that have been read.
    n: usize,
    chunk_bytes: usize,
}

impl Job<'_> {
    /// Reduces each part to a number; `finish` gets the number of items too.
    fn numbers<T: Element + Default, O: Axes<T>, R: Printed>(
        &mut self,
        fill: Fill<'_, T>,
        op: O,
        finish: impl Fn(O::Output, usize) -> Option<R>,
    ) -> Result<Vec<Named>, Failure> {
        let mut all = vec![];
        self.each(fill, |group| {
            let results = group.reduce(op)?.into_iter().enumerate();
            all.extend(results.map(|(index, result)| finish(result, group.items(index))));
            Ok(())
        })?;
        Ok(vec![column("", all)])
    }

    /// Reduces each part to an index and a value.
    fn indexed<T: Convert, O: Axes<T::Ordered>>(
        &mut self,
        fill: Fill<'_, T::Ordered>,
        op: O,
        finish: impl Fn(O::Output) -> Option<(u64, T)>,
    ) -> Result<Vec<Named>, Failure> {
        let (mut indices, mut values) = (vec![], vec![]);
        self.each(fill, |group| {
            for found in group.reduce(op)?.into_iter().map(&finish) {
                // As NumPy's type of indices; a file has fewer than 2^63 elements.
                indices.push(found.map(|(index, _)| index as i64));
                values.push(found.map(|(_, value)| value));
            }
            Ok(())
        })?;
        Ok(vec![column("index", indices), column("value", values)])
    }

    /// Calls `reduce` for each group of parts; if a rank fails, all have a failure.
    fn each<T: Element + Default>(
        &mut self,
        fill: Fill<'_, T>,
        reduce: impl FnMut(&Loaded<'_, T>) -> Result<(), Error>,
    ) -> Result<(), Failure> {
        let own = match self.layout {
            Some(layout) => self.each_of(layout, fill, reduce),
            None => Ok(()),
        };
        together(self.all, "parts", own)
    }

    fn each_of<T: Element + Default>(
        &mut self,
        layout: &Layout,
        fill: Fill<'_, T>,
        mut reduce: impl FnMut(&Loaded<'_, T>) -> Result<(), Error>,
    ) -> Result<(), Failure> {
        let size = size_of::<T>();
        let budget: Budget = group_budget(
            self.device,
            self.input.device_memory,
            layout.largest(size),
            layout.largest_name(&self.name),
        )?;
        let longest = layout.longest_group(size, budget.bytes, self.len);
        self.chunk_bytes = longest.saturating_mul(size);
        let mut loader = Loader::new(self.device, &budget, longest, fill)?;
        for group in layout.groups(size, budget.bytes, self.len) {
            loader.skip(group.skipped)?;
            let before = loader.read;
            let items = loader.load(group.items)?;
            let n = before + items.len();
            let is_last = items.len() < group.items;
            if is_last {
                layout.check_end(n, &self.name)?;
                if items.is_empty() {
                    break;
                }
            }
            reduce(&Loaded::new(self.device, items, &group.parts)?)?;
            if is_last {
                break;
            }
        }
        // Elements behind the last part.
        loader.skip(usize::MAX)?;
        self.n = loader.read;
        Ok(())
    }
}

/// A group of parts on the device.
struct Loaded<'a, T: Element> {
    device: &'a Device,
    items: View<'a, T>,
    parts: &'a Parts,
    /// Those of segments.
    offsets: Option<Buffer<u64>>,
}

impl<'a, T: Element> Loaded<'a, T> {
    fn new(device: &'a Device, items: View<'a, T>, parts: &'a Parts) -> Result<Self, Error> {
        Ok(Self {
            device,
            items,
            parts,
            offsets: match parts {
                Parts::Offsets(offsets) => Some(device.upload(offsets)?),
                _ => None,
            },
        })
    }

    fn reduce<O: Axes<T>>(&self, op: O) -> Result<Vec<<O as Op<T>>::Output>, Error> {
        match (self.parts, &self.offsets) {
            (
                Parts::Axes {
                    shape,
                    strides,
                    axes,
                    ..
                },
                _,
            ) => {
                let shape = match strides {
                    Some(strides) => Strided::new(shape, strides),
                    None => shape.into(),
                };
                self.device.reduce_axis(self.items, shape, axes, op)
            }
            (Parts::Offsets(_), Some(offsets)) => {
                self.device.reduce_segments(self.items, offsets, op)
            }
            (Parts::Rows(len), _) => self.device.reduce_rows(self.items, *len, op),
            (Parts::Offsets(_), None) => unreachable!("`new` uploads them"),
        }
    }

    /// The number of items of a part.
    fn items(&self, part: usize) -> usize {
        match self.parts {
            Parts::Axes { len, .. } | Parts::Rows(len) => *len,
            Parts::Offsets(offsets) => (offsets[part + 1] - offsets[part]) as usize,
        }
    }
}
