//! CUDA events around calls on a stream: around each call, or around all.

use std::ptr;

use anyhow::{Context, Result};
use cust_raw::{CUevent, CUevent_flags, CUresult};
use warpfold::Device;

use crate::driver::checked;

/// The time of a batch of launches.
#[derive(Clone, Copy, Debug)]
pub struct Batch {
    /// Between the event before the first launch and the event after the last.
    pub us: f64,
    /// Whether the batch was fully enqueued before the device reached it, so that the device never waited.
    pub was_ahead: bool,
}

/// Two events for each call.
pub struct Events<'a> {
    gpu: &'a Device,
    pairs: Vec<[Event; 2]>,
}

impl<'a> Events<'a> {
    pub fn new(gpu: &'a Device, calls: usize) -> Result<Self> {
        // Makes the device's context current.
        gpu.synchronize()?;
        let pairs = (0..calls).map(|_| Ok([Event::new()?, Event::new()?]));
        let pairs = pairs.collect::<Result<_>>()?;
        Ok(Self { gpu, pairs })
    }

    /// Times each call on the device's stream, in microseconds. The host does not wait between calls, but for
    /// all of them at the end.
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

    /// Times all work that `enqueue` enqueues on the device's stream, and waits for it.
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

/// A CUDA event.
struct Event(CUevent);

impl Event {
    /// In the current context.
    fn new() -> Result<Self> {
        let mut event = ptr::null_mut();
        let flags = CUevent_flags::CU_EVENT_DEFAULT as u32;
        // SAFETY: `event` is a valid pointer for the handle.
        let status = unsafe { cust_raw::cuEventCreate(&mut event, flags) };
        checked("cuEventCreate", status)?;
        Ok(Self(event))
    }

    /// Records the event on the device's stream; both have the same context.
    fn record(&self, gpu: &Device) -> Result<()> {
        // SAFETY: the event is live (`self`), as is the stream (`gpu`).
        let status = unsafe { cust_raw::cuEventRecord(self.0, gpu.stream_ptr().cast()) };
        checked("cuEventRecord", status)
    }

    /// Whether the stream has reached it.
    fn is_done(&self) -> Result<bool> {
        // SAFETY: the event is live.
        match unsafe { cust_raw::cuEventQuery(self.0) } {
            CUresult::CUDA_ERROR_NOT_READY => Ok(false),
            status => checked("cuEventQuery", status).map(|()| true),
        }
    }

    /// The time from this event to a later one, both of which the stream has reached.
    fn us_until(&self, end: &Event) -> Result<f64> {
        let mut ms = 0.0;
        // SAFETY: both events are live, and `ms` is a valid pointer for the result.
        let status = unsafe { cust_raw::cuEventElapsedTime(&mut ms, self.0, end.0) };
        checked("cuEventElapsedTime", status)?;
        Ok(f64::from(ms) * 1e3)
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: `self` owns the event. Later calls report the same error again.
        let _ = unsafe { cust_raw::cuEventDestroy_v2(self.0) };
    }
}
