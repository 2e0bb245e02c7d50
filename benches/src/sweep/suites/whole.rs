//! Whole reductions as a program calls them, beside CUB's: bandwidth against size.

mod peers;

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Instant;

use anyhow::{Context, Result};
use kernels_gpu::element::{bf16, f16};
use warpfold::{Algorithm, Buffer, Max, Min, Operator, Reduction, Sum};
use warpfold_results::schema::{By, Cache, Row, Suite, Timing};

use self::peers::{Cub, Cubs, Nothing};
use super::planned::{plan_row, planned};
use super::{Bench, ceiling};
use crate::options::{BadOption, ElementType, bad_option};
use crate::sweep::asked::{Asked, asked};
use crate::sweep::data::{self, Expected, Number};
use crate::sweep::options::{Grid, Op};
use crate::sweep::python::Python;
use crate::sweep::rounds::{Run, Timed};
use crate::sweep::row;
use crate::sweep::run::Sweep;
use crate::sweep::subject::Subject;

/// Up to so many bytes, what a launch costs is most of the time or a good part of it: such reductions are
/// timed with it, and without it in graphs.
const SMALL_BYTES: usize = 16 << 20;

/// Every type, operator and size.
pub fn run(bench: &Bench, sweep: &mut Sweep) -> Result<()> {
    let Asked { sizes, types } = asked(bench.options, 10..=28)?;
    sweep.announce(types.len() * bench.options.ops.len() * sizes.len());
    let named = |one: &Algorithm| {
        bench
            .options
            .algorithms
            .iter()
            .any(|name| name == one.kernel_name())
    };
    let algorithms: Vec<_> = Algorithm::all().skip(1).filter(named).collect();
    let cubs = cubs(bench, sweep);
    let nothing = cubs.first().map(|(_, cubs)| cubs.nothing()).transpose()?;
    let pythons = pythons(bench, sweep);
    for element in &types {
        let of = Sizes {
            bench,
            sizes: &sizes,
            cubs: &cubs,
            nothing: nothing.as_ref(),
            pythons: &pythons,
            algorithms: algorithms.clone(),
        };
        match element {
            ElementType::I8 => of.run::<i8>(sweep)?,
            ElementType::I16 => of.run::<i16>(sweep)?,
            ElementType::I32 => of.run::<i32>(sweep)?,
            ElementType::I64 => of.run::<i64>(sweep)?,
            ElementType::U8 => of.run::<u8>(sweep)?,
            ElementType::U16 => of.run::<u16>(sweep)?,
            ElementType::U32 => of.run::<u32>(sweep)?,
            ElementType::U64 => of.run::<u64>(sweep)?,
            ElementType::F16 => of.run::<f16>(sweep)?,
            ElementType::Bf16 => of.run::<bf16>(sweep)?,
            ElementType::F32 => of.run::<f32>(sweep)?,
            ElementType::F64 => of.run::<f64>(sweep)?,
        }
    }
    Ok(())
}

/// CUB by its default policy and by a tuned one, if it is wanted and there.
fn cubs(bench: &Bench, sweep: &mut Sweep) -> Vec<(&'static str, Cubs)> {
    if !bench.options.wants(By::Cub) {
        return Vec::new();
    }
    let capability = bench.info.compute_capability;
    let by_default = Cubs::by_default(capability);
    sweep.peer_built(By::Cub, by_default.as_ref().map(|cubs| &cubs.built));
    let Ok(by_default) = by_default else {
        return Vec::new();
    };
    let mut cubs = vec![("default", by_default)];
    match Cubs::tuned(capability) {
        Ok(tuned) => cubs.push(("tuned", tuned)),
        Err(reason) => sweep.note(format!("no rows of a tuned CUB: {reason:#}")),
    }
    sweep.note("CUB's mode that is not deterministic (CUB 3.1 and later) is not timed");
    cubs
}

/// Those of the libraries of Python that are wanted and there.
fn pythons(bench: &Bench, sweep: &mut Sweep) -> Vec<(By, RefCell<Python>)> {
    let wanted = [By::Torch, By::Cupy]
        .into_iter()
        .filter(|by| bench.options.wants(*by));
    let started = wanted.filter_map(|by| {
        let flush_bytes = bench.elsewhere.len() * size_of::<i32>();
        let python = Python::start(by, bench.info.index, flush_bytes);
        let version = python.as_ref().map(|python| python.version.clone());
        sweep.peer(by, version.map_err(|reason| format!("{reason:#}")));
        Some((by, RefCell::new(python.ok()?)))
    });
    started.collect()
}

