//! Work to time on a CUDA device, and the ways of timing it.
//!
//! # The device's own time
//!
//! An event has a resolution of 32 ns on an H200, and costs about 2 us. If a reduction has two kernels, the
//! gap between them is 0.9 us longer in every second launch, so that single launches have two different
//! times. A sample is therefore a batch: the time between two events around several launches, divided by
//! their number ([`launches`](super::copies::launches)). Of several launches, half have the longer gap.
//!
//! 1. The results are overwritten.
//! 2. Reads of other memory flush the caches. Meanwhile the host enqueues the batch, so that no launch waits
//!    for the host. If the device reaches the batch too early, the next sample flushes twice as often.
//! 3. For warm caches, one launch that is not timed reads the input.
//! 4. Between the events: with cold caches, each launch reads its own copy, which nothing has read since the
//!    flush, and writes its own result; with warm caches, all launches read the same copy.
//! 5. The results are checked.
//!
//! # With the host
//!
//! Launches on an idle stream, and calls that follow one another on a stream, are timed by events around
//! each; a sample is their median. Most of this time is the host's. It changes by more than a tenth if other
//! processes run in between; therefore each process has its own rounds
//! ([`Sweep::groups`](super::run::Sweep::groups)).
//!
//! Evidence: records/h200/2026-11-22/bench, in which samples of single launches alternate, and
//! records/h200/2026-11-23/whole, in which no other process ran.

use std::cell::RefCell;
use std::ffi::c_void;
use std::rc::Rc;

use anyhow::{Context, Result};
use warpfold::{Buffer, Device, Element};
use warpfold_results::schema::{Cache, Row, Suite, Timing};
use warpfold_results::statistics;

use super::events::Events;
use super::graph::Graph;
use super::rounds::{Run, Timed, Verdict};
use crate::driver::checked;

/// Reductions in a graph: enough to hide the graph's launch.
const IN_GRAPH: usize = 32;

/// Calls that follow one another: only the first ones find an idle stream.
const IN_STREAM: usize = 32;

/// Launches on an idle stream. The first ones are slower: other data are in the host's caches, and the device
/// needs about 100 us to switch from another process.
const IDLE_LAUNCHES: usize = 9;

/// The maximum number of flushes before a batch: as long as the slowest peer takes to enqueue one.
const MAX_FLUSHES: usize = 16;

/// The number of calls in a sample; `launches` for a batch.
pub const fn calls(timing: Timing, launches: usize) -> usize {
    match timing {
        Timing::Launch => IDLE_LAUNCHES,
        Timing::Stream => IN_STREAM,
        _ => launches,
    }
}

/// The byte that overwrites results; no right answer consists of it.
pub const POISON: u8 = 0xA5;

/// Work to time.
pub struct Subject<'a> {
    /// The row, without the way of timing.
    pub row: Row,
    /// The number of copies of the input, each with its own result: one for each launch of a batch.
    pub copies: usize,
    /// Enqueues an overwrite of all results, so that a launch that does nothing is detected.
    pub overwrite: Box<dyn Fn() -> Result<()> + 'a>,
    /// Enqueues the work on one copy without allocation. The stream is the device's, its context current.
    pub enqueue: Box<dyn Fn(usize, *mut c_void) -> Result<()> + 'a>,
    /// Waits, and checks the results of the first copies, given their number.
    pub check: Box<dyn Fn(usize) -> Result<Verdict> + 'a>,
}

/// A device with the flush and the events for timing on it.
pub struct Timer<'a> {
    pub gpu: &'a Device,
    /// Reads more memory than the L2 cache holds. No writes: their write-back would slow down the next run.
    flush: Box<dyn Fn() -> Result<()> + 'a>,
    events: Events<'a>,
}

impl<'a> Timer<'a> {
    /// `flush_buffer` must be larger than the L2 cache.
    pub fn new(gpu: &'a Device, flush_buffer: &'a Buffer<i32>) -> Result<Self> {
        let plan = RefCell::new(gpu.read_ceiling(flush_buffer)?);
        let flush = Box::new(move || Ok(plan.borrow_mut().enqueue()?));
        let events = Events::new(gpu, IN_STREAM)?;
        Ok(Self { gpu, flush, events })
    }

