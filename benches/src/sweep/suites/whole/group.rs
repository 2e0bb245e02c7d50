//! The rows of whole-array reductions of one input.

use std::cell::RefCell;
use std::mem::MaybeUninit;
use std::rc::Rc;

use anyhow::Result;
use kernels_gpu::element::Element;
use warpfold::{Op, Plan, Reduction, SinglePass};
use warpfold_results::schema::{By, Cache, Row, Suite, Timing};

use super::peers::{Cub, Launch, Nothing, Policy};
use super::{Sizes, Taken};
use crate::options::bad_option;
use crate::sweep::answers::{Answer, Truth};
use crate::sweep::cases::{Case, OutputOf};
use crate::sweep::copies::Copies;
use crate::sweep::data::{Expected, Number};
use crate::sweep::options::{Grid, Operation};
use crate::sweep::python::has;
use crate::sweep::rounds::{Run, Timed};
use crate::sweep::run::Sweep;
use crate::sweep::subject::Subject;
use crate::sweep::suites::planned::{called, plan_row, planned, reduced_into};
use crate::sweep::suites::{Bench, ceiling};

/// The input length at which `reduce_into` and a prepared plan are timed by the host's clock.
const BOTH_CALLS_N: usize = 1 << 20;

/// Words of 64 bits that CUB writes its result into.
const RESULT_WORDS: usize = 2;

/// Reductions of one input by one operator.
pub struct Group<'a, T: Number> {
    pub sizes: &'a Sizes<'a>,
    pub operation: Operation,
    pub a: &'a Copies<'a, T>,
    /// The second array of products; of others the first.
    pub b: &'a Copies<'a, T>,
    /// On the host.
    pub values: &'a [T],
    pub truth: Truth<T>,
    /// What the ceiling reads.
    pub words: &'a Copies<'a, i32>,
    /// The same on the host.
    pub words_on_host: &'a [i32],
    pub pythons: &'a [Taken<'a>],
}