/// All sizes of one type.
struct Sizes<'a> {
    bench: &'a Bench<'a>,
    sizes: &'a [usize],
    cubs: &'a [(&'static str, Cubs)],
    nothing: Option<&'a Nothing>,
    pythons: &'a [(By, RefCell<Python>)],
    /// Beside the default.
    algorithms: Vec<Algorithm>,
}

impl Sizes<'_> {
    fn run<T: Number>(&self, sweep: &mut Sweep) -> Result<()>
    where
        Sum: Operator<T, Output = T>,
        Min: Operator<T, Output = T>,
        Max: Operator<T, Output = T>,
    {
        let gpu = self.bench.gpu;
        let longest = self.sizes.iter().copied().max().unwrap_or(1);
        let file = self.bench.options.input.as_deref();
        let mut values = data::elements::<T>(file, longest, sweep.seed())?;
        data::refuse_useless(&values).map_err(BadOption::new)?;
        let mut input = gpu.upload(&values)?;
        // The ceiling reads as many bytes of its own.
        let words = (longest * size_of::<T>()).div_ceil(size_of::<i32>());
        let words_on_host = data::draw::<i32>(words, sweep.seed() + 1)?;
        let words = gpu.upload(&words_on_host)?;
        let pythons = self.load(&values, sweep)?;
        for &op in &self.bench.options.ops {
            for &n in self.sizes {
                if sweep.is_over() {
                    return Ok(());
                }
                let values = &mut values[..n];
                // Someone's own elements stay as they are.
                let planted = match file {
                    None => data::plant(values, op, sweep.seed()),
                    Some(_) => None,
                };
                if let Some((at, _)) = planted {
                    set(&mut input, &pythons, at, values[at])?;
                }
                let expected =
                    data::expected(values, op, file.is_some()).context("an empty array")?;
                let group = Group {
                    sizes: self,
                    input: &input,
                    expected,
                    words: &words,
                    words_on_host: &words_on_host,
                    pythons: &pythons,
                    n,
                };
                match op {
                    Op::Sum => group.time(Sum, sweep)?,
                    Op::Min => group.time(Min, sweep)?,
                    Op::Max => group.time(Max, sweep)?,
                }
                if let Some((at, value)) = planted {
                    values[at] = value;
                    set(&mut input, &pythons, at, value)?;
                }
            }
        }
        Ok(())
    }

    /// Gives the elements to the libraries of Python, and those that take them.
    fn load<T: Number>(&self, values: &[T], sweep: &mut Sweep) -> Result<Vec<Taken<'_>>> {
        if self.pythons.is_empty() {
            return Ok(Vec::new());
        }
        let file = data::file(values)?;
        let loaded = self.pythons.iter().filter_map(|(by, python)| {
            match python.borrow_mut().load::<T>(&file) {
                Ok(()) => Some((*by, python)),
                Err(reason) => {
                    sweep.note(format!("no rows of {}: {reason:#}", T::NAME));
                    None
                }
            }
        });
        Ok(loaded.collect())
    }
}

/// A library of Python that has the elements.
type Taken<'a> = (By, &'a RefCell<Python>);

/// Overwrites an element wherever it is.
fn set<T: Number>(input: &mut Buffer<T>, pythons: &[Taken], at: usize, value: T) -> Result<()> {
    input.write(at, &[value])?;
    let mut bytes = Vec::new();
    value.append(&mut bytes);
    let mut pythons = pythons.iter();
    pythons.try_for_each(|(_, python)| python.borrow_mut().set(at, &bytes))
}

/// Reductions of one input by one operator.
struct Group<'a, T: Number> {
    sizes: &'a Sizes<'a>,
    input: &'a Buffer<T>,
    expected: Expected<T>,
    /// What the ceiling reads.
    words: &'a Buffer<i32>,
    words_on_host: &'a [i32],
    pythons: &'a [Taken<'a>],
    n: usize,
}