    /// A row that times the subject this way.
    pub fn timed<'s>(
        &'s self,
        subject: &Rc<Subject<'s>>,
        cache: Cache,
        timing: Timing,
    ) -> Timed<'s> {
        let row = Row {
            cache,
            timing,
            ..subject.row.clone()
        };
        let subject = Rc::clone(subject);
        let mut graph = None;
        let mut flushes = 1;
        Timed::new(row, move || {
            (subject.overwrite)()?;
            let us = match timing {
                Timing::Device => self.device_time(&subject, cache, &mut flushes)?,
                Timing::Launch => self.launch_time(&subject)?,
                Timing::Stream => self.stream_time(&subject)?,
                _ => self.graph_time(&subject, &mut graph)?,
            };
            let launched = match (cache, timing) {
                (Cache::Cold, Timing::Device) => subject.copies,
                _ => 1,
            };
            let verdict = (subject.check)(launched)?;
            Ok(Run { us, verdict })
        })
    }

    /// The time per launch of a batch, after the flushes.
    fn device_time(&self, subject: &Subject, cache: Cache, flushes: &mut usize) -> Result<f64> {
        let stream = self.gpu.stream_ptr();
        (0..*flushes).try_for_each(|_| (self.flush)())?;
        let is_warm = cache == Cache::Warm;
        if is_warm {
            (subject.enqueue)(0, stream)?;
        }
        // Reductions by key add to their cells, which are cleared right before, as in a program.
        if is_warm || subject.row.suite == Suite::Keyed {
            (subject.overwrite)()?;
        }
        let batch = self.events.batch(|| {
            let copy = |launch| if is_warm { 0 } else { launch };
            (0..subject.copies).try_for_each(|launch| (subject.enqueue)(copy(launch), stream))
        })?;
        if !batch.was_ahead {
            *flushes = (*flushes * 2).min(MAX_FLUSHES);
        }
        Ok(batch.us / subject.copies as f64)
    }

    /// The median of several launches, each on the idle stream.
    fn launch_time(&self, subject: &Subject) -> Result<f64> {
        let launch = |_| {
            self.gpu.synchronize()?;
            Ok(self.time(|| (subject.enqueue)(0, self.gpu.stream_ptr()))? * 1e3)
        };
        median((0..IDLE_LAUNCHES).map(launch).collect::<Result<_>>()?)
    }

    /// The median of several calls that follow one another.
    fn stream_time(&self, subject: &Subject) -> Result<f64> {
        let stream = self.gpu.stream_ptr();
        median(self.events.around(|| (subject.enqueue)(0, stream))?)
    }

    /// The time per reduction of a graph.
    fn graph_time(&self, subject: &Subject, graph: &mut Option<Graph>) -> Result<f64> {
        let graph = match graph {
            Some(graph) => graph,
            none => none.insert(Graph::capture(self.gpu, || {
                (0..IN_GRAPH).try_for_each(|_| (subject.enqueue)(0, self.gpu.stream_ptr()))
            })?),
        };
        Ok(self.time(|| graph.launch(self.gpu))? * 1e3 / IN_GRAPH as f64)
    }

    /// Enqueues an overwrite of the buffer with [`POISON`].
    pub fn overwrite<T: Element>(&self, buffer: &Buffer<T>) -> Result<()> {
        self.overwrite_bytes((buffer.as_device_ptr(), size_of::<T>() * buffer.len()))
    }

    /// Enqueues an overwrite of a part of a buffer, which must live until the stream has completed it.
    pub fn overwrite_bytes(&self, (start, bytes): (u64, usize)) -> Result<()> {
        let stream = self.gpu.stream_ptr().cast();
        // SAFETY: the bytes are in a buffer of this device, which frees its memory only after a wait for this
        // stream. The stream is the device's and lives as long as it. Its context is current: `Timer::new`
        // and every call of the library make it so on this thread.
        let status = unsafe { cust_raw::cuMemsetD8Async(start, POISON, bytes, stream) };
        checked("cuMemsetD8Async", status)
    }

    /// The time of the work that `enqueue` enqueues on the stream, in milliseconds.
    pub fn time(&self, enqueue: impl FnOnce() -> Result<()>) -> Result<f64> {
        let mut enqueued = Ok(());
        let ms = self.gpu.time(|| {
            enqueued = enqueue();
            Ok(())
        })?;
        enqueued?;
        Ok(ms)
    }
}