impl<T: Number> Group<'_, T> {
    /// Every row, in every way of timing that fits the size.
    pub fn time<C: Case<T>>(&self, sweep: &mut Sweep) -> Result<()> {
        let bench = self.sizes.bench;
        let mut subjects = vec![self.ours::<C>("single_pass", self.n())?];
        if bench.options.wrong_kernel {
            subjects.push(self.ours::<C>("wrong_kernel", self.n() - 1)?);
        }
        for &algorithm in &self.sizes.algorithms {
            let name = algorithm.kernel_name();
            let plan = |copy| C::by(self.reduction::<C>(copy)?, algorithm);
            subjects.push(self.planned::<C>(self.row::<C>(By::Warpfold, name), plan)?);
        }
        for &grid in &bench.options.grids {
            subjects.push(self.in_grid::<C>(grid)?);
        }
        if let Some(peers) = self.sizes.cub {
            for &policy in Policy::of(self.operation) {
                let cub = Cub::of(peers, self.operation, policy)?;
                subjects.push(self.cub::<C>(policy, cub)?);
            }
        }
        let subjects: Vec<_> = subjects.into_iter().map(Rc::new).collect();
        let ceiling = Rc::new(self.ceiling::<C>()?);
        let nothing = self
            .sizes
            .nothing
            .map(|nothing| Rc::new(self.nothing::<C>(nothing)));

        let stage = &bench.stage;
        let mut rows = Vec::new();
        let mut pythons: Vec<_> = self.pythons.iter().map(|_| Vec::new()).collect();
        for (cache, timing) in bench.ways(self.bytes::<C>()) {
            if matches!(timing, Timing::Launch | Timing::Stream) && !self.sizes.with_host {
                continue;
            }
            let timed = |subject| stage.timed(subject, cache, timing);
            rows.extend(subjects.iter().map(timed));
            if timing == Timing::Device {
                rows.push(timed(&ceiling));
            }
            // What a launch takes at least.
            let is_small = bench.is_small(self.bytes::<C>());
            rows.extend(nothing.iter().filter(|_| is_small).map(timed));
            for (rows, python) in pythons.iter_mut().zip(self.pythons) {
                if timing != Timing::Graph && has(python.0, self.operation, T::NAME) {
                    rows.push(self.python::<C>(*python, (cache, timing)));
                }
            }
        }
        if self.sizes.with_host {
            rows.push(self.call::<C>());
        }
        if self.sizes.with_host && self.n() == BOTH_CALLS_N {
            rows.push(self.call_into::<C>()?);
            rows.push(self.call_of_plan::<C>()?);
        }
        let what = format!("{} of {} {}", op_name::<T, C>(), self.n(), T::NAME);
        let processes = std::iter::once(rows).chain(pythons);
        sweep.groups(&what, processes.collect())
    }

    fn n(&self) -> usize {
        self.values.len()
    }

    fn bytes<C: Case<T>>(&self) -> usize {
        self.n() * size_of::<T>() * self.operation.arrays()
    }

    fn row<C: Case<T>>(&self, by: By, kernel: &str) -> Row {
        Row {
            by,
            op: Some(op_name::<T, C>().into()),
            bytes: self.bytes::<C>() as u64,
            ..Row::new(Suite::Whole, kernel, T::NAME, self.n())
        }
    }

    /// The library's default, as [`reduce_into`](warpfold::Device::reduce_into) launches it, of the first
    /// `n` elements.
    fn ours<C: Case<T>>(&self, kernel: &str, n: usize) -> Result<Subject<'_>> {
        let Bench { gpu, stage, .. } = self.sizes.bench;
        let input = |copy| {
            let (a, b) = (self.a.view(copy)?, self.b.view(copy)?);
            Ok(C::input(a.view(..n)?, b.view(..n)?))
        };
        let inputs: Result<Vec<_>> = (0..self.a.count()).map(input).collect();
        let row = self.row::<C>(By::Warpfold, kernel);
        let check = |got| self.truth.check(C::answer(C::BY.finish(got)));
        reduced_into::<C::Items, _>(row, (gpu, stage), inputs?, C::BY, check)
    }

    /// The default in another grid.
    fn in_grid<C: Case<T>>(&self, grid: Grid) -> Result<Subject<'_>> {
        let Grid { threads, blocks } = grid;
        let row = Row {
            variant: Some(grid.to_string()),
            ..self.row::<C>(By::Warpfold, "single_pass")
        };
        self.planned::<C>(row, |copy| {
            let reduction = self.reduction::<C>(copy)?.threads(threads).blocks(blocks);
            reduction.plan().map_err(bad_option)
        })
    }

    fn reduction<C: Case<T>>(&self, copy: usize) -> Result<Reduction<'_, C::Items, C::By>> {
        let input = C::input(self.a.view(copy)?, self.b.view(copy)?);
        Ok(self.sizes.bench.gpu.reduce(input, C::BY))
    }

    /// A plan over each copy.
    fn planned<'s, C: Case<T>>(
        &'s self,
        row: Row,
        plan: impl Fn(usize) -> Result<Plan<'s, OutputOf<T, C>>>,
    ) -> Result<Subject<'s>> {
        let plans: Result<Vec<_>> = (0..self.a.count()).map(plan).collect();
        let plans = plans?;
        let row = plans
            .first()
            .map_or(row.clone(), |plan| plan_row(row, plan));
        let plans = plans.into_iter().map(|plan| Rc::new(RefCell::new(plan)));
        let check = |got| self.truth.check(C::answer(got));
        Ok(planned(row, plans.collect(), check))
    }

    /// What a launch takes at least.
    fn nothing<'s, C: Case<T>>(&'s self, nothing: &'s Nothing) -> Subject<'s> {
        let gpu = self.sizes.bench.gpu;
        Subject {
            row: Row {
                op: None,
                ..self.row::<C>(By::Ceiling, "empty_kernel")
            },
            copies: self.a.count(),
            spoil: Box::new(|| Ok(())),
            // SAFETY: the stream is live and its context current (`Subject::enqueue`).
            enqueue: Box::new(|_, stream| unsafe { nothing.enqueue(stream) }),
            check: Box::new(|_| {
                gpu.synchronize()?;
                Ok(Ok(()))
            }),
        }
    }

    fn ceiling<C: Case<T>>(&self) -> Result<Subject<'_>> {
        let words = self.bytes::<C>().div_ceil(size_of::<i32>());
        let expected = Expected::exactly(i32::sum(&self.words_on_host[..words]));
        let row = self.row::<C>(By::Ceiling, "read_ceiling");
        ceiling(self.sizes.bench, row, self.words.views(words)?, expected)
    }

    /// CUB's reduction by a policy, with temporary storage that is allocated once.
    fn cub<C: Case<T>>(&self, policy: Policy, cub: Cub) -> Result<Subject<'_>> {
        let Bench { gpu, stage, .. } = self.sizes.bench;
        let (n, copies) = (self.n(), self.a.count());
        let is_narrow = size_of::<T>() < size_of::<T::Acc>();
        let row = Row {
            variant: Some(policy.name().into()),
            ..self.row::<C>(By::Cub, cub.name(is_narrow))
        };
        let shift = self.values.first().map_or(0.0, |value| value.to_f64());
        let cells = Rc::new(gpu.alloc::<u64>(RESULT_WORDS * copies)?);
        let temp_bytes = cub.temp_bytes(n)?;
        let temp = gpu.alloc::<u8>(temp_bytes.max(1))?;
        let (spoiled, outputs) = (Rc::clone(&cells), Rc::clone(&cells));
        Ok(Subject {
            row,
            copies,
            spoil: Box::new(move || stage.spoil(&spoiled)),
            enqueue: Box::new(move |copy, stream| {
                let offset = copy * RESULT_WORDS * size_of::<u64>();
                let on = Launch {
                    a: self.a.address(copy),
                    b: self.b.address(copy),
                    n,
                    shift,
                    result: cells.as_device_ptr() + offset as u64,
                    temp: (temp.as_device_ptr(), temp_bytes),
                    stream,
                };
                // SAFETY: live device memory of the device whose stream this is and whose context is current
                // (`Subject::enqueue`): `n` elements in each copy of both arrays, 16 bytes of each copy's own (allocations
                // begin at multiples of 256), and as much temporary storage as CUB has asked for. All of it lives as
                // long as this closure or longer, and what is enqueued is waited for before the closure goes
                // (`Stage::time`, `Events`).
                unsafe { cub.enqueue(on) }
            }),
            check: Box::new(move |copies| {
                let words = outputs.view(..RESULT_WORDS * copies)?.download()?;
                let (results, _) = words.as_chunks::<RESULT_WORDS>();
                let mut verdicts = results
                    .iter()
                    .map(|words| self.truth.check(Some(self.of_cub(*words, shift))));
                Ok(verdicts.find(Result::is_err).unwrap_or(Ok(())))
            }),
        })
    }

    /// What CUB has written.
    fn of_cub(&self, words: [u64; RESULT_WORDS], shift: f64) -> Answer<T> {
        let [first, second] = words.map(f64::from_bits);
        match (self.operation, self.truth.answer) {
            (Operation::Sum, _) => Answer::Element(T::wrap(value_in(&words))),
            (Operation::ArgMin | Operation::ArgMax, _) => Answer::At(value_in(&words), words[1]),
            (Operation::Dot, Answer::Float(_)) => Answer::Float(first),
            // Of signed elements it is signed.
            (Operation::Dot, _) if T::IS_SIGNED => Answer::Integer((words[0] as i64).into()),
            (Operation::Dot, _) => Answer::Integer(words[0].into()),
            (Operation::MeanVariance, _) => {
                let count = self.n() as f64;
                let of_shifted = first / count;
                let variance = second / count - of_shifted * of_shifted;
                Answer::Moments(count, shift + of_shifted, variance)
            }
            (Operation::Min | Operation::Max, _) => Answer::Element(value_in(&words)),
        }
    }

    /// PyTorch's or CuPy's reduction, as its users call it.
    fn python<'s, C: Case<T>>(
        &'s self,
        (by, python): Taken<'s>,
        (cache, timing): (Cache, Timing),
    ) -> Timed<'s> {
        let op = op_name::<T, C>();
        let row = Row {
            cache,
            timing,
            ..self.row::<C>(by, op)
        };
        Timed::new(row, move || {
            let mut python = python.borrow_mut();
            let answer = python.time(op, self.n(), (cache, timing), self.a.count())?;
            let texts = answer.texts.iter();
            let mut verdicts = texts.map(|text| self.truth.check_text(text, self.values));
            Ok(Run {
                us: answer.us,
                verdict: verdicts.find(Result::is_err).unwrap_or(Ok(())),
            })
        })
    }

    /// The call that waits.
    fn call<C: Case<T>>(&self) -> Timed<'_> {
        self.called::<C>(None, move || Ok(self.reduction::<C>(0)?.run()?))
    }

    /// [`reduce_into`](warpfold::Device::reduce_into) and a copy of the result.
    fn call_into<C: Case<T>>(&self) -> Result<Timed<'_>> {
        let gpu = self.sizes.bench.gpu;
        let input = C::input(self.a.view(0)?, self.b.view(0)?);
        let mut cell = gpu.alloc::<<C::By as Op<C::Items>>::Acc>(1)?;
        let mut scratch = gpu.scratch()?;
        Ok(self.called::<C>(Some("reduce_into"), move || {
            gpu.reduce_into::<C::Items, _>(input, C::BY, &mut cell, 0, &mut scratch)?;
            Ok(C::BY.finish(cell.download()?[0]))
        }))
    }

    /// A prepared plan and its result.
    fn call_of_plan<C: Case<T>>(&self) -> Result<Timed<'_>> {
        let mut plan = self.reduction::<C>(0)?.plan().map_err(bad_option)?;
        Ok(self.called::<C>(Some("plan"), move || {
            plan.enqueue()?;
            Ok(plan.result()?)
        }))
    }

    fn called<'s, C: Case<T>>(
        &'s self,
        variant: Option<&str>,
        call: impl FnMut() -> Result<OutputOf<T, C>> + 's,
    ) -> Timed<'s> {
        let row = Row {
            variant: variant.map(str::to_owned),
            ..self.row::<C>(By::Warpfold, "single_pass")
        };
        called(row, call, |got| self.truth.check(C::answer(got)))
    }
}

/// As entries have it.
fn op_name<T: Number, C: Case<T>>() -> &'static str {
    <C::By as SinglePass<C::Items>>::ENTRY.op
}

/// The value that a result begins with.
fn value_in<E: Element>(words: &[u64; RESULT_WORDS]) -> E {
    const { assert!(size_of::<E>() <= size_of::<u64>()) };
    let mut value = MaybeUninit::<E>::uninit();
    // SAFETY: as many bytes as the value has, which the result has too (above), between places that do not overlap.
    // An element is plain data, of which all bits are a value (`Plain`).
    unsafe {
        let (from, to) = (words.as_ptr().cast::<u8>(), value.as_mut_ptr().cast::<u8>());
        to.copy_from_nonoverlapping(from, size_of::<E>());
        value.assume_init()
    }
}
