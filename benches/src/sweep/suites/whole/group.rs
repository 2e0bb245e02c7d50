//! The rows of whole-array reductions of one input.

use std::cell::RefCell;
use std::mem::MaybeUninit;
use std::rc::Rc;

use anyhow::Result;
use kernels_gpu::element::Element;
use warpfold::{Op, Plan, Reduction, SinglePass};
use warpfold_results::schema::{By, Cache, Row, Suite, Timing};

use super::peers::{Cub, EmptyKernel, Launch, Policy};
use super::{LoadedPython, TypeRun};
use crate::options::bad_option;
use crate::sweep::answers::{Answer, Truth};
use crate::sweep::cases::{Case, OutputOf};
use crate::sweep::copies::Copies;
use crate::sweep::data::{Expected, Number};
use crate::sweep::options::Operation;
use crate::sweep::python::has;
use crate::sweep::rounds::{Run, Timed};
use crate::sweep::run::Sweep;
use crate::sweep::subject::Subject;
use crate::sweep::suites::planned::{call_row, plan_row, plan_subject, reduce_into_subject};
use crate::sweep::suites::{Bench, ceiling_subject};

/// The input length at which `reduce_into` and a prepared plan are timed by the host's clock.
const BOTH_CALLS_N: usize = 1 << 20;

/// The size of CUB's result, in words of 64 bits.
const RESULT_WORDS: usize = 2;

/// Reductions of one input by one operator.
pub struct Group<'a, T: Number> {
    pub type_run: &'a TypeRun<'a>,
    pub operation: Operation,
    pub a: &'a Copies<'a, T>,
    /// The second array of a dot product; for other operators the first.
    pub b: &'a Copies<'a, T>,
    /// The elements of `a`, on the host.
    pub values: &'a [T],
    pub truth: Truth<T>,
    /// The ceiling's input.
    pub words: &'a Copies<'a, i32>,
    /// The ceiling's input, on the host.
    pub words_on_host: &'a [i32],
    pub pythons: &'a [LoadedPython<'a>],
}