impl<T: Number> Group<'_, T> {
    /// Every row, in every way of timing that fits the size.
    fn time<O: Operator<T, Output = T>>(&self, op: O, sweep: &mut Sweep) -> Result<()> {
        let Sizes { bench, cubs, .. } = self.sizes;
        let mut subjects = vec![self.ours(op, "single_pass", self.n)?];
        if bench.options.wrong_kernel {
            subjects.push(self.ours(op, "wrong_kernel", self.n - 1)?);
        }
        for &algorithm in &self.sizes.algorithms {
            subjects.push(self.by_algorithm(op, algorithm)?);
        }
        for &grid in &bench.options.grids {
            subjects.push(self.in_grid(op, grid)?);
        }
        for (policy, cubs) in *cubs {
            // Not of every type.
            if let Ok(cub) = cubs.cub(O::NAME, T::NAME) {
                subjects.push(self.cub::<O>(policy, cub)?);
            }
        }
        let subjects: Vec<_> = subjects.into_iter().map(Rc::new).collect();
        let ceiling = Rc::new(self.ceiling()?);
        let nothing = self
            .sizes
            .nothing
            .map(|nothing| Rc::new(self.nothing(nothing)));

        let stage = &bench.stage;
        let mut rows = Vec::new();
        for way in self.ways() {
            rows.extend(
                subjects
                    .iter()
                    .map(|subject| stage.timed(subject, way.0, way.1)),
            );
            if way.1 == Timing::Device {
                rows.push(stage.timed(&ceiling, way.0, way.1));
            }
            let nothing = nothing.iter().filter(|_| way.1 == Timing::Launch);
            rows.extend(nothing.map(|nothing| stage.timed(nothing, way.0, way.1)));
            let pythons = self.pythons.iter().filter(|_| way.1 != Timing::Graph);
            rows.extend(pythons.map(|python| self.python::<O>(*python, way)));
        }
        rows.push(self.call(op));
        sweep.group(&format!("{} of {} {}", O::NAME, self.n, T::NAME), rows)
    }

    fn bytes(&self) -> usize {
        self.n * size_of::<T>()
    }

    fn ways(&self) -> impl Iterator<Item = (Cache, Timing)> {
        let cached = self.sizes.bench.is_cached(self.bytes() as u64);
        let small = self.bytes() <= SMALL_BYTES;
        let ways = [
            (true, Cache::Cold, Timing::Device),
            (cached, Cache::Warm, Timing::Device),
            (small, Cache::Warm, Timing::Launch),
            (small, Cache::Warm, Timing::Graph),
        ];
        ways.into_iter()
            .filter(|(fits, ..)| *fits)
            .map(|(_, cache, timing)| (cache, timing))
    }

    fn row(&self, by: By, kernel: &str, op: &str) -> Row {
        Row {
            by,
            op: Some(op.into()),
            bytes: self.bytes() as u64,
            ..row(Suite::Whole, kernel, T::NAME, self.n)
        }
    }

    /// The library's default, as [`reduce_into`](warpfold::Device::reduce_into) launches it, of the first
    /// `n` elements.
    fn ours<O: Operator<T, Output = T>>(
        &self,
        op: O,
        kernel: &str,
        n: usize,
    ) -> Result<Subject<'_>> {
        let bench = self.sizes.bench;
        let view = self.input.view(..n)?;
        let cell = Rc::new(RefCell::new(bench.gpu.alloc::<O::Acc>(1)?));
        let scratch = RefCell::new(bench.gpu.scratch()?);
        let (spoiled, judged) = (Rc::clone(&cell), Rc::clone(&cell));
        Ok(Subject {
            row: self.row(By::Warpfold, kernel, O::NAME),
            spoil: Box::new(move || bench.stage.spoil(&spoiled.borrow())),
            enqueue: Box::new(move |_| {
                let (cell, scratch) = (&mut cell.borrow_mut(), &mut scratch.borrow_mut());
                Ok(bench.gpu.reduce_into(view, op, cell, 0, scratch)?)
            }),
            judge: Box::new(move || {
                let got = judged.borrow().download()?[0];
                Ok(data::judge(O::finish(got), self.expected))
            }),
        })
    }

    /// Another algorithm of the library's.
    fn by_algorithm<O: Operator<T, Output = T>>(
        &self,
        op: O,
        algorithm: Algorithm,
    ) -> Result<Subject<'_>> {
        let reduction = self.reduction(op)?.algorithm(algorithm);
        let row = self.row(By::Warpfold, algorithm.kernel_name(), O::NAME);
        self.planned(row, reduction)
    }

    /// The default in another grid.
    fn in_grid<O: Operator<T, Output = T>>(&self, op: O, grid: Grid) -> Result<Subject<'_>> {
        let Grid { threads, blocks } = grid;
        let reduction = self.reduction(op)?.threads(threads).blocks(blocks);
        let row = Row {
            variant: Some(grid.to_string()),
            ..self.row(By::Warpfold, "single_pass", O::NAME)
        };
        self.planned(row, reduction)
    }

    fn reduction<O: Operator<T, Output = T>>(&self, op: O) -> Result<Reduction<'_, T, O>> {
        let gpu = self.sizes.bench.gpu;
        Ok(gpu.reduce(self.input.view(..self.n)?, op))
    }

    fn planned<'s, O: Operator<T, Output = T>>(
        &'s self,
        row: Row,
        reduction: Reduction<'s, T, O>,
    ) -> Result<Subject<'s>> {
        let plan = reduction.plan().map_err(bad_option)?;
        let row = plan_row(row, &plan);
        Ok(planned(row, Rc::new(RefCell::new(plan)), self.expected))
    }

    /// What a launch takes at least.
    fn nothing<'s>(&'s self, nothing: &'s Nothing) -> Subject<'s> {
        let gpu = self.sizes.bench.gpu;
        Subject {
            row: Row {
                op: None,
                ..self.row(By::Ceiling, "empty_kernel", "")
            },
            spoil: Box::new(|| Ok(())),
            // SAFETY: the stream is live and its context current (`Subject::enqueue`).
            enqueue: Box::new(|stream| unsafe { nothing.enqueue(stream) }),
            judge: Box::new(|| {
                gpu.synchronize()?;
                Ok(Ok(()))
            }),
        }
    }

    fn ceiling(&self) -> Result<Subject<'_>> {
        let words = self.bytes().div_ceil(size_of::<i32>());
        let expected = Expected::exactly(i32::sum(&self.words_on_host[..words]));
        let row = self.row(By::Ceiling, "read_ceiling", "");
        ceiling(self.sizes.bench, row, self.words.view(..words)?, expected)
    }

    /// CUB's reduction by a policy.
    fn cub<O: Operator<T, Output = T>>(&self, policy: &str, cub: Cub) -> Result<Subject<'_>> {
        let bench = self.sizes.bench;
        let cell = Rc::new(bench.gpu.upload(&[self.expected.value])?);
        let temp_bytes = cub.temp_bytes(self.n)?;
        let temp = bench.gpu.alloc::<u8>(temp_bytes.max(1))?;
        let (spoiled, judged) = (Rc::clone(&cell), Rc::clone(&cell));
        Ok(Subject {
            row: Row {
                variant: Some(policy.into()),
                ..self.row(
                    By::Cub,
                    &format!("DeviceReduce::{}", cub_name(O::NAME)),
                    O::NAME,
                )
            },
            spoil: Box::new(move || bench.stage.spoil(&spoiled)),
            enqueue: Box::new(move |stream| {
                let (from, to) = (self.input.as_device_ptr(), cell.as_device_ptr());
                let room = (temp.as_device_ptr(), temp_bytes);
                // SAFETY: live device memory of the device whose stream this is and whose context is
                // current (`Subject::enqueue`): as many elements as `input` has at least, one, and as
                // much room as CUB has asked for. All of it lives as long as this closure or longer, and
                // what is enqueued is waited for before the closure goes (`Stage::time`).
                unsafe { cub.enqueue(from, self.n, to, room, stream) }
            }),
            judge: Box::new(move || Ok(data::judge(judged.download()?[0], self.expected))),
        })
    }

    /// PyTorch's or CuPy's reduction, as its users call it.
    fn python<'s, O: Operator<T, Output = T>>(
        &'s self,
        (by, python): Taken<'s>,
        (cache, timing): (Cache, Timing),
    ) -> Timed<'s> {
        let row = Row {
            cache,
            timing,
            ..self.row(by, O::NAME, O::NAME)
        };
        Timed::new(row, move || {
            let (cold, busy) = (cache == Cache::Cold, timing == Timing::Device);
            let answer = python.borrow_mut().time(O::NAME, self.n, cold, busy)?;
            let verdict = match T::parse(&answer.text) {
                Some(got) => data::judge(got, self.expected),
                None => Err((answer.text, format!("{:?}", self.expected.value))),
            };
            Ok(Run {
                us: answer.us,
                verdict,
            })
        })
    }

    /// The call that waits, by the host's clock.
    fn call<O: Operator<T, Output = T>>(&self, op: O) -> Timed<'_> {
        let row = Row {
            cache: Cache::Warm,
            timing: Timing::Call,
            ..self.row(By::Warpfold, "single_pass", O::NAME)
        };
        Timed::new(row, move || {
            // See `Stage::launch_time`.
            self.sizes
                .bench
                .gpu
                .reduce(self.input.view(..self.n)?, op)
                .run()?;
            let start = Instant::now();
            let got = self
                .sizes
                .bench
                .gpu
                .reduce(self.input.view(..self.n)?, op)
                .run()?;
            let us = start.elapsed().as_secs_f64() * 1e6;
            let verdict = data::judge(got, self.expected);
            Ok(Run { us, verdict })
        })
    }
}

/// CUB's name of an operator.
fn cub_name(op: &str) -> &'static str {
    match op {
        "sum" => "Sum",
        "min" => "Min",
        _ => "Max",
    }
}
