//! Devices, which own memory and do the work.

use std::sync::Arc;
use std::time::Instant;

use kernels_gpu::entry::{Entry, Kernels};

use crate::backend::{Backend, Queue};
use crate::buffer::{Buffer, View};
use crate::determinism::Determinism;
use crate::element::Element;
use crate::error::Error;
use crate::gpu::Gpu;
use crate::host;
use crate::info::DeviceInfo;
use crate::input::{self, Input, Items, Views};
use crate::memory::DeviceMemory;
use crate::module::{self, Embedded};
use crate::stream::Stream;
use crate::temp::Scratch;

/// A CUDA device, or the CPU as a substitute.
///
/// A `Device` is cheap to clone, and all clones are the same device. Open a device once and clone it: opening
/// it twice gives two devices, each with its own stream, and neither accepts the other's buffers
/// ([`Error::OtherDevice`]).
///
/// Several threads may use a device at once. Each call makes the device's primary context current on the
/// calling thread and leaves it current. All work of one `Device` and its clones goes to one stream, in the
/// order of the calls. For concurrent work, [`new_stream`](Self::new_stream) returns the same device with
/// another stream.
///
/// A failure in a destructor is returned by the next call on the same device, as [`Error::Deferred`]. A
/// failure while the last clone is dropped is lost.
#[derive(Clone)]
pub struct Device {
    backend: Backend,
    /// The lists of kernels that the caller has registered, in addition to the library's list.
    lists: Arc<[&'static Kernels]>,
    /// Why [`Device::auto`] chose the CPU.
    fallback: Option<Arc<Error>>,
    /// What the calls promise.
    pub(crate) level: Determinism,
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
        Self::of_gpu(Gpu::open(index, false)?)
    }

    fn of_gpu(gpu: Gpu) -> Result<Self, Error> {
        let stream = Stream::new(&Arc::new(gpu))?;
        Ok(Self::of_backend(Backend::Gpu(Queue::new(stream))))
    }

    /// A simulated GPU, for tests: runs every launch on the CPU, thread by thread, with all checks.
    ///
    /// Requires the feature `simulator`. A race, a read of uninitialised memory, an access out of bounds, a
    /// member mask that the arriving lanes do not match, or a deadlock is an [`Error::Finding`], which names
    /// the kernel's source lines. Like a GPU's context after a fault, the device is then unusable; open
    /// another. Each call opens a separate device, so tests can run in parallel, also next to a GPU.
    ///
    /// In an optimised build, the library's kernels process about 10 million elements per second; an
    /// unoptimised build is much slower.
    ///
    /// ```
    /// use warpfold::Device;
    ///
    /// let device = Device::simulated()?;
    /// let x = device.upload(&[1.5, 2.0, -0.5])?;
    /// assert_eq!(device.sum(&x)?, 3.0);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// An [`Error::Cuda`] would be a bug in the simulator.
    #[cfg(feature = "simulator")]
    pub fn simulated() -> Result<Self, Error> {
        Self::of_gpu(Gpu::open(cuda_sim_driver::add_device(), true)?)
    }

    fn of_backend(backend: Backend) -> Self {
        Self {
            backend,
            lists: Arc::new([]),
            fallback: None,
            level: Determinism::default(),
        }
    }

    /// The same device on another stream.
    fn on(&self, backend: Backend) -> Self {
        Self {
            backend,
            lists: Arc::clone(&self.lists),
            fallback: None,
            level: self.level,
        }
    }

    /// The same device, with the kernels of another crate registered.
    ///
    /// `embedded` is a static that [`embedded!`](crate::embedded) has defined. Its modules are loaded at
    /// their first use. Without this call, every call that needs one of these kernels returns
    /// [`Error::NotRegistered`], also on the CPU, so that a test without a GPU detects a missing
    /// registration.
    ///
    /// # Errors
    ///
    /// [`Error::NoKernelForDevice`], [`Error::ModuleRejected`], [`Error::Cuda`], [`Error::Deferred`].
    pub fn with(&self, embedded: &'static Embedded) -> Result<Self, Error> {
        if let Backend::Gpu(queue) = &self.backend {
            queue.gpu().register(embedded)?;
        }
        let mut lists = self.lists.to_vec();
        lists.push(embedded.kernels);
        Ok(Self {
            lists: lists.into(),
            ..self.clone()
        })
    }

    /// Temporary storage for [`Device::reduce_into`], which then allocates nothing.
    ///
    /// It takes about 200 KB on a GPU, for any reduction; none on the CPU.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`], [`Error::Cuda`], [`Error::Deferred`].
    pub fn scratch(&self) -> Result<Scratch, Error> {
        Scratch::new(&self.backend)
    }

    /// The CPU: the same calls, on all cores of this machine.
    ///
    /// As with a GPU, each call opens a separate device.
    pub fn cpu() -> Self {
        Self::of_backend(Backend::cpu())
    }

