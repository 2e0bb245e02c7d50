//! Streams, and the capture of their commands.

use std::ffi::{c_int, c_uint};
use std::ptr;
use std::thread::{self, ThreadId};

use cust_raw::{
    CUevent, CUgraph, CUresult, CUstream, CUstreamCaptureMode,
    CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED as RELAXED, CUstreamCaptureStatus,
};

use crate::commands::Command;
use crate::driver::entered;
use crate::functions::{functions, put};
use crate::handles::unique;

pub struct Stream {
    pub capture: Option<Capture>,
}

/// The commands on the stream since the capture began.
pub struct Capture {
    /// The unique number of the capture.
    pub id: usize,
    pub mode: CUstreamCaptureMode,
    pub thread: ThreadId,
    /// Whether all calls since the beginning could be captured.
    pub valid: bool,
    commands: Vec<Command>,
}

impl Capture {
    pub fn push(&mut self, command: Command) -> Result<(), CUresult> {
        self.check()?;
        self.commands.push(command);
        Ok(())
    }

    pub fn check(&self) -> Result<(), CUresult> {
        match self.valid {
            true => Ok(()),
            false => Err(CUresult::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED),
        }
    }

    /// Invalidates the capture and returns `code`.
    pub fn invalidate(&mut self, code: CUresult) -> Result<(), CUresult> {
        self.valid = false;
        Err(code)
    }
}

functions! {
    fn cuStreamCreateWithPriority(stream: *mut CUstream, _flags: c_uint, _priority: c_int) {
        let handle = entered()?.streams.add(Stream { capture: None });
        // SAFETY: the caller passes a pointer to a handle.
        unsafe { put(stream, handle) }
    }

    fn cuStreamDestroy_v2(stream: CUstream) {
        entered()?.streams.remove(stream).map(drop)
    }

    fn cuStreamQuery(stream: CUstream) {
        match entered()?.capture(stream)? {
            // All commands have been executed already.
            None => Ok(()),
            Some(capture) => capture.invalidate(CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED),
        }
    }

    fn cuStreamSynchronize(stream: CUstream) {
        match entered()?.capture(stream)? {
            None => Ok(()),
            Some(capture) => capture.invalidate(CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED),
        }
    }

    fn cuStreamWaitEvent(stream: CUstream, event: CUevent, _flags: c_uint) {
        let mut driver = entered()?;
        let event_capture = driver.events.get(event)?.capture;
        match (driver.capture(stream)?, event_capture) {
            // All commands have been executed already.
            (None, None) => Ok(()),
            (Some(capture), Some(id)) if capture.id == id => capture.check(),
            (Some(capture), _) => {
                capture.invalidate(CUresult::CUDA_ERROR_STREAM_CAPTURE_ISOLATION)
            }
            // The stream would join the event's capture.
            (None, Some(_)) => Err(CUresult::CUDA_ERROR_NOT_SUPPORTED),
        }
    }

    fn cuStreamBeginCapture_v2(stream: CUstream, mode: CUstreamCaptureMode) {
        let mut driver = entered()?;
        if driver.capture(stream)?.is_some() {
            return Err(CUresult::CUDA_ERROR_ILLEGAL_STATE);
        }
        // The null stream cannot be captured.
        let stream = driver.streams.get_mut(stream);
        let stream = stream.map_err(|_| CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED)?;
        stream.capture = Some(Capture {
            id: unique(),
            mode,
            thread: thread::current().id(),
            valid: true,
            commands: vec![],
        });
        Ok(())
    }

    fn cuStreamIsCapturing(stream: CUstream, status: *mut CUstreamCaptureStatus) {
        let mut driver = entered()?;
        let status_of = |capture: &Capture| match capture.valid {
            true => CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_ACTIVE,
            false => CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_INVALIDATED,
        };
        let none = CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE;
        let now = driver.capture(stream)?.map_or(none, |capture| status_of(capture));
        // SAFETY: the caller passes a pointer to a status.
        unsafe { put(status, now) }
    }

    fn cuStreamEndCapture(stream: CUstream, graph: *mut CUgraph) {
        let mut driver = entered()?;
        // SAFETY: the caller passes a pointer to a handle.
        unsafe { put(graph, ptr::null_mut())? };
        let capture = driver.capture(stream)?.ok_or(CUresult::CUDA_ERROR_ILLEGAL_STATE)?;
        if capture.mode != RELAXED && capture.thread != thread::current().id() {
            return Err(CUresult::CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
        }
        let ended = driver.streams.get_mut(stream)?.capture.take();
        let ended = ended.ok_or(CUresult::CUDA_ERROR_ILLEGAL_STATE)?;
        ended.check()?;
        let handle = driver.graphs.add(ended.commands);
        // SAFETY: as above.
        unsafe { put(graph, handle) }
    }
}