impl<T: Number> Group<'_, T> {
    /// Times every row, in every way of timing that applies to the size.
    pub fn time<C: Case<T>>(&self, sweep: &mut Sweep) -> Result<()> {
        let bench = self.type_run.bench;
        let mut subjects = vec![self.warpfold_subject::<C>("single_pass", self.n())?];
        if bench.options.wrong_kernel {
            subjects.push(self.warpfold_subject::<C>("wrong_kernel", self.n() - 1)?);
        }
        for &algorithm in &self.type_run.algorithms {
            let name = algorithm.kernel_name();
            let plan = |copy| C::plan(self.reduction::<C>(copy)?, algorithm);
            subjects.push(self.plan_subject::<C>(self.row::<C>(By::Warpfold, name), plan)?);
        }
        for &threads in &bench.options.block_threads {
            subjects.push(self.threads_subject::<C>(threads)?);
        }
        if let Some(peers) = self.type_run.cub {
            for &policy in Policy::of(self.operation) {
                let cub = Cub::of(peers, self.operation, policy)?;
                subjects.push(self.cub_subject::<C>(policy, cub)?);
            }
        }
        let subjects: Vec<_> = subjects.into_iter().map(Rc::new).collect();
        let ceiling = Rc::new(self.ceiling_subject::<C>()?);
        let empty_kernel = self
            .type_run
            .empty_kernel
            .map(|kernel| Rc::new(self.empty_kernel_subject::<C>(kernel)));

        let timer = &bench.timer;
        let mut rows = Vec::new();
        let mut pythons: Vec<_> = self.pythons.iter().map(|_| Vec::new()).collect();
        for (cache, timing) in bench.ways(self.bytes::<C>()) {
            if matches!(timing, Timing::Launch | Timing::Stream) && !self.type_run.with_host {
                continue;
            }
            let timed = |subject| timer.timed(subject, cache, timing);
            rows.extend(subjects.iter().map(timed));
            if timing == Timing::Device {
                rows.push(timed(&ceiling));
            }
            // The least time of a launch.
            let is_small = bench.is_small(self.bytes::<C>());
            rows.extend(empty_kernel.iter().filter(|_| is_small).map(timed));
            for (rows, python) in pythons.iter_mut().zip(self.pythons) {
                if timing != Timing::Graph && has(python.0, self.operation, T::NAME) {
                    rows.push(self.python_row::<C>(*python, (cache, timing)));
                }
            }
        }
        if self.type_run.with_host {
            rows.push(self.call_row::<C>());
        }
        if self.type_run.with_host && self.n() == BOTH_CALLS_N {
            rows.push(self.call_into_row::<C>()?);
            rows.push(self.plan_call_row::<C>()?);
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

    /// [`reduce_into`](warpfold::Device::reduce_into) of the first `n` elements of each copy.
    fn warpfold_subject<C: Case<T>>(&self, kernel: &str, n: usize) -> Result<Subject<'_>> {
        let Bench { gpu, timer, .. } = self.type_run.bench;
        let input = |copy| {
            let (a, b) = (self.a.view(copy)?, self.b.view(copy)?);
            Ok(C::input(a.view(..n)?, b.view(..n)?))
        };
        let inputs: Result<Vec<_>> = (0..self.a.count()).map(input).collect();
        let row = self.row::<C>(By::Warpfold, kernel);
        let check = |got| self.truth.check(C::answer(C::OP.finish(got)));
        reduce_into_subject::<C::Items, _>(row, (gpu, timer), inputs?, C::OP, check)
    }

    /// The default algorithm with other threads per block.
    fn threads_subject<C: Case<T>>(&self, threads: u32) -> Result<Subject<'_>> {
        let row = Row {
            variant: Some(format!("{threads} threads")),
            ..self.row::<C>(By::Warpfold, "single_pass")
        };
        self.plan_subject::<C>(row, |copy| {
            let reduction = self.reduction::<C>(copy)?.threads(threads);
            reduction.plan().map_err(bad_option)
        })
    }

    fn reduction<C: Case<T>>(&self, copy: usize) -> Result<Reduction<'_, C::Items, C::Op>> {
        let input = C::input(self.a.view(copy)?, self.b.view(copy)?);
        Ok(self.type_run.bench.gpu.reduce(input, C::OP))
    }

    /// A plan for each copy.
    fn plan_subject<'s, C: Case<T>>(
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
        Ok(plan_subject(row, plans.collect(), check))
    }

    /// The least time of a launch.
    fn empty_kernel_subject<'s, C: Case<T>>(&'s self, kernel: &'s EmptyKernel) -> Subject<'s> {
        let gpu = self.type_run.bench.gpu;
        Subject {
            row: Row {
                op: None,
                ..self.row::<C>(By::Ceiling, "empty_kernel")
            },
            copies: self.a.count(),
            overwrite: Box::new(|| Ok(())),
            // SAFETY: the stream is live and its context current (`Subject::enqueue`).
            enqueue: Box::new(|_, stream| unsafe { kernel.enqueue(stream) }),
            check: Box::new(|_| {
                gpu.synchronize()?;
                Ok(Ok(()))
            }),
        }
    }

    fn ceiling_subject<C: Case<T>>(&self) -> Result<Subject<'_>> {
        let words = self.bytes::<C>().div_ceil(size_of::<i32>());
        let expected = Expected::exactly(i32::sum(&self.words_on_host[..words]));
        let row = self.row::<C>(By::Ceiling, "read_ceiling");
        ceiling_subject(self.type_run.bench, row, self.words.views(words)?, expected)
    }

    /// CUB's reduction with a policy; its temporary storage is allocated once.
    fn cub_subject<C: Case<T>>(&self, policy: Policy, cub: Cub) -> Result<Subject<'_>> {
        let Bench { gpu, timer, .. } = self.type_run.bench;
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
        let (overwritten, outputs) = (Rc::clone(&cells), Rc::clone(&cells));
        Ok(Subject {
            row,
            copies,
            overwrite: Box::new(move || timer.overwrite(&overwritten)),
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
                // SAFETY: the stream is this device's and its context is current (`Subject::enqueue`). All
                // addresses are of live memory of this device: `n` elements in each copy of both arrays, 16
                // bytes for the result of each copy (allocations are aligned to 256 bytes), and the temporary
                // storage that CUB requires. It lives at least as long as this closure, which is dropped only
                // after a wait for all enqueued work (`Timer::time`, `Events`).
                unsafe { cub.enqueue(on) }
            }),
            check: Box::new(move |copies| {
                let words = outputs.view(..RESULT_WORDS * copies)?.download()?;
                let (results, _) = words.as_chunks::<RESULT_WORDS>();
                let mut verdicts = results
                    .iter()
                    .map(|words| self.truth.check(Some(self.cub_answer(*words, shift))));
                Ok(verdicts.find(Result::is_err).unwrap_or(Ok(())))
            }),
        })
    }

    /// The answer in CUB's result.
    fn cub_answer(&self, words: [u64; RESULT_WORDS], shift: f64) -> Answer<T> {
        let [first, second] = words.map(f64::from_bits);
        match (self.operation, self.truth.answer) {
            (Operation::Sum, _) => Answer::Element(T::wrap(value_in(&words))),
            (Operation::ArgMin | Operation::ArgMax, _) => Answer::At(value_in(&words), words[1]),
            (Operation::Dot, Answer::Float(_)) => Answer::Float(first),
            (Operation::Dot, _) if T::IS_SIGNED => Answer::Integer((words[0] as i64).into()),
            (Operation::Dot, _) => Answer::Integer(words[0].into()),
            (Operation::MeanVariance, _) => {
                let count = self.n() as f64;
                let shifted_mean = first / count;
                let variance = second / count - shifted_mean * shifted_mean;
                Answer::Moments(count, shift + shifted_mean, variance)
            }
            (Operation::Min | Operation::Max, _) => Answer::Element(value_in(&words)),
        }
    }

    /// PyTorch's or CuPy's reduction.
    fn python_row<'s, C: Case<T>>(
        &'s self,
        (by, python): LoadedPython<'s>,
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

    /// The library's call that waits.
    fn call_row<C: Case<T>>(&self) -> Timed<'_> {
        self.variant_row::<C>(None, move || Ok(self.reduction::<C>(0)?.run()?))
    }

    /// [`reduce_into`](warpfold::Device::reduce_into) and a copy of the result.
    fn call_into_row<C: Case<T>>(&self) -> Result<Timed<'_>> {
        let gpu = self.type_run.bench.gpu;
        let input = C::input(self.a.view(0)?, self.b.view(0)?);
        let mut cell = gpu.alloc::<<C::Op as Op<C::Items>>::Acc>(1)?;
        let mut scratch = gpu.scratch()?;
        Ok(self.variant_row::<C>(Some("reduce_into"), move || {
            gpu.reduce_into::<C::Items, _>(input, C::OP, &mut cell, 0, &mut scratch)?;
            Ok(C::OP.finish(cell.download()?[0]))
        }))
    }

    /// A prepared plan and a copy of the result.
    fn plan_call_row<C: Case<T>>(&self) -> Result<Timed<'_>> {
        let mut plan = self.reduction::<C>(0)?.plan().map_err(bad_option)?;
        Ok(self.variant_row::<C>(Some("plan"), move || {
            plan.enqueue()?;
            Ok(plan.result()?)
        }))
    }

    fn variant_row<'s, C: Case<T>>(
        &'s self,
        variant: Option<&str>,
        call: impl FnMut() -> Result<OutputOf<T, C>> + 's,
    ) -> Timed<'s> {
        let row = Row {
            variant: variant.map(str::to_owned),
            ..self.row::<C>(By::Warpfold, "single_pass")
        };
        call_row(row, call, |got| self.truth.check(C::answer(got)))
    }
}

/// The operator's name in entries.
fn op_name<T: Number, C: Case<T>>() -> &'static str {
    <C::Op as SinglePass<C::Items>>::ENTRY.op
}

/// The value at the beginning of a result.
fn value_in<E: Element>(words: &[u64; RESULT_WORDS]) -> E {
    const { assert!(size_of::<E>() <= size_of::<u64>()) };
    let mut value = MaybeUninit::<E>::uninit();
    // SAFETY: the result has at least as many bytes as the value (asserted above), and the two do not
    // overlap. An element is plain data, for which all bit patterns are valid (`Plain`).
    unsafe {
        let (from, to) = (words.as_ptr().cast::<u8>(), value.as_mut_ptr().cast::<u8>());
        to.copy_from_nonoverlapping(from, size_of::<E>());
        value.assume_init()
    }
}
