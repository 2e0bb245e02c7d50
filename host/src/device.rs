//! Devices: what computes, and what owns the memory.

use std::sync::Arc;
use std::time::Instant;

use crate::buffer::{Buffer, View};
use crate::element::Element;
use crate::error::Error;
use crate::gpu::Gpu;
use crate::host;
use crate::memory::DeviceMemory;
use crate::module;

/// A CUDA device, or the CPU in its place. Cheap to clone; clones are the same device.
///
/// Open a device once and clone it. Opened twice, it is two devices, each with a stream of its
/// own, and neither takes the other's buffers ([`Error::OtherDevice`]).
///
/// It may be used from several threads at once: each call makes the device's primary context
/// current on its thread and leaves it so. All work of one `Device` and its clones goes to one
/// stream, in the order of the calls.
///
/// A failure in a destructor is reported by the next call on the same device, as
/// [`Error::Deferred`]; only what fails while the last clone itself is dropped is lost.
#[derive(Clone)]
pub struct Device {
    backend: Backend,
    /// Why [`Device::auto`] chose the CPU.
    fallback: Option<Arc<Error>>,
}

#[derive(Clone)]
enum Backend {
    Cpu,
    Gpu(Arc<Gpu>),
}

/// What the driver says of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceInfo {
    /// The driver's index, as given to [`Device::nth`].
    pub index: u32,
    /// The device's name, as `NVIDIA H200`.
    pub name: String,
    /// Major and minor, as `(9, 0)`.
    pub compute_capability: (u32, u32),
    /// The architecture of the modules that are loaded, as `sm_90`.
    pub module_arch: &'static str,
    /// The number of streaming multiprocessors.
    pub multiprocessors: u32,
    /// The most threads that a block has.
    pub max_threads_per_block: u32,
    /// The most blocks that a grid has in its first dimension.
    pub max_blocks: u32,
    /// Global memory, in bytes.
    pub total_memory: u64,
    /// The level 2 cache, in bytes.
    pub l2_bytes: u64,
    /// The peak clock of the multiprocessors, in kHz.
    pub clock_khz: u32,
    /// The peak clock of the memory, in kHz.
    pub memory_clock_khz: u32,
    /// The width of the memory's bus, in bits.
    pub memory_bus_bits: u32,
    /// The latest CUDA version that the driver knows, as `(13, 0)`.
    pub driver_version: (u32, u32),
}

impl Device {
    /// The first CUDA device.
    ///
    /// # Errors
    ///
    /// [`Error::NoDriver`], [`Error::NoDevice`], [`Error::NoKernelForDevice`],
    /// [`Error::ModuleRejected`], [`Error::Cuda`].
    pub fn first() -> Result<Self, Error> {
        Self::nth(0)
    }

    /// The CUDA device with this index, counted from 0 in the driver's order.
    ///
    /// # Errors
    ///
    /// [`Error::DeviceIndex`] and those of [`Device::first`].
    pub fn nth(index: u32) -> Result<Self, Error> {
        let gpu = Gpu::open(index)?;
        Ok(Self {
            backend: Backend::Gpu(Arc::new(gpu)),
            fallback: None,
        })
    }

    /// The CPU: the same calls on all cores of this machine.
    pub fn cpu() -> Self {
        Self {
            backend: Backend::Cpu,
            fallback: None,
        }
    }

    /// The first CUDA device, or the CPU where there is none that can run the kernels;
    /// [`fallback_reason`](Self::fallback_reason) says why.
    ///
    /// # Errors
    ///
    /// What is wrong with a device that should work: [`Error::Cuda`], also for too little memory
    /// to load the kernels. Not [`Error::NoDriver`], [`Error::NoDevice`],
    /// [`Error::NoKernelForDevice`] and [`Error::ModuleRejected`], which become the reason.
    pub fn auto() -> Result<Self, Error> {
        match Self::first() {
            Err(
                reason @ (Error::NoDriver { .. }
                | Error::NoDevice { .. }
                | Error::NoKernelForDevice { .. }
                | Error::ModuleRejected { .. }),
            ) => Ok(Self {
                backend: Backend::Cpu,
                fallback: Some(Arc::new(reason)),
            }),
            result => result,
        }
    }

    /// Why [`Device::auto`] chose the CPU; `None` on every other device.
    pub fn fallback_reason(&self) -> Option<&Error> {
        self.fallback.as_deref()
    }

    /// Whether this is a CUDA device.
    pub fn is_gpu(&self) -> bool {
        matches!(self.backend, Backend::Gpu(_))
    }

    /// The device's name; `CPU` for the CPU.
    pub fn name(&self) -> &str {
        self.info().map_or("CPU", |info| &info.name)
    }

