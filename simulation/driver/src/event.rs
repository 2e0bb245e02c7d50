//! Events: positions in a stream, with times.

use std::ffi::c_uint;
use std::time::Instant;

use cust_raw::{CUevent, CUevent_flags, CUresult, CUstream};

use crate::driver::entered;
use crate::functions::{functions, put};

pub struct Event {
    has_time: bool,
    recorded: Option<Instant>,
    /// The capture in which the event was last recorded.
    pub capture: Option<usize>,
}

impl Event {
    /// Fails if the event was recorded in a capture.
    fn check(&self) -> Result<(), CUresult> {
        match self.capture {
            None => Ok(()),
            Some(_) => Err(CUresult::CUDA_ERROR_CAPTURED_EVENT),
        }
    }

    fn time(&self) -> Result<Instant, CUresult> {
        let time = self.recorded.filter(|_| self.has_time);
        time.ok_or(CUresult::CUDA_ERROR_INVALID_HANDLE)
    }
}

functions! {
    fn cuEventCreate(event: *mut CUevent, flags: c_uint) {
        let without_time = CUevent_flags::CU_EVENT_DISABLE_TIMING as c_uint;
        let handle = entered()?.events.add(Event {
            has_time: flags & without_time == 0,
            recorded: None,
            capture: None,
        });
        // SAFETY: the caller passes a pointer to a handle.
        unsafe { put(event, handle) }
    }

    fn cuEventDestroy_v2(event: CUevent) {
        entered()?.events.remove(event).map(drop)
    }

    fn cuEventRecord(event: CUevent, stream: CUstream) {
        let mut driver = entered()?;
        let capture = driver.capture(stream)?;
        if let Some(capture) = &capture {
            capture.check()?;
        }
        let capture = capture.map(|capture| capture.id);
        let event = driver.events.get_mut(event)?;
        event.capture = capture;
        if capture.is_none() {
            event.recorded = Some(Instant::now());
        }
        Ok(())
    }

    fn cuEventQuery(event: CUevent) {
        entered()?.events.get(event)?.check()
    }

    fn cuEventSynchronize(event: CUevent) {
        entered()?.events.get(event)?.check()
    }

    fn cuEventElapsedTime(milliseconds: *mut f32, start: CUevent, end: CUevent) {
        let driver = entered()?;
        let [start, end] = [start, end].map(|event| driver.events.get(event)?.time());
        let [start, end] = [start?, end?];
        let elapsed = match end.checked_duration_since(start) {
            Some(later) => later.as_secs_f32(),
            None => -(start - end).as_secs_f32(),
        };
        // SAFETY: the caller passes a pointer to the time.
        unsafe { put(milliseconds, 1e3 * elapsed) }
    }
}
