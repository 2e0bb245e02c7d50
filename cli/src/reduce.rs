//! Whole-array reductions of files.

use std::str::FromStr;

use warpfold::file::DType;
use warpfold::{
    Accumulator, ArgMax, ArgMin, Device, Error, Extrema, Indexed, Max, Mean, MeanVariance, Min,
    MinMax, Norm, Number, Predicate, Product, SinglePass, SumAbs, SumSquares, SumWide,
};

use crate::answer::Answer;
use crate::command::{Done, Session};
use crate::failure::Failure;
use crate::memory::chunk_len;
use crate::options::{Command, Condition, CountOptions, Input, NormOptions, Order, VarOptions};
use crate::ranks::{Share, own_part};
use crate::reading::Reading;
use crate::sources::{Elements, Sources};
use crate::value::Value;

pub fn run(
    command: &Command,
    input: &Input,
    sources: Sources<'_>,
    session: &mut Session<'_>,
) -> Result<Done, Failure> {
    let (dtype, name) = (sources.dtype, sources.name());
    warpfold::with_type!(dtype, |T| {
        let predicate = match command {
            Command::Count(CountOptions { condition, .. }) => {
                Some(predicate::<T>(condition, dtype)?)
            }
            _ => None,
        };
        let device = session.device(input)?;
        let chunk = chunk_len(&device, input.device_memory, size_of::<T>(), sources.len, 0)?;
        let share = session.share(&sources)?;
        let reading = session.reading(sources.bytes());
        let elements = own_part(sources.elements::<T>(), share.as_ref());
        let elements = session.together("open", elements.map_err(Failure::from))?;
        let mut array = Array {
            device: &device,
            elements,
            reading: &reading,
            chunk,
            share,
        };
        let result = match command {
            Command::Sum(_) => Some(array.reduce(SumWide)?.into()),
            Command::Mean(_) if input.exact && dtype.is_float() => {
                let sum = array.accumulate(SumWide)?;
                (!sum.is_empty()).then(|| sum.mean::<f64>().into())
            }
            Command::Product(_) => Some(array.reduce(Product)?.into()),
            Command::Min(_) => array.reduce(Min)?.map(Into::into),
            Command::Max(_) => array.reduce(Max)?.map(Into::into),
            Command::MinMax(_) => array.reduce(MinMax)?.map(Into::into),
            Command::Argmin(_) => array.reduce(ArgMin)?.map(Into::into),
            Command::Argmax(_) => array.reduce(ArgMax)?.map(Into::into),
            Command::Mean(_) => {
                let sum = array.reduce(T::MEAN_BY)?;
                sum.mean(array.n()).map(Into::into)
            }
            Command::Var(VarOptions { ddof, .. }) => {
                let moments = array.reduce(MeanVariance)?;
                let divisor = (array.n() as u64).checked_sub(*ddof);
                let divisor = divisor.filter(|divisor| *divisor > 0);
                let both = moments.zip(divisor);
                both.map(|(moments, divisor)| (moments.squares() / divisor as f64).into())
            }
            Command::Norm(NormOptions { order, .. }) => match order {
                Order::One => Some(array.reduce(SumAbs)?.into()),
                Order::Two if input.exact => {
                    Some(array.accumulate(SumSquares)?.sqrt::<f64>().into())
                }
                Order::Two => Some(array.reduce(SumSquares)?.norm().into()),
                Order::Inf => array.reduce(MinMax)?.map(|extrema| extrema.norm().into()),
            },
            Command::Count(_) => match predicate {
                Some(predicate) => Some(array.count(predicate)?.into()),
                None => unreachable!("`predicate` is set for `count`"),
            },
            Command::Dot(_)
            | Command::ReduceByKey(_)
            | Command::CountByKey(_)
            | Command::GroupBy(_)
            | Command::Devices(_)
            | Command::Completions { .. }
            | Command::Man { .. } => unreachable!("not a whole-array reduction"),
        };
        let n = array.n();
        drop(array);
        Ok(Done {
            n,
            result: result.ok_or_else(|| too_few(command, name, n))?,
            device,
            reading,
            chunk_bytes: chunk * size_of::<T>(),
        })
    })
}

