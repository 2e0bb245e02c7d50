//! Events around calls that follow one another on a stream.

use std::ptr;

use anyhow::Result;
use cust_raw::{CUevent, CUevent_flags};
use warpfold::Device;

use crate::driver::checked;

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
