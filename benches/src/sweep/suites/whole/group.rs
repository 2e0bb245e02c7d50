//! The rows of whole reductions of one input.

use std::cell::RefCell;
use std::rc::Rc;

use anyhow::Result;
use warpfold::{Algorithm, Buffer, Plan, Reduction};
use warpfold_results::schema::{By, Cache, Row, Suite, Timing};

use super::peers::{self, Nothing};
use super::{Sizes, Taken};
use crate::options::bad_option;
use crate::peers::Cub;
use crate::rungs::Rungs;
use crate::sweep::data::{self, Expected, Number};
use crate::sweep::options::Grid;
use crate::sweep::rounds::{Run, Timed};
use crate::sweep::run::Sweep;
use crate::sweep::subject::Subject;
use crate::sweep::suites::planned::{called, plan_row, planned, reduced_into};
use crate::sweep::suites::{Bench, ceiling, cub_subject};

/// The input length at which `reduce_into` and a prepared plan are timed by the host's clock.
const BOTH_CALLS_N: usize = 1 << 20;

/// Reductions of one input by one operator.
pub struct Group<'a, T: Number> {
    pub sizes: &'a Sizes<'a>,
    pub input: &'a Buffer<T>,
    pub expected: Expected<T>,
    /// What the ceiling reads.
    pub words: &'a Buffer<i32>,
    pub words_on_host: &'a [i32],
    pub pythons: &'a [Taken<'a>],
    pub n: usize,
}

