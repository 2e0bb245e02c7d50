//! The state of the driver: its devices.

use std::cell::Cell;
use std::ffi::{CStr, CString, c_int};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock};
use std::thread::{self, ThreadId};

use cust_raw::{CUdevice, CUresult, CUstream, CUstreamCaptureMode};
use kernels_gpu::entry::Entry;

use crate::commands::{Command, Failure};
use crate::event::Event;
use crate::handles::Handles;
use crate::memory::Memory;
use crate::module::Module;
use crate::stream::{Capture, Stream};

/// The multiprocessors of a device, unless others are asked for: few, so that grids are small.
pub const MULTIPROCESSORS: c_int = 4;

/// Whether the program has called `cuInit`.
static STARTED: AtomicBool = AtomicBool::new(false);

/// The devices. The first one always exists; devices are never removed.
static DEVICES: RwLock<Vec<&'static Mutex<Driver>>> = RwLock::new(Vec::new());

thread_local! {
    /// The current context of this thread: its device and its number; 0 for none.
    pub static CURRENT: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
}

/// A device, with the state of its primary context.
pub struct Driver {
    pub multiprocessors: c_int,
    /// The context's reference count.
    pub retained: usize,
    /// The unique number of the context; a new context has a new number.
    pub context: usize,
    /// The finding of a launch, with which all later calls of the context fail.
    pub failure: Option<&'static CStr>,
    pub memory: Memory,
    pub streams: Handles<Stream>,
    pub events: Handles<Event>,
    pub modules: Handles<Module>,
    /// The functions, each with the handle of its module.
    pub functions: Handles<(usize, &'static Entry)>,
    pub graphs: Handles<Vec<Command>>,
    pub executables: Handles<Vec<Command>>,
}

/// All devices.
pub fn devices() -> Vec<&'static Mutex<Driver>> {
    let devices = DEVICES.read().unwrap_or_else(PoisonError::into_inner);
    if !devices.is_empty() {
        return devices.clone();
    }
    drop(devices);
    let mut devices = DEVICES.write().unwrap_or_else(PoisonError::into_inner);
    if devices.is_empty() {
        devices.push(new_device(MULTIPROCESSORS));
    }
    devices.clone()
}

/// Adds a device with so many multiprocessors, and returns its index.
pub fn add_device(multiprocessors: c_int) -> usize {
    devices();
    let mut devices = DEVICES.write().unwrap_or_else(PoisonError::into_inner);
    devices.push(new_device(multiprocessors));
    devices.len() - 1
}

fn new_device(multiprocessors: c_int) -> &'static Mutex<Driver> {
    Box::leak(Box::new(Mutex::new(Driver {
        multiprocessors,
        retained: 0,
        context: 0,
        failure: None,
        memory: Memory::default(),
        streams: Handles::default(),
        events: Handles::default(),
        modules: Handles::default(),
        functions: Handles::default(),
        graphs: Handles::default(),
        executables: Handles::default(),
    })))
}

/// Locks a device.
pub fn lock(device: &'static Mutex<Driver>) -> MutexGuard<'static, Driver> {
    device.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts the driver.
pub fn start() {
    STARTED.store(true, Ordering::Relaxed);
}

/// Fails unless the driver was started.
pub fn started() -> Result<(), CUresult> {
    match STARTED.load(Ordering::Relaxed) {
        true => Ok(()),
        false => Err(CUresult::CUDA_ERROR_NOT_INITIALIZED),
    }
}

/// The device with this index.
pub fn device(device: CUdevice) -> Result<MutexGuard<'static, Driver>, CUresult> {
    started()?;
    let index = usize::try_from(device).ok();
    let device = index.and_then(|index| devices().get(index).copied());
    device.map(lock).ok_or(CUresult::CUDA_ERROR_INVALID_DEVICE)
}

/// The device of this thread's context, even if the context has failed.
pub fn current() -> MutexGuard<'static, Driver> {
    lock(devices()[CURRENT.get().0])
}

/// The device of this thread's context; fails if there is no current context, or if it has failed.
pub fn entered() -> Result<MutexGuard<'static, Driver>, CUresult> {
    started()?;
    let driver = current();
    if driver.retained == 0 || CURRENT.get().1 != driver.context {
        return Err(CUresult::CUDA_ERROR_INVALID_CONTEXT);
    }
    match driver.failure {
        None => Ok(driver),
        Some(_) => Err(CUresult::CUDA_ERROR_LAUNCH_FAILED),
    }
}

impl Driver {
    /// Destroys the context and everything in it. Memory that the program did not free still counts in
    /// [`allocated_bytes`](crate::allocated_bytes), unless the context has failed, because then the program
    /// could not free it.
    pub fn end_context(&mut self) {
        self.streams.clear();
        self.events.clear();
        self.modules.clear();
        self.functions.clear();
        self.graphs.clear();
        self.executables.clear();
        if self.failure.take().is_some() {
            self.memory = Memory::default();
        }
    }

    /// The capture on a stream, if there is one.
    pub fn capture(&mut self, stream: CUstream) -> Result<Option<&mut Capture>, CUresult> {
        // The null stream, and the driver's two special handles for it.
        if stream.addr() <= 2 {
            return Ok(None);
        }
        Ok(self.streams.get_mut(stream)?.capture.as_mut())
    }

    /// Executes a command on a stream, or captures it for a graph.
    pub fn submit(&mut self, stream: CUstream, command: Command) -> Result<(), CUresult> {
        match self.capture(stream)? {
            Some(capture) => capture.push(command),
            None => self.run(&command),
        }
    }

    /// Executes a command. A finding makes the context fail; an invalid address makes the call fail.
    pub fn run(&mut self, command: &Command) -> Result<(), CUresult> {
        match command.run(&mut self.memory) {
            Ok(()) => Ok(()),
            Err(Failure::Call(code)) => Err(code),
            Err(Failure::Context(text)) => {
                let text = CString::new(text.replace('\0', " ")).unwrap_or_default();
                // Leaked because the driver's texts are static; a context fails only once.
                self.failure = Some(Box::leak(text.into_boxed_c_str()));
                Ok(())
            }
        }
    }

    /// Fails if a stream has an active capture that `forbids` the call, and invalidates such captures.
    pub fn forbid_in_captures(
        &mut self,
        forbids: impl Fn(&Capture) -> bool,
    ) -> Result<(), CUresult> {
        let captures = self.streams.all_mut().filter_map(|s| s.capture.as_mut());
        let invalidated = captures
            .filter(|capture| forbids(capture))
            .map(|capture| capture.valid = false)
            .count();
        match invalidated {
            0 => Ok(()),
            _ => Err(CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED),
        }
    }

    /// Rejects a call that may wait for all streams, such as an allocation.
    pub fn forbid_unsafe_in_captures(&mut self) -> Result<(), CUresult> {
        use CUstreamCaptureMode::{
            CU_STREAM_CAPTURE_MODE_GLOBAL as GLOBAL, CU_STREAM_CAPTURE_MODE_RELAXED as RELAXED,
        };
        let this_thread: ThreadId = thread::current().id();
        self.forbid_in_captures(|capture| {
            capture.mode == GLOBAL || (capture.thread == this_thread && capture.mode != RELAXED)
        })
    }
}
