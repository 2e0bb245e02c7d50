//! The rows of one operator over one input.

use std::rc::Rc;

use anyhow::Result;
use warpfold::{Device, Items, Op, SinglePass};
use warpfold_results::schema::{By, Row, Suite, Timing};

use super::Operators;
use super::arrays::{Arrays, BuffersOf, ItemsOf};
use super::cases::{Case, OutputOf};
use super::peers::{Functor, Launch};
use crate::sweep::copies::Copies;
use crate::sweep::data::{Expected, Number};
use crate::sweep::rounds::{Timed, Verdict};
use crate::sweep::run::Sweep;
use crate::sweep::subject::{Subject, Timer};
use crate::sweep::suites::ceiling_subject;
use crate::sweep::suites::planned::{call_row, reduce_into_subject};

/// Reductions of one input by one operator.
pub struct Group<'a, C: Case> {
    pub suite: &'a Operators<'a>,
    /// The arrays, once for each launch of a batch.
    pub copies: Vec<&'a BuffersOf<C>>,
    pub expected: C::Acc,
    /// The ceiling's input.
    pub words: Copies<'a, i32>,
    pub n: usize,
}

impl<C: Case> Group<'_, C> {
    /// Times every row, in every way of timing that applies to the size.
    pub fn time(&self, sweep: &mut Sweep) -> Result<()> {
        let bench = self.suite.bench;
        let timer = &bench.timer;
        let mut subjects = vec![warpfold_subject::<C>(
            self.suite.gpu,
            timer,
            &self.copies,
            self.n,
            self.expected,
        )?];
        if let (Some(functors), Some(kernel)) = (self.suite.functors, C::CUB) {
            let name = cub_name::<C>();
            subjects.push(self.cub_subject(Functor::of(functors, &name)?, kernel, "default")?);
            if C::HAS_ALIGNED {
                let aligned = Functor::of(functors, &format!("{name}_aligned"))?;
                subjects.push(self.cub_subject(aligned, kernel, "aligned")?);
            }
        }
        let subjects: Vec<_> = subjects.into_iter().map(Rc::new).collect();
        let ceiling = Rc::new(self.ceiling_subject()?);
        let mut rows = Vec::new();
        for (cache, timing) in bench.ways(bytes::<C>(self.n)) {
            let timed = subjects
                .iter()
                .map(|subject| timer.timed(subject, cache, timing));
            rows.extend(timed);
            if timing == Timing::Device {
                rows.push(timer.timed(&ceiling, cache, timing));
            }
        }
        rows.push(self.call_row()?);
        let entry = entry_of::<C>();
        sweep.group(&format!("{} of {} {}", entry.op, self.n, entry.items), rows)
    }

    /// CUB with a functor; its temporary storage is allocated once.
    fn cub_subject(&self, functor: Functor, kernel: &str, variant: &str) -> Result<Subject<'_>> {
        let timer = &self.suite.bench.timer;
        let temp_bytes = functor.temp_bytes(self.n)?;
        let temp = self.suite.gpu.alloc::<u8>(temp_bytes.max(1))?;
        let cells = Rc::new(self.suite.gpu.alloc::<C::Acc>(self.copies.len())?);
        let (overwritten, outputs) = (Rc::clone(&cells), Rc::clone(&cells));
        Ok(Subject {
            row: Row {
                variant: Some(variant.into()),
                ..row_of::<C>(By::Cub, kernel, self.n)
            },
            copies: self.copies.len(),
            overwrite: Box::new(move || timer.overwrite(&overwritten)),
            enqueue: Box::new(move |copy, stream| {
                let on = Launch {
                    arrays: C::Arrays::addresses(self.copies[copy]),
                    n: self.n,
                    parameter: C::PARAMETER,
                    result: cells.as_device_ptr() + (copy * size_of::<C::Acc>()) as u64,
                    temp: (temp.as_device_ptr(), temp_bytes),
                    stream,
                };
                // SAFETY: the stream is this device's and its context is current (`Subject::enqueue`). All
                // addresses are of live memory of this device: arrays of at least `n` elements, an
                // accumulator for each copy of them, and the temporary storage that CUB requires; allocations
                // are aligned to 256 bytes. It lives at least as long as this closure, which is dropped only
                // after a wait for all enqueued work (`Timer::time`, `Events::around`).
                unsafe { functor.enqueue(on) }
            }),
            check: Box::new(move |copies| {
                let got = outputs.view(..copies)?.download()?.into_iter();
                let mut verdicts =
                    got.map(|got| check::<C>(By::Cub, C::OP.finish(got), self.expected));
                Ok(verdicts.find(Result::is_err).unwrap_or(Ok(())))
            }),
        })
    }

    /// The fastest read of the same number of bytes.
    fn ceiling_subject(&self) -> Result<Subject<'_>> {
        let words = bytes::<C>(self.n).div_ceil(size_of::<i32>());
        let expected = Expected::exactly(i32::sum(&self.suite.words_on_host[..words]));
        let row = row_of::<C>(By::Ceiling, "read_ceiling", self.n);
        ceiling_subject(self.suite.bench, row, self.words.views(words)?, expected)
    }

    /// The library's call that waits.
    fn call_row(&self) -> Result<Timed<'_>> {
        let row = row_of::<C>(By::Warpfold, "single_pass", self.n);
        let view = C::Arrays::view(self.copies[0], self.n)?;
        let call = move || Ok(self.suite.gpu.reduce::<ItemsOf<C>, _>(view, C::OP).run()?);
        let check = |got| check::<C>(By::Warpfold, got, self.expected);
        Ok(call_row(row, call, check))
    }
}

/// [`reduce_into`](warpfold::Device::reduce_into) of the first `n` items of each copy.
pub fn warpfold_subject<'a, C: Case>(
    gpu: &'a Device,
    timer: &'a Timer<'a>,
    copies: &[&'a BuffersOf<C>],
    n: usize,
    expected: C::Acc,
) -> Result<Subject<'a>> {
    let row = row_of::<C>(By::Warpfold, "single_pass", n);
    let views = copies.iter().map(|buffers| C::Arrays::view(buffers, n));
    let check = move |got| check::<C>(By::Warpfold, C::OP.finish(got), expected);
    reduce_into_subject::<ItemsOf<C>, _>(
        row,
        (gpu, timer),
        views.collect::<Result<_>>()?,
        C::OP,
        check,
    )
}

/// The name of the peer's function.
pub fn cub_name<C: Case>() -> String {
    let entry = entry_of::<C>();
    format!("cub_{}_{}", entry.op, entry.items)
}

fn entry_of<C: Case>() -> &'static kernels_gpu::entry::Entry {
    <C::Op as SinglePass<ItemsOf<C>>>::ENTRY
}

fn bytes<C: Case>(n: usize) -> usize {
    n * <ItemsOf<C> as Items>::BYTES
}

fn row_of<C: Case>(by: By, kernel: &str, n: usize) -> Row {
    let entry = entry_of::<C>();
    Row {
        by,
        op: Some(entry.op.into()),
        bytes: bytes::<C>(n) as u64,
        ..Row::new(Suite::Operators, kernel, entry.items, n)
    }
}

/// Compares a result with that of the expected accumulator.
fn check<C: Case>(by: By, got: OutputOf<C>, expected: C::Acc) -> Verdict {
    let expected = C::OP.finish(expected);
    match C::accepts(by, &got, &expected) {
        true => Ok(()),
        false => Err((format!("{got:?}"), format!("{expected:?}"))),
    }
}