fn median(mut times: Vec<f64>) -> Result<f64> {
    times.sort_by(f64::total_cmp);
    statistics::median(&times).context("nothing was timed")
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use warpfold::Sum;

    use super::*;
    use crate::driver::simulated;

    const COPIES: usize = 3;

    /// On the simulated device, whose times mean nothing.
    #[test]
    fn every_way_of_timing_has_its_number_of_runs() {
        let gpu = &simulated();
        let input = gpu.upload(&[1; 1000]).unwrap();
        let timer = Timer::new(gpu, &input).unwrap();
        let cell = Rc::new(RefCell::new(gpu.alloc::<i32>(COPIES).unwrap()));
        let scratch = RefCell::new(gpu.scratch().unwrap());
        let runs = &RefCell::new([0; COPIES]);
        let (overwritten, outputs) = (Rc::clone(&cell), Rc::clone(&cell));
        let subject = Rc::new(Subject {
            row: Row::new(Suite::Whole, "single_pass", "i32", 1000),
            copies: COPIES,
            overwrite: Box::new(|| timer.overwrite(&overwritten.borrow())),
            enqueue: Box::new(|copy, _| {
                runs.borrow_mut()[copy] += 1;
                let (mut cell, scratch) = (cell.borrow_mut(), &mut scratch.borrow_mut());
                Ok(gpu.reduce_into(&input, Sum, &mut *cell, copy, scratch)?)
            }),
            check: Box::new(|copies| {
                let got = outputs.borrow().download()?;
                let right = |got: &i32| *got == 1000;
                assert!(!got[copies..].iter().any(right), "not launched");
                match got[..copies].iter().all(right) {
                    true => Ok(Ok(())),
                    false => Ok(Err((format!("{got:?}"), "1000".into()))),
                }
            }),
        });
        for (cache, timing, expected) in [
            (Cache::Cold, Timing::Device, [1; COPIES]),
            (Cache::Warm, Timing::Device, [1 + COPIES, 0, 0]),
            (Cache::Warm, Timing::Launch, [IDLE_LAUNCHES, 0, 0]),
            (Cache::Warm, Timing::Stream, [IN_STREAM, 0, 0]),
            (Cache::Warm, Timing::Graph, [IN_GRAPH, 0, 0]),
        ] {
            runs.replace([0; COPIES]);
            let mut timed = timer.timed(&subject, cache, timing);
            assert_eq!((timed.row.cache, timed.row.timing), (cache, timing));
            let run = (timed.run)().unwrap();
            assert!(run.us > 0.0 && run.verdict.is_ok(), "{timing}");
            assert_eq!(*runs.borrow(), expected, "{cache} {timing}");
        }
    }

    #[test]
    fn a_call_that_fails_ends_the_calls() {
        let gpu = &simulated();
        let calls = Cell::new(0);
        let around = Events::new(gpu, IN_STREAM).unwrap().around(|| {
            calls.set(calls.get() + 1);
            anyhow::ensure!(calls.get() < 3, "the third");
            Ok(())
        });
        assert_eq!(around.unwrap_err().to_string(), "the third");
        assert_eq!(calls.get(), 3);
    }

    #[test]
    fn slow_first_calls_do_not_change_the_median() {
        let mut times = vec![4.5; IN_STREAM];
        times[..8].fill(120.0);
        assert_eq!(median(times).unwrap(), 4.5);
        assert_eq!(median(vec![7.0, 1.0, 3.0]).unwrap(), 3.0);
        assert!(median(Vec::new()).is_err());
    }
}