    /// What the driver says of the device; `None` for the CPU.
    pub fn info(&self) -> Option<&DeviceInfo> {
        match &self.backend {
            Backend::Cpu => None,
            Backend::Gpu(gpu) => Some(&gpu.info),
        }
    }

    /// A copy of `data` on the device. It has arrived when this returns.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`], or on the CPU [`Error::OutOfHostMemory`]; [`Error::Cuda`],
    /// [`Error::Deferred`].
    pub fn upload<T: Element>(&self, data: &[T]) -> Result<Buffer<T>, Error> {
        match &self.backend {
            Backend::Cpu => Ok(Buffer::host(self.clone(), host::copy(data)?)),
            Backend::Gpu(gpu) => {
                let memory = DeviceMemory::upload(gpu, data)?;
                Ok(Buffer::device(self.clone(), data.len(), memory))
            }
        }
    }

    /// An array of `len` elements, all bytes zero.
    ///
    /// # Errors
    ///
    /// As [`Device::upload`].
    pub fn alloc<T: Element>(&self, len: usize) -> Result<Buffer<T>, Error> {
        match &self.backend {
            Backend::Cpu => Ok(Buffer::host(self.clone(), host::zeroes(len)?)),
            Backend::Gpu(gpu) => {
                let memory = DeviceMemory::filled(gpu, len, 0)?;
                Ok(Buffer::device(self.clone(), len, memory))
            }
        }
    }

    /// The time that `work` takes on the device's stream, in milliseconds: between an event
    /// before it and an event after it, waited for. On the CPU, the time on the clock.
    ///
    /// ```
    /// # use warpfold::{Device, Sum};
    /// let device = Device::auto()?;
    /// let x = device.upload(&[1.0f32; 1000])?;
    /// let mut plan = device.reduce(&x, Sum).plan()?;
    /// let milliseconds = device.time(|| plan.enqueue())?;
    /// assert!(milliseconds >= 0.0);
    /// assert_eq!(plan.result()?, 1000.0);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Those of `work`; [`Error::Cuda`], also for a kernel's own fault; [`Error::Deferred`].
    pub fn time(&self, work: impl FnOnce() -> Result<(), Error>) -> Result<f64, Error> {
        match &self.backend {
            Backend::Cpu => {
                let start = Instant::now();
                work()?;
                Ok(start.elapsed().as_secs_f64() * 1e3)
            }
            Backend::Gpu(gpu) => gpu.time(work),
        }
    }

    /// Waits for everything enqueued so far.
    ///
    /// # Errors
    ///
    /// [`Error::Cuda`], also for a kernel's own fault; [`Error::Deferred`].
    pub fn synchronize(&self) -> Result<(), Error> {
        match &self.backend {
            Backend::Cpu => Ok(()),
            Backend::Gpu(gpu) => gpu.enter().and_then(|()| gpu.synchronize()),
        }
    }

    /// The device's stream as a `CUstream`, for code that launches kernels of its own between
    /// ours. Null for the CPU. Valid as long as the device.
    pub fn stream_ptr(&self) -> *mut std::ffi::c_void {
        match &self.backend {
            Backend::Cpu => std::ptr::null_mut(),
            Backend::Gpu(gpu) => gpu.stream.as_inner().cast(),
        }
    }

    /// Gives `ptx` to the driver's compiler and forgets the outcome unless it is an error.
    #[doc(hidden)]
    pub fn try_module(&self, ptx: &std::ffi::CStr) -> Result<(), Error> {
        match &self.backend {
            Backend::Cpu => Ok(()),
            Backend::Gpu(gpu) => {
                gpu.enter()?;
                module::load("tried", ptx).map(drop)
            }
        }
    }

    /// The GPU; `None` for the CPU.
    pub(crate) fn gpu(&self) -> Option<&Arc<Gpu>> {
        match &self.backend {
            Backend::Cpu => None,
            Backend::Gpu(gpu) => Some(gpu),
        }
    }

    pub(crate) fn check_owner<T: Element>(&self, view: &View<'_, T>) -> Result<(), Error> {
        let owner = view.owner();
        let same = match (&self.backend, &owner.backend) {
            (Backend::Cpu, Backend::Cpu) => true,
            (Backend::Gpu(one), Backend::Gpu(other)) => Arc::ptr_eq(one, other),
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
impl std::fmt::Display for Device {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.info() {
            None => f.write_str("the CPU"),
            Some(info) => write!(f, "{} (device {})", info.name, info.index),
        }
    }
}

impl std::fmt::Debug for Device {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Device({self})")
    }
}