/// The failure of a command that has no result for `n` elements.
fn too_few(command: &Command, file: String, n: usize) -> Failure {
    let (what, needs) = match command {
        Command::Var(VarOptions { ddof, .. }) => {
            (format!("var --ddof {ddof}"), u128::from(*ddof) + 1)
        }
        Command::Norm(_) => ("norm --order inf".into(), 1),
        _ => (command.name().into(), 1),
    };
    Failure::TooFew {
        file,
        n,
        what,
        needs,
    }
}

/// An array in files, and the device that reduces it.
pub struct Array<'a, T: Number> {
    pub device: &'a Device,
    pub elements: Elements<'a, T>,
    pub reading: &'a Reading,
    /// The number of elements in a chunk.
    pub chunk: usize,
    /// What this rank reads, if there are several.
    pub share: Option<Share>,
}

impl<T: Number + Default> Array<'_, T> {
    /// The number of elements of the whole array.
    fn n(&self) -> usize {
        let share = self.share.as_ref();
        share.map_or(self.elements.n(), |share| share.n as usize)
    }

    pub fn reduce<O: SinglePass<T>>(&mut self, op: O) -> Result<O::Output, Error> {
        if let Some(Share { ranks, n }) = &self.share {
            let chunks = self.device.chunks(self.chunk)?;
            return ranks.reduce_chunks_of(op, *n, chunks, |chunk| {
                self.elements.read(chunk, self.reading)
            });
        }
        self.device.reduce_chunks(op, self.chunk, |chunk| {
            self.elements.read(chunk, self.reading)
        })
    }

    fn accumulate<O: SinglePass<T>>(&mut self, op: O) -> Result<Accumulator, Error> {
        let chunks = self.device.chunks(self.chunk)?;
        if let Some(Share { ranks, n }) = &self.share {
            return ranks.accumulate_chunks_of(op, *n, chunks, |chunk| {
                self.elements.read(chunk, self.reading)
            });
        }
        self.device
            .accumulate_chunks_of(op, chunks, |chunk| self.elements.read(chunk, self.reading))
    }

    fn count(&mut self, predicate: Predicate<T>) -> Result<u64, Error> {
        let own = self.count_own(predicate);
        let Some(Share { ranks, .. }) = &self.share else {
            return own;
        };
        let counts = ranks.gather_elements("count", own.map(|own| vec![own]))?;
        Ok(counts.concat().into_iter().sum())
    }

    /// Counts what this rank reads.
    fn count_own(&mut self, predicate: Predicate<T>) -> Result<u64, Error> {
        let mut chunks = self.device.chunks(self.chunk)?;
        let mut count = 0;
        while let Some(chunk) = chunks.load(|chunk| self.elements.read(chunk, self.reading))? {
            count += self.device.count(chunk, predicate)?;
        }
        Ok(count)
    }
}

pub fn predicate<T: FromStr>(condition: &Condition, dtype: DType) -> Result<Predicate<T>, Failure> {
    let value = |option: &str, text: &String| {
        let wrong = |_| {
            let text =
                format!("{option} {text:?} is not of type {dtype}, the type of the elements");
            Failure::Usage(text)
        };
        text.parse().map_err(wrong)
    };
    Ok(match condition {
        Condition {
            equal: Some(text), ..
        } => Predicate::Equal(value("--equal", text)?),
        Condition {
            less: Some(text), ..
        } => Predicate::Less(value("--less", text)?),
        Condition {
            greater: Some(text),
            ..
        } => Predicate::Greater(value("--greater", text)?),
        Condition { nan: true, .. } => Predicate::Nan,
        _ => Predicate::Nonzero,
    })
}

impl<T: Number + Into<Value>> From<Extrema<T>> for Answer {
    fn from(extrema: Extrema<T>) -> Self {
        Self::Extrema {
            min: extrema.min().into(),
            max: extrema.max().into(),
        }
    }
}

impl<T: Number + Into<Value>> From<Indexed<T>> for Answer {
    fn from(indexed: Indexed<T>) -> Self {
        Self::Indexed {
            index: indexed.index(),
            value: indexed.value().into(),
        }
    }
}
