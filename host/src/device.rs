//! Devices: what computes, and what owns the memory.

use std::sync::Arc;
use std::time::Instant;

use kernels_gpu::entry::{Entry, Kernels};

use crate::backend::{Backend, Queue};
use crate::buffer::{Buffer, View};
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

/// A CUDA device, or the CPU in its place. Cheap to clone; clones are the same device.
///
/// Open a device once and clone it. Opened twice, it is two devices, each with a stream of its
/// own, and neither takes the other's buffers ([`Error::OtherDevice`]).
///
/// It may be used from several threads at once: each call makes the device's primary context
/// current on its thread and leaves it so. All work of one `Device` and its clones goes to one
/// stream, in the order of the calls; [`new_stream`](Self::new_stream) gives the same device with
/// another, for work at the same time.
///
/// A failure in a destructor is reported by the next call on the same device, as
/// [`Error::Deferred`]; only what fails while the last clone itself is dropped is lost.
#[derive(Clone)]
pub struct Device {
    backend: Backend,
    /// The lists of kernels that the caller has registered, beside the library's own.
    lists: Arc<[&'static Kernels]>,
    /// Why [`Device::auto`] chose the CPU.
    fallback: Option<Arc<Error>>,
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

    /// A simulated GPU, for tests: every launch is run on the CPU, thread by thread, with all checks on. The
    /// feature `simulator` adds it.
    ///
    /// A race, a read of uninitialised memory, an access out of bounds, a member mask that the lanes do not keep,
    /// or a deadlock is [`Error::Finding`], which has the lines of the kernel that it is about. The device is
    /// unusable after it, as a GPU's context would be; open another. Each call opens a device of its own, so that
    /// tests can run side by side, and beside a GPU.
    ///
    /// The kernels of this library run about as fast as 10 million elements a second in an optimised build; in an
    /// unoptimised one much slower.
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
    /// None that a caller could meet: [`Error::Cuda`] would be a mistake of the simulator's.
    #[cfg(feature = "simulator")]
    pub fn simulated() -> Result<Self, Error> {
        Self::of_gpu(Gpu::open(cuda_sim_driver::add_device(), true)?)
    }

    fn of_backend(backend: Backend) -> Self {
        Self {
            backend,
            lists: Arc::new([]),
            fallback: None,
        }
    }

    /// The same device on another stream.
    fn on(&self, backend: Backend) -> Self {
        Self {
            backend,
            lists: Arc::clone(&self.lists),
            fallback: None,
        }
    }

    /// The same device, which knows the kernels of another crate as well: those that
    /// [`embedded!`](crate::embedded) has put into the program. Nothing is loaded before it is used.
    ///
    /// Without it, a call that needs one of them is [`Error::NotRegistered`], on the CPU too, so that a test
    /// without a GPU finds that it is missing.
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

    /// Scratch memory for [`Device::reduce_into`], which then allocates nothing.
    ///
    /// On a GPU about 200 KB, whatever is reduced; on the CPU nothing.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`], [`Error::Cuda`], [`Error::Deferred`].
    pub fn scratch(&self) -> Result<Scratch, Error> {
        Scratch::new(&self.backend)
    }

    /// The CPU: the same calls on all cores of this machine. As a GPU, it is another device each time that
    /// it is opened.
    pub fn cpu() -> Self {
        Self::of_backend(Backend::cpu())
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

    /// What the driver says of the device; `None` for the CPU.
    pub fn info(&self) -> Option<&DeviceInfo> {
        self.backend.info()
    }

    /// A copy of `data` on the device. It has arrived when this returns.
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

    /// An array of `len` elements, all bytes zero.
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

    /// Elements in host memory as a view on the CPU, which reads them in place: nothing is copied.
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
            Backend::Cpu(_) => {
                let start = Instant::now();
                work()?;
                Ok(start.elapsed().as_secs_f64() * 1e3)
            }
            Backend::Gpu(stream) => stream.time(work),
        }
    }

    /// The elements of a buffer or of a part of it, copied to the host after all work on this device's
    /// stream.
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

    /// The same device with a stream of its own: what is enqueued there may be done at the same time
    /// as what is enqueued here. Buffers are of the device and may be used on all of its streams.
    ///
    /// Nothing orders two streams but [`wait_for`](Self::wait_for) and waiting on the host: a buffer
    /// that one stream writes and another reads meanwhile holds some of either. A stream of the CPU does
    /// everything at once, and is a stream of its own only in what it refuses: another one's
    /// [`Scratch`].
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

    /// The same device on a stream of other code's, a `CUstream`, for reductions between its own work.
    ///
    /// It may be captured: [`reduce_into`](Self::reduce_into) and
    /// [`Plan::enqueue`](crate::Plan::enqueue) make only calls that can be, once they have been called
    /// before. Meanwhile other threads may use the device as ever if the capture's mode is not the global
    /// one, in which the driver refuses all threads to allocate memory.
    ///
    /// # Safety
    ///
    /// - `stream` is a stream of the device's primary context, and is destroyed after the last clone of
    ///   what this returns and after all that was made with it.
    /// - What is enqueued while it is captured is done when the graph is launched, and nobody waits for
    ///   that: all that was given to those calls lives until the last launch has been waited for.
    ///
    /// # Errors
    ///
    /// [`Error::NeedsGpu`] on the CPU.
    pub unsafe fn on_stream_ptr(&self, stream: *mut std::ffi::c_void) -> Result<Self, Error> {
        match &self.backend {
            Backend::Cpu(_) => Err(Error::NeedsGpu { what: "a stream" }),
            Backend::Gpu(own) => {
                // SAFETY: the caller's contract.
                let stream = unsafe { Stream::borrowed(own.gpu(), stream.cast()) };
                Ok(self.on(Backend::Gpu(Queue::new(stream))))
            }
        }
    }

    /// What is enqueued here from now on begins after what has been enqueued on `other` so far. It
    /// does not wait itself.
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

    /// Waits for everything enqueued so far.
    ///
    /// # Errors
    ///
    /// [`Error::Cuda`], also for a kernel's own fault; [`Error::Deferred`].
    pub fn synchronize(&self) -> Result<(), Error> {
        match &self.backend {
            Backend::Cpu(_) => Ok(()),
            Backend::Gpu(stream) => stream.gpu().enter().and_then(|()| stream.synchronize()),
        }
    }

    /// Whether everything enqueued so far is done, so that [`synchronize`](Self::synchronize) would not wait.
    /// On the CPU always.
    ///
    /// # Errors
    ///
    /// [`Error::Cuda`], also for a kernel's own fault; [`Error::Deferred`].
    pub fn is_idle(&self) -> Result<bool, Error> {
        self.queue().map_or(Ok(true), |queue| queue.is_idle())
    }

    /// The device's stream as a `CUstream`, for code that launches kernels of its own between
    /// ours. Null for the CPU. Valid as long as the device.
    pub fn stream_ptr(&self) -> *mut std::ffi::c_void {
        match &self.backend {
            Backend::Cpu(_) => std::ptr::null_mut(),
            Backend::Gpu(stream) => stream.handle().cast(),
        }
    }

    /// Gives `ptx` to the driver's compiler and forgets the outcome unless it is an error.
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

    /// The number of items, where this device has them and knows the kernel.
    pub(crate) fn check_input<I: Items>(
        &self,
        views: I::Of<Views<'_>>,
        entry: &'static Entry,
    ) -> Result<usize, Error> {
        self.check_knows(entry)?;
        input::check::<I>(views, &self.backend)
    }

    /// Whether the kernel is of a list that this device knows.
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