    /// The first CUDA device, or the CPU if no device can run the kernels.
    ///
    /// [`fallback_reason`](Self::fallback_reason) returns why the CPU was chosen.
    ///
    /// # Errors
    ///
    /// A failure of a device that should work: [`Error::Cuda`], also for too little memory to load the
    /// kernels. [`Error::NoDriver`], [`Error::NoDevice`], [`Error::NoKernelForDevice`] and
    /// [`Error::ModuleRejected`] are not returned; they become the fallback reason.
    pub fn auto() -> Result<Self, Error> {
        match Self::first() {
            Err(
                reason @ (Error::NoDriver { .. }
                | Error::NoDevice { .. }
                | Error::NoKernelForDevice { .. }
                | Error::ModuleRejected { .. }),
            ) => Ok(Self {
                fallback: Some(Arc::new(reason)),
                ..Self::cpu()
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
        self.backend.name()
    }

    /// The device's properties; `None` for the CPU.
    pub fn info(&self) -> Option<&DeviceInfo> {
        self.backend.info()
    }

    /// Copies `data` to the device, and waits until the copy is complete.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`], or on the CPU [`Error::OutOfHostMemory`]; [`Error::Cuda`],
    /// [`Error::Deferred`].
    pub fn upload<T: Element>(&self, data: &[T]) -> Result<Buffer<T>, Error> {
        match &self.backend {
            cpu @ Backend::Cpu(_) => Ok(Buffer::host(cpu, host::copy(data)?)),
            Backend::Gpu(stream) => {
                let memory = DeviceMemory::upload(stream, data)?;
                Ok(Buffer::device(stream, data.len(), memory))
            }
        }
    }

    /// Allocates an array of `len` elements, all bytes zero.
    ///
    /// # Errors
    ///
    /// As [`Device::upload`].
    pub fn alloc<T: Element>(&self, len: usize) -> Result<Buffer<T>, Error> {
        match &self.backend {
            cpu @ Backend::Cpu(_) => Ok(Buffer::host(cpu, host::zeroes(len)?)),
            Backend::Gpu(stream) => {
                let memory = DeviceMemory::filled(stream, len, 0)?;
                Ok(Buffer::device(stream, len, memory))
            }
        }
    }

    /// A view of host memory, for the CPU device. Nothing is copied.
    ///
    /// ```
    /// use warpfold::{Device, Sum};
    ///
    /// let cpu = Device::cpu();
    /// let data = [1, 2, 3];
    /// assert_eq!(cpu.reduce(cpu.view_host(&data)?, Sum).run()?, 6);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::NeedsCpu`] on a GPU, whose kernels read device memory: [`upload`](Self::upload) first.
    pub fn view_host<'a, T: Element>(&'a self, data: &'a [T]) -> Result<View<'a, T>, Error> {
        match &self.backend {
            cpu @ Backend::Cpu(_) => Ok(View::of_slice(cpu, data)),
            Backend::Gpu(_) => Err(Error::NeedsCpu {
                what: "a view of host memory",
            }),
        }
    }

    /// Measures the time of `work` on the device's stream, in milliseconds.
    ///
    /// Records an event before and an event after the work, and waits for the second. On the CPU, measures
    /// wall-clock time.
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
    /// Those of `work`; [`Error::Cuda`], also for a fault in a kernel; [`Error::Deferred`].
    pub fn time(&self, work: impl FnOnce() -> Result<(), Error>) -> Result<f64, Error> {
        match &self.backend {
            Backend::Cpu(_) => {
                let start = Instant::now();
                work()?;
                Ok(start.elapsed().as_secs_f64() * 1e3)
            }
            Backend::Gpu(stream) => stream.time(work),
        }
    }

    /// Copies the elements of a buffer or a view to the host, after all work on this device's stream.
    ///
    /// # Errors
    ///
    /// [`Error::OtherDevice`]; [`Error::OutOfHostMemory`]; [`Error::Cuda`], also for the fault of an
    /// earlier kernel; [`Error::Deferred`].
    pub fn download<'a, T: Element>(&self, view: impl Input<'a, T>) -> Result<Vec<T>, Error> {
        let view = view.into_views();
        self.check_owner(&view)?;
        view.download_on(&self.backend)
    }

    /// The same device with a new stream.
    ///
    /// Work on the new stream may run at the same time as work on this one. Buffers belong to the device; all
    /// its streams may use them.
    ///
    /// Only [`wait_for`](Self::wait_for) and waiting on the host order the work of two streams. If one stream
    /// writes a buffer while another reads it, the reader sees a mix of old and new elements. A stream of the
    /// CPU does each call's work at once; like a GPU's stream, it refuses the [`Scratch`] of another stream.
    ///
    /// ```
    /// # use warpfold::{Device, Sum};
    /// let device = Device::auto()?;
    /// let other = device.new_stream()?;
    /// let x = device.upload(&[1, 2, 3])?;
    /// assert_eq!(other.sum(&x)?, 6);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Cuda`], [`Error::Deferred`].
    pub fn new_stream(&self) -> Result<Self, Error> {
        Ok(self.on(self.backend.new_stream()?))
    }

    /// The same device on a stream of other code, a `CUstream`, for reductions between that code's work.
    ///
    /// The stream may be captured. [`reduce_into`](Self::reduce_into), those for
    /// [segments](Self::reduce_segments_into), [rows](Self::reduce_rows_into) and [axes](Self::reduce_axis_into), and
    /// [`Plan::enqueue`](crate::Plan::enqueue) make only calls that a capture allows, if they have been
    /// called once before. A call that waits, for its result or for the number of runs or groups, returns
    /// [`Error::Cuda`] and makes the capture invalid. During a capture in global mode, the driver refuses memory
    /// allocations on all threads; in the other modes other threads may use the device as usual.
    ///
    /// # Safety
    ///
    /// - `stream` is a stream of the device's primary context. It is destroyed only after the last clone of
    ///   the returned device, and after everything that was made with it, has been dropped.
    /// - Work that is enqueued during a capture runs when the graph is launched, and this library does not
    ///   wait for it. Everything that was passed to those calls must live until the last launch is complete.
    ///
    /// # Errors
    ///
    /// [`Error::NeedsGpu`] on the CPU.
    pub unsafe fn on_stream_ptr(&self, stream: *mut std::ffi::c_void) -> Result<Self, Error> {
        match &self.backend {
            Backend::Cpu(_) => Err(Error::NeedsGpu { what: "a stream" }),
            Backend::Gpu(queue) => {
                // SAFETY: the caller's contract.
                let stream = unsafe { Stream::borrowed(queue.gpu(), stream.cast()) };
                Ok(self.on(Backend::Gpu(Queue::new(stream))))
            }
        }
    }

    /// Makes the work that is enqueued here from now on begin after the work enqueued on `other` so far.
    /// Returns at once.
    ///
    /// # Errors
    ///
    /// [`Error::OtherDevice`]; [`Error::Cuda`], [`Error::Deferred`].
    pub fn wait_for(&self, other: &Self) -> Result<(), Error> {
        self.backend.check_same(&other.backend)?;
        match (&self.backend, &other.backend) {
            (Backend::Gpu(stream), Backend::Gpu(other)) => stream.wait_for(other),
            _ => Ok(()),
        }
    }

    /// Waits until all enqueued work is complete.
    ///
    /// # Errors
    ///
    /// [`Error::Cuda`], also for a fault in a kernel; [`Error::Deferred`].
    pub fn synchronize(&self) -> Result<(), Error> {
        match &self.backend {
            Backend::Cpu(_) => Ok(()),
            Backend::Gpu(stream) => stream.gpu().enter().and_then(|()| stream.synchronize()),
        }
    }

    /// Whether all enqueued work is complete, so that [`synchronize`](Self::synchronize) would not wait.
    /// Always true on the CPU.
    ///
    /// # Errors
    ///
    /// [`Error::Cuda`], also for a fault in a kernel; [`Error::Deferred`].
    pub fn is_idle(&self) -> Result<bool, Error> {
        self.queue().map_or(Ok(true), |queue| queue.is_idle())
    }

    /// The device's stream as a `CUstream`, for code that launches its own kernels between calls of this
    /// library.
    ///
    /// Null for the CPU. Valid as long as the device lives.
    pub fn stream_ptr(&self) -> *mut std::ffi::c_void {
        match &self.backend {
            Backend::Cpu(_) => std::ptr::null_mut(),
            Backend::Gpu(stream) => stream.handle().cast(),
        }
    }

    /// Compiles `ptx` with the driver's compiler and discards the module.
    #[doc(hidden)]
    pub fn try_module(&self, ptx: &std::ffi::CStr) -> Result<(), Error> {
        match &self.backend {
            Backend::Cpu(_) => Ok(()),
            Backend::Gpu(stream) => {
                stream.gpu().enter()?;
                module::load("tried", ptx).map(drop)
            }
        }
    }

    pub(crate) fn backend(&self) -> &Backend {
        &self.backend
    }

    /// The GPU's stream; `None` for the CPU.
    pub(crate) fn queue(&self) -> Option<&Arc<Queue>> {
        self.backend.queue()
    }

    pub(crate) fn check_owner<T: Element>(&self, view: &View<'_, T>) -> Result<(), Error> {
        self.backend.check_same(view.owner())
    }

    /// The number of items; an error unless the arrays are on this device, which has the kernel registered.
    pub(crate) fn check_input<I: Items>(
        &self,
        views: I::Of<Views<'_>>,
        entry: &'static Entry,
    ) -> Result<usize, Error> {
        self.check_knows(entry)?;
        input::check::<I>(views, &self.backend)
    }

    /// An error unless the kernel is in a list that is registered with this device.
    pub(crate) fn check_knows(&self, entry: &'static Entry) -> Result<(), Error> {
        let is_known = |list: &Kernels| std::ptr::eq(list, entry.set);
        match is_known(module::LIBRARY.kernels) || self.lists.iter().any(|list| is_known(list)) {
            true => Ok(()),
            false => Err(Error::NotRegistered {
                entry: entry.name,
                package: entry.set.name,
            }),
        }
    }
}

/// `the CPU`, or name and index: `NVIDIA H200 (device 0)`.
impl std::fmt::Display for Device {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.backend.fmt(f)
    }
}

impl std::fmt::Debug for Device {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Device({self})")
    }
}