impl<T: Number> Group<'_, T> {
    /// Every row, in every way of timing that fits the size.
    pub fn time<O: Rungs<T, Output: Into<Option<T>>>>(
        &self,
        op: O,
        sweep: &mut Sweep,
    ) -> Result<()> {
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
            if let Ok(cub) = peers::cub(cubs, O::ENTRY.op, T::NAME) {
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
        for way in bench.ways(self.bytes()) {
            rows.extend(
                subjects
                    .iter()
                    .map(|subject| stage.timed(subject, way.0, way.1)),
            );
            if way.1 == Timing::Device {
                rows.push(stage.timed(&ceiling, way.0, way.1));
            }
            if let (Some(nothing), Timing::Launch | Timing::Stream) = (&nothing, way.1) {
                rows.push(stage.timed(nothing, way.0, way.1));
            }
            let pythons = self.pythons.iter().filter(|_| way.1 != Timing::Graph);
            rows.extend(pythons.map(|python| self.python::<O>(*python, way)));
        }
        rows.push(self.call(op));
        if self.n == BOTH_CALLS_N {
            rows.push(self.call_into(op)?);
            rows.push(self.call_of_plan(op)?);
        }
        sweep.group(&format!("{} of {} {}", O::ENTRY.op, self.n, T::NAME), rows)
    }

    fn bytes(&self) -> usize {
        self.n * size_of::<T>()
    }

    fn row(&self, by: By, kernel: &str, op: &str) -> Row {
        Row {
            by,
            op: Some(op.into()),
            bytes: self.bytes() as u64,
            ..Row::new(Suite::Whole, kernel, T::NAME, self.n)
        }
    }

    /// The library's default, as [`reduce_into`](warpfold::Device::reduce_into) launches it, of the first
    /// `n` elements.
    fn ours<O: Rungs<T, Output: Into<Option<T>>>>(
        &self,
        op: O,
        kernel: &str,
        n: usize,
    ) -> Result<Subject<'_>> {
        let Bench { gpu, stage, .. } = self.sizes.bench;
        let row = self.row(By::Warpfold, kernel, O::ENTRY.op);
        let judge = move |got| data::judge(op.finish(got), self.expected);
        reduced_into::<T, _>(row, (gpu, stage), self.input.view(..n)?, op, judge)
    }

    /// Another algorithm of the library's.
    fn by_algorithm<O: Rungs<T, Output: Into<Option<T>>>>(
        &self,
        op: O,
        algorithm: Algorithm,
    ) -> Result<Subject<'_>> {
        let plan = O::by(self.reduction(op)?, algorithm, None)?;
        let row = self.row(By::Warpfold, algorithm.kernel_name(), O::ENTRY.op);
        Ok(self.planned(row, plan))
    }

    /// The default in another grid.
    fn in_grid<O: Rungs<T, Output: Into<Option<T>>>>(
        &self,
        op: O,
        grid: Grid,
    ) -> Result<Subject<'_>> {
        let Grid { threads, blocks } = grid;
        let reduction = self.reduction(op)?.threads(threads).blocks(blocks);
        let row = Row {
            variant: Some(grid.to_string()),
            ..self.row(By::Warpfold, "single_pass", O::ENTRY.op)
        };
        Ok(self.planned(row, reduction.plan().map_err(bad_option)?))
    }

    fn reduction<O: Rungs<T, Output: Into<Option<T>>>>(
        &self,
        op: O,
    ) -> Result<Reduction<'_, T, O>> {
        let gpu = self.sizes.bench.gpu;
        Ok(gpu.reduce(self.input.view(..self.n)?, op))
    }

    fn planned<'s, R: Into<Option<T>> + 's>(&'s self, row: Row, plan: Plan<'s, R>) -> Subject<'s> {
        let row = plan_row(row, &plan);
        planned(row, Rc::new(RefCell::new(plan)), self.expected)
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
    fn cub<O: Rungs<T, Output: Into<Option<T>>>>(
        &self,
        policy: &str,
        cub: Cub,
    ) -> Result<Subject<'_>> {
        let kernel = format!("DeviceReduce::{}", cub_name(O::ENTRY.op));
        let row = Row {
            variant: Some(policy.into()),
            ..self.row(By::Cub, &kernel, O::ENTRY.op)
        };
        cub_subject(self.sizes.bench, row, cub, self.input, self.expected)
    }

    /// PyTorch's or CuPy's reduction, as its users call it.
    fn python<'s, O: Rungs<T, Output: Into<Option<T>>>>(
        &'s self,
        (by, python): Taken<'s>,
        (cache, timing): (Cache, Timing),
    ) -> Timed<'s> {
        let row = Row {
            cache,
            timing,
            ..self.row(by, O::ENTRY.op, O::ENTRY.op)
        };
        Timed::new(row, move || {
            let answer = python
                .borrow_mut()
                .time(O::ENTRY.op, self.n, cache, timing)?;
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

    /// The call that waits.
    fn call<O: Rungs<T, Output: Into<Option<T>>>>(&self, op: O) -> Timed<'_> {
        self.called::<O>(None, move || Ok(self.reduction(op)?.run()?))
    }

    /// [`reduce_into`](warpfold::Device::reduce_into) and a copy of the result.
    fn call_into<O: Rungs<T, Output: Into<Option<T>>>>(&self, op: O) -> Result<Timed<'_>> {
        let gpu = self.sizes.bench.gpu;
        let view = self.input.view(..self.n)?;
        let mut cell = gpu.alloc::<O::Acc>(1)?;
        let mut scratch = gpu.scratch()?;
        Ok(self.called::<O>(Some("reduce_into"), move || {
            gpu.reduce_into(view, op, &mut cell, 0, &mut scratch)?;
            Ok(op.finish(cell.download()?[0]))
        }))
    }

    /// A prepared plan and its result.
    fn call_of_plan<O: Rungs<T, Output: Into<Option<T>>>>(&self, op: O) -> Result<Timed<'_>> {
        let mut plan = self.reduction(op)?.plan().map_err(bad_option)?;
        Ok(self.called::<O>(Some("plan"), move || {
            plan.enqueue()?;
            Ok(plan.result()?)
        }))
    }

    fn called<'s, O: Rungs<T, Output: Into<Option<T>>>>(
        &'s self,
        variant: Option<&str>,
        call: impl FnMut() -> Result<O::Output> + 's,
    ) -> Timed<'s> {
        let row = Row {
            variant: variant.map(str::to_owned),
            ..self.row(By::Warpfold, "single_pass", O::ENTRY.op)
        };
        called(row, call, |got| data::judge(got, self.expected))
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
