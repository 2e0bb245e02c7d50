//! A backend: a stream of the CPU or of a GPU, on which work is done.

use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::error::Error;
use crate::exact;
use crate::gpu::Gpu;
use crate::groups;
use crate::info::DeviceInfo;
use crate::memory::DeviceMemory;
use crate::segments;
use crate::stream::Stream;
use crate::workspace::Workspace;

/// A stream of the CPU or of a GPU. Cheap to clone; clones are the same stream.
#[derive(Clone)]
pub(crate) enum Backend {
    Cpu(Arc<CpuStream>),
    Gpu(Arc<Queue>),
}

/// A stream of the CPU; each call does its work before it returns. Streams have an identity, so that the CPU
/// has the same errors as a GPU: for buffers of another device, and for the scratch of another stream.
pub(crate) struct CpuStream {
    /// The device that the stream belongs to; one for each opened device.
    device: Arc<CpuDevice>,
}

struct CpuDevice;

/// A GPU stream with the workspace of its blocking calls.
pub(crate) struct Queue {
    // Dropped before the stream.
    /// The workspace; the first blocking call allocates it.
    workspace: Mutex<Option<Workspace>>,
    /// The cells of exact sums; the first of them allocates them.
    exact: Mutex<Option<exact::Cells>>,
    /// The storage of segmented reductions; the first of them allocates it.
    segments: Mutex<Option<segments::Storage>>,
    /// The partials of reductions along axes; the first that needs some allocates them.
    axes: Mutex<Option<DeviceMemory<u64>>>,
    /// The memory in which groups are found and sorted; the first such call allocates it.
    groups: Mutex<Option<groups::Storage>>,
    stream: Stream,
}

impl Queue {
    pub(crate) fn new(stream: Stream) -> Arc<Self> {
        Arc::new(Self {
            workspace: Mutex::new(None),
            exact: Mutex::new(None),
            segments: Mutex::new(None),
            axes: Mutex::new(None),
            groups: Mutex::new(None),
            stream,
        })
    }

    /// Locks the workspace for one blocking call.
    pub(crate) fn workspace(&self) -> MutexGuard<'_, Option<Workspace>> {
        self.workspace
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Locks the cells of exact sums for one blocking call.
    pub(crate) fn exact_cells(&self) -> MutexGuard<'_, Option<exact::Cells>> {
        self.exact.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Locks the storage of segmented reductions for one blocking call.
    pub(crate) fn segments(&self) -> MutexGuard<'_, Option<segments::Storage>> {
        self.segments.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Locks the memory of groups for one blocking call.
    pub(crate) fn groups(&self) -> MutexGuard<'_, Option<groups::Storage>> {
        self.groups.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Locks the partials of reductions along axes for one blocking call.
    pub(crate) fn axes(&self) -> MutexGuard<'_, Option<DeviceMemory<u64>>> {
        self.axes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Deref for Queue {
    type Target = Stream;

    fn deref(&self) -> &Stream {
        &self.stream
    }
}

impl Backend {
    /// Opens the CPU as a new device.
    pub(crate) fn cpu() -> Self {
        let device = Arc::new(CpuDevice);
        Self::Cpu(Arc::new(CpuStream { device }))
    }

    /// Another stream of the same device.
    pub(crate) fn new_stream(&self) -> Result<Self, Error> {
        match self {
            Self::Cpu(stream) => {
                let device = Arc::clone(&stream.device);
                Ok(Self::Cpu(Arc::new(CpuStream { device })))
            }
            Self::Gpu(queue) => Ok(Self::Gpu(Queue::new(Stream::new(queue.gpu())?))),
        }
    }

    /// The GPU's stream; `None` for the CPU.
    pub(crate) fn queue(&self) -> Option<&Arc<Queue>> {
        match self {
            Self::Cpu(_) => None,
            Self::Gpu(queue) => Some(queue),
        }
    }

    /// The GPU; on the CPU, the error that `what` needs a GPU.
    pub(crate) fn gpu_for(&self, what: &'static str) -> Result<&Arc<Gpu>, Error> {
        match self {
            Self::Cpu(_) => Err(Error::NeedsGpu { what }),
            Self::Gpu(queue) => Ok(queue.gpu()),
        }
    }

    /// The device's properties; `None` for the CPU.
    pub(crate) fn info(&self) -> Option<&DeviceInfo> {
        self.queue().map(|queue| &queue.gpu().info)
    }

    /// The device's name; `CPU` for the CPU.
    pub(crate) fn name(&self) -> &str {
        self.info().map_or("CPU", |info| &info.name)
    }

    /// Whether `other` is the same stream.
    pub(crate) fn is_same_stream(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Cpu(one), Self::Cpu(other)) => Arc::ptr_eq(one, other),
            (Self::Gpu(one), Self::Gpu(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }

    /// An error unless `owner` belongs to the same device.
    pub(crate) fn check_same(&self, owner: &Self) -> Result<(), Error> {
        let same = match (self, owner) {
            (Self::Cpu(one), Self::Cpu(other)) => Arc::ptr_eq(&one.device, &other.device),
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
