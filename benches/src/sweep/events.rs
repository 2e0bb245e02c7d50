//! Events around calls that follow one another on a stream: around each, or around all.

use std::ptr;

use anyhow::{Context, Result};
use cust_raw::{CUevent, CUevent_flags, CUresult};
use warpfold::Device;

use crate::driver::checked;

/// What a batch of launches took.
#[derive(Clone, Copy, Debug)]
pub struct Batch {
    /// From the event before the first to the event after the last.
    pub us: f64,
    /// Whether all of it was on the stream before the device came to it, so that the device never waited for the
    /// host.
    pub was_ahead: bool,
}

/// Two for each call.
pub struct Events<'a> {
    gpu: &'a Device,
    pairs: Vec<[Event; 2]>,
}

impl<'a> Events<'a> {
    /// For so many calls.
    pub fn new(gpu: &'a Device, calls: usize) -> Result<Self> {
        // Makes the device's context current.
        gpu.synchronize()?;
        let pairs = (0..calls).map(|_| Ok([Event::new()?, Event::new()?]));
        let pairs = pairs.collect::<Result<_>>()?;
        Ok(Self { gpu, pairs })
    }

    /// What each of the calls takes on the device's stream, in microseconds. None waits for the one before;
    /// all have been waited for when this returns.
    pub fn around(&self, mut call: impl FnMut() -> Result<()>) -> Result<Vec<f64>> {
        let called = self.pairs.iter().try_for_each(|[start, end]| {
            start.record(self.gpu)?;
            call()?;
            end.record(self.gpu)
        });
        self.gpu.synchronize()?;
        called?;
        let pairs = self.pairs.iter();
        pairs.map(|[start, end]| start.us_until(end)).collect()
    }

    /// What all that `enqueue` puts on the device's stream takes together. It has been waited for when this
    /// returns.
    pub fn batch(&self, enqueue: impl FnOnce() -> Result<()>) -> Result<Batch> {
        let [start, end] = self.pairs.first().context("there are no events")?;
        start.record(self.gpu)?;
        let enqueued = enqueue().and_then(|()| end.record(self.gpu));
        let was_ahead = !start.is_done()?;
        self.gpu.synchronize()?;
        enqueued?;
        let us = start.us_until(end)?;
        Ok(Batch { us, was_ahead })
    }
}

/// A point in the work of a stream.
struct Event(CUevent);

impl Event {
    /// In the current context.
    fn new() -> Result<Self> {
        let mut event = ptr::null_mut();
        let flags = CUevent_flags::CU_EVENT_DEFAULT as u32;
        // SAFETY: `event` is a place for a handle.
        let made = unsafe { cust_raw::cuEventCreate(&mut event, flags) };
        checked("cuEventCreate", made)?;
        Ok(Self(event))
    }

    /// Puts it on the device's stream, whose context is that of the event.
    fn record(&self, gpu: &Device) -> Result<()> {
        // SAFETY: the event is live (`self`), as is the stream (`gpu`).
        let recorded = unsafe { cust_raw::cuEventRecord(self.0, gpu.stream_ptr().cast()) };
        checked("cuEventRecord", recorded)
    }

    /// Whether the stream has come past it.
    fn is_done(&self) -> Result<bool> {
        // SAFETY: the event is live.
        match unsafe { cust_raw::cuEventQuery(self.0) } {
            CUresult::CUDA_ERROR_NOT_READY => Ok(false),
            done => checked("cuEventQuery", done).map(|()| true),
        }
    }

    /// From this one to a later one; the stream has come past both.
    fn us_until(&self, end: &Event) -> Result<f64> {
        let mut ms = 0.0;
        // SAFETY: both events are live, and `ms` is a place for the time.
        let elapsed = unsafe { cust_raw::cuEventElapsedTime(&mut ms, self.0, end.0) };
        checked("cuEventElapsedTime", elapsed)?;
        Ok(f64::from(ms) * 1e3)
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: the event is this one's alone. An error here says what later calls will say.
        let _ = unsafe { cust_raw::cuEventDestroy_v2(self.0) };
    }
}
