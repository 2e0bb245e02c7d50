//! Streams: what is enqueued on one is done in the order of the calls.

use std::ffi::c_void;
use std::sync::Arc;

use cust::sys::{self, CUevent, CUevent_flags, CUresult, CUstream};

use crate::driver;
use crate::error::Error;
use crate::gpu::Gpu;
use crate::module::Function;

/// A stream of a device. It does not wait for the null stream, nor the null stream for it.
pub(crate) struct Stream {
    handle: CUstream,
    /// Whether it is ours to destroy.
    owned: bool,
    gpu: Arc<Gpu>,
}

// SAFETY: the driver's streams may be used from any thread; the handle is never changed.
unsafe impl Send for Stream {}
// SAFETY: as above.
unsafe impl Sync for Stream {}

impl Stream {
    pub(crate) fn new(gpu: &Arc<Gpu>) -> Result<Self, Error> {
        gpu.enter()?;
        let handle = driver::create_stream()?;
        Ok(Self::of_handle(gpu, handle, true))
    }

    fn of_handle(gpu: &Arc<Gpu>, handle: CUstream, owned: bool) -> Self {
        gpu.add_stream(handle);
        Self {
            handle,
            owned,
            gpu: Arc::clone(gpu),
        }
    }

    /// A stream that somebody else destroys.
    ///
    /// # Safety
    ///
    /// It is a stream of the device's primary context, and stays one as long as this lives.
    pub(crate) unsafe fn borrowed(gpu: &Arc<Gpu>, handle: CUstream) -> Self {
        Self::of_handle(gpu, handle, false)
    }

    pub(crate) fn gpu(&self) -> &Arc<Gpu> {
        &self.gpu
    }

    pub(crate) fn handle(&self) -> CUstream {
        self.handle
    }

    /// Waits for everything on the stream. The context is current.
    pub(crate) fn synchronize(&self) -> Result<(), Error> {
        // SAFETY: the stream is alive.
        driver::call(|| unsafe { sys::cuStreamSynchronize(self.handle) })
    }

    /// Whether everything on the stream is done.
    pub(crate) fn is_idle(&self) -> Result<bool, Error> {
        self.gpu.enter()?;
        // SAFETY: the stream is alive.
        match driver::call(|| unsafe { sys::cuStreamQuery(self.handle) }) {
            Err(Error::Cuda { code, .. }) if code == CUresult::CUDA_ERROR_NOT_READY as i32 => {
                Ok(false)
            }
            result => result.map(|()| true),
        }
    }

    /// The time on the stream between before and after `work`, in milliseconds.
    pub(crate) fn time(&self, work: impl FnOnce() -> Result<(), Error>) -> Result<f64, Error> {
        self.gpu.enter()?;
        let flags = CUevent_flags::CU_EVENT_DEFAULT;
        let (start, end) = (Event::new(&self.gpu, flags)?, Event::new(&self.gpu, flags)?);
        start.record(self)?;
        work()?;
        self.gpu.enter()?;
        end.record(self)?;
        Ok(f64::from(end.since(&start)?))
    }

    /// What is enqueued here from now on begins after what has been enqueued on `other` so far.
    pub(crate) fn wait_for(&self, other: &Self) -> Result<(), Error> {
        self.gpu.enter()?;
        let event = Event::without_time(&self.gpu)?;
        event.record(other)?;
        self.wait_for_event(&event)
    }

    /// What is enqueued here from now on begins after what was on `event`'s stream when it was recorded
    /// last. The context is current.
    pub(crate) fn wait_for_event(&self, event: &Event) -> Result<(), Error> {
        // SAFETY: stream and event are alive; the driver keeps what it needs of the event.
        driver::call(|| unsafe { sys::cuStreamWaitEvent(self.handle, event.handle, 0) })
    }

    /// Puts a launch on the stream and returns.
    ///
    /// # Safety
    ///
    /// `arguments` point at what the function's parameters are, and what they say is as the function
    /// asks.
    pub(crate) unsafe fn launch(
        &self,
        function: &Function,
        blocks: u32,
        threads: u32,
        shared_bytes: u32,
        arguments: &[*const c_void],
    ) -> Result<(), Error> {
        // SAFETY: the caller's contract; the driver only reads the list of arguments.
        driver::call(|| unsafe {
            sys::cuLaunchKernel(
                function.handle(),
                blocks,
                1,
                1,
                threads,
                1,
                1,
                shared_bytes,
                self.handle,
                arguments.as_ptr().cast::<*mut c_void>().cast_mut(),
                std::ptr::null_mut(),
            )
        })
    }
}

/// A point in a stream. The context is current wherever one is used.
pub(crate) struct Event {
    handle: CUevent,
    gpu: Arc<Gpu>,
}

// SAFETY: the driver's events may be used from any thread; the handle is never changed.
unsafe impl Send for Event {}
// SAFETY: as above.
unsafe impl Sync for Event {}

impl Event {
    /// One that takes no time.
    pub(crate) fn without_time(gpu: &Arc<Gpu>) -> Result<Self, Error> {
        Self::new(gpu, CUevent_flags::CU_EVENT_DISABLE_TIMING)
    }

    fn new(gpu: &Arc<Gpu>, flags: CUevent_flags) -> Result<Self, Error> {
        let mut handle = std::ptr::null_mut();
        // SAFETY: a place for a handle.
        driver::call(|| unsafe { sys::cuEventCreate(&mut handle, flags as u32) })?;
        let gpu = Arc::clone(gpu);
        Ok(Self { handle, gpu })
    }

    pub(crate) fn record(&self, stream: &Stream) -> Result<(), Error> {
        // SAFETY: both are alive and of the same context.
        driver::call(|| unsafe { sys::cuEventRecord(self.handle, stream.handle) })
    }

    /// Waits for what was on the stream when it was recorded last.
    pub(crate) fn wait(&self) -> Result<(), Error> {
        // SAFETY: it is alive.
        driver::call(|| unsafe { sys::cuEventSynchronize(self.handle) })
    }

    /// Waits for both; the milliseconds between them.
    fn since(&self, start: &Self) -> Result<f32, Error> {
        let mut milliseconds = 0.0;
        self.wait()?;
        let (start, end) = (start.handle, self.handle);
        // SAFETY: both are alive and recorded, with their times; a place for the answer.
        driver::call(|| unsafe { sys::cuEventElapsedTime(&mut milliseconds, start, end) })?;
        Ok(milliseconds)
    }
}

/// The driver keeps what it still needs of it.
impl Drop for Event {
    fn drop(&mut self) {
        self.gpu.in_drop(|| {
            // SAFETY: made by `new`, and not used again.
            driver::call(|| unsafe { sys::cuEventDestroy_v2(self.handle) })
        });
    }
}

/// Waits for the stream; what fails is said by the device's next call.
impl Drop for Stream {
    fn drop(&mut self) {
        self.gpu.in_drop(|| {
            // SAFETY: it is alive: ours, or borrowed by the contract of `borrowed`.
            let waited = unsafe { driver::wait_unless_captured(self.handle) };
            self.gpu.remove_stream(self.handle);
            if !self.owned {
                return waited;
            }
            // SAFETY: made by `new`, and nothing uses it any more.
            let destroyed = driver::call(|| unsafe { sys::cuStreamDestroy_v2(self.handle) });
            waited.and(destroyed)
        });
    }
}
