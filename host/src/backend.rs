//! Where arrays are and where work is done: the CPU, or a stream of a GPU.

use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::error::Error;
use crate::gpu::Gpu;
use crate::info::DeviceInfo;
use crate::stream::Stream;
use crate::workspace::Workspace;

/// The CPU, or a stream of a GPU. Cheap to clone; clones are the same.
#[derive(Clone)]
pub(crate) enum Backend {
    Cpu,
    Gpu(Arc<Queue>),
}

/// A stream with what its blocking calls work with.
pub(crate) struct Queue {
    // Dropped before the stream.
    /// Made by the first blocking call.
    workspace: Mutex<Option<Workspace>>,
    stream: Stream,
}

impl Queue {
    pub(crate) fn new(stream: Stream) -> Arc<Self> {
        Arc::new(Self {
            workspace: Mutex::new(None),
            stream,
        })
    }

    /// What a blocking call reduces with, alone for as long as the guard lives.
    pub(crate) fn workspace(&self) -> MutexGuard<'_, Option<Workspace>> {
        self.workspace
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Deref for Queue {
    type Target = Stream;

    fn deref(&self) -> &Stream {
        &self.stream
    }
}

impl Backend {
    /// The GPU's stream; `None` for the CPU.
    pub(crate) fn queue(&self) -> Option<&Arc<Queue>> {
        match self {
            Self::Cpu => None,
            Self::Gpu(queue) => Some(queue),
        }
    }

    /// The GPU, where an array needs one to be on.
    pub(crate) fn gpu_for(&self, what: &'static str) -> Result<&Arc<Gpu>, Error> {
        match self {
            Self::Cpu => Err(Error::NeedsGpu { what }),
            Self::Gpu(queue) => Ok(queue.gpu()),
        }
    }

    /// What the driver says of the device; `None` for the CPU.
    pub(crate) fn info(&self) -> Option<&DeviceInfo> {
        self.queue().map(|queue| &queue.gpu().info)
    }

    /// The device's name; `CPU` for the CPU.
    pub(crate) fn name(&self) -> &str {
        self.info().map_or("CPU", |info| &info.name)
    }

    /// An error unless the two are one device, on whatever streams.
    pub(crate) fn check_same(&self, owner: &Self) -> Result<(), Error> {
        let same = match (self, owner) {
            (Self::Cpu, Self::Cpu) => true,
            (Self::Gpu(one), Self::Gpu(other)) => Arc::ptr_eq(one.gpu(), other.gpu()),
            _ => false,
        };
        if same {
            return Ok(());
        }
        Err(Error::OtherDevice {
            buffer: owner.to_string(),
            device: self.to_string(),
        })
    }
}

/// `the CPU`, or name and index: `NVIDIA H200 (device 0)`.
impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.info() {
            None => f.write_str("the CPU"),
            Some(info) => write!(f, "{} (device {})", info.name, info.index),
        }
    }
}
