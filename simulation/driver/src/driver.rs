//! All that the driver knows.

use std::cell::Cell;
use std::ffi::{CStr, CString};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

use cust_raw::{CUresult, CUstream, CUstreamCaptureMode};
use kernels_gpu::entry::Entry;

use crate::commands::{Command, Wrong};
use crate::event::Event;
use crate::handles::Handles;
use crate::memory::Memory;
use crate::module::Module;
use crate::stream::{Capture, Stream};

static DRIVER: Mutex<Driver> = Mutex::new(Driver::new());

thread_local! {
    /// The context that is current on this thread, by its number; 0 for none.
    pub static CURRENT: Cell<usize> = const { Cell::new(0) };
}

/// The device's one context, and what is in it.
pub struct Driver {
    pub initialised: bool,
    /// How often the context has been retained and not released.
    pub retained: usize,
    /// The number of the context: after it has gone, another begins.
    pub context: usize,
    /// What has been found in a launch: the context gives no other answer any more.
    pub failure: Option<&'static CStr>,
    pub memory: Memory,
    pub streams: Handles<Stream>,
    pub events: Handles<Event>,
    pub modules: Handles<Module>,
    /// Each with its module.
    pub functions: Handles<(usize, &'static Entry)>,
    pub graphs: Handles<Vec<Command>>,
    pub executables: Handles<Vec<Command>>,
}

/// The driver, whatever its state.
pub fn lock() -> MutexGuard<'static, Driver> {
    DRIVER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The driver, for a call that needs it to be started.
pub fn started() -> Result<MutexGuard<'static, Driver>, CUresult> {
    let driver = lock();
    match driver.initialised {
        true => Ok(driver),
        false => Err(CUresult::CUDA_ERROR_NOT_INITIALIZED),
    }
}

/// The driver, for a call in the current context.
pub fn entered() -> Result<MutexGuard<'static, Driver>, CUresult> {
    let driver = started()?;
    if driver.retained == 0 || CURRENT.get() != driver.context {
        return Err(CUresult::CUDA_ERROR_INVALID_CONTEXT);
    }
    match driver.failure {
        None => Ok(driver),
        Some(_) => Err(CUresult::CUDA_ERROR_LAUNCH_FAILED),
    }
}

impl Driver {
    const fn new() -> Self {
        Self {
            initialised: false,
            retained: 0,
            context: 0,
            failure: None,
            memory: Memory::new(),
            streams: Handles::new(),
            events: Handles::new(),
            modules: Handles::new(),
            functions: Handles::new(),
            graphs: Handles::new(),
            executables: Handles::new(),
        }
    }

    /// The context goes, with all that is in it but the memory that should have been freed before: it
    /// stays for [`allocated_bytes`](crate::allocated_bytes). In a failed context nobody could.
    pub fn end_context(&mut self) {
        self.streams.clear();
        self.events.clear();
        self.modules.clear();
        self.functions.clear();
        self.graphs.clear();
        self.executables.clear();
        if self.failure.take().is_some() {
            self.memory = Memory::new();
        }
    }

    /// The capture on a stream, if there is one.
    pub fn capture(&mut self, stream: CUstream) -> Result<Option<&mut Capture>, CUresult> {
        // The null stream, and the two by which the driver calls it.
        if stream.addr() <= 2 {
            return Ok(None);
        }
        Ok(self.streams.get_mut(stream)?.capture.as_mut())
    }

    /// Does what is put on a stream, or keeps it for the graph.
    pub fn submit(&mut self, stream: CUstream, command: Command) -> Result<(), CUresult> {
        match self.capture(stream)? {
            Some(capture) => capture.push(command),
            None => self.run(&command),
        }
    }

    /// What is found is the context's failure; that there is no such memory, the call's.
    pub fn run(&mut self, command: &Command) -> Result<(), CUresult> {
        match command.run(&mut self.memory) {
            Ok(()) => Ok(()),
            Err(Wrong::Refused(code)) => Err(code),
            Err(Wrong::Found(words)) => {
                let words = CString::new(words.replace('\0', " ")).unwrap_or_default();
                // A text of the driver's is static; a context fails once.
                self.failure = Some(Box::leak(words.into_boxed_c_str()));
                Ok(())
            }
        }
    }

    /// Refuses a call that no capture bears, and spoils those that it would be part of.
    pub fn forbid_in_captures(
        &mut self,
        concerned: impl Fn(&Capture) -> bool,
    ) -> Result<(), CUresult> {
        let captures = self.streams.all_mut().filter_map(|s| s.capture.as_mut());
        let spoilt = captures
            .filter(|capture| concerned(capture))
            .map(|capture| capture.valid = false)
            .count();
        match spoilt {
            0 => Ok(()),
            _ => Err(CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED),
        }
    }

    /// Refuses a call that may wait for all streams, as those that allocate.
    pub fn forbid_unsafe_in_captures(&mut self) -> Result<(), CUresult> {
        use CUstreamCaptureMode::{
            CU_STREAM_CAPTURE_MODE_GLOBAL as GLOBAL, CU_STREAM_CAPTURE_MODE_RELAXED as RELAXED,
        };
        let here: ThreadId = thread::current().id();
        self.forbid_in_captures(|capture| {
            capture.mode == GLOBAL || (capture.thread == here && capture.mode != RELAXED)
        })
    }
}
