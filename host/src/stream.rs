//! Streams: the work on one stream is done in the order of the calls.

use std::ffi::c_void;
use std::sync::Arc;

use cust::sys::{self, CUevent, CUevent_flags, CUresult, CUstream};

use crate::driver;
use crate::error::Error;
use crate::gpu::Gpu;
use crate::module::Function;

/// A stream of a device. It does not synchronise with the null stream.
pub(crate) struct Stream {
    handle: CUstream,
    /// Whether dropping it destroys the stream.
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

    /// A stream that other code destroys.
    ///
    /// # Safety
    ///
    /// It is a stream of the device's primary context, and stays alive as long as this value.
    pub(crate) unsafe fn borrowed(gpu: &Arc<Gpu>, handle: CUstream) -> Self {
        Self::of_handle(gpu, handle, false)
    }

    pub(crate) fn gpu(&self) -> &Arc<Gpu> {
        &self.gpu
    }

    pub(crate) fn handle(&self) -> CUstream {
        self.handle
    }

    /// Whether calls on the stream are captured. The context must be current.
    pub(crate) fn is_captured(&self) -> Result<bool, Error> {
        // SAFETY: it is alive.
        unsafe { driver::is_captured(self.handle) }
    }

    /// Waits for all work on the stream. The context must be current.
    pub(crate) fn synchronize(&self) -> Result<(), Error> {
        // SAFETY: the stream is alive.
        driver::call(|| unsafe { sys::cuStreamSynchronize(self.handle) })
    }

    /// Whether all work on the stream is complete.
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

    /// Measures the time of `work` on the stream, in milliseconds.
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

    /// Makes the work that is enqueued here from now on begin after the work enqueued on `other` so far.
    pub(crate) fn wait_for(&self, other: &Self) -> Result<(), Error> {
        self.gpu.enter()?;
        let event = Event::without_time(&self.gpu)?;
        event.record(other)?;
        self.wait_for_event(&event)
    }

    /// Makes the work that is enqueued here from now on begin after the last recording of `event`. The
    /// context must be current.
    pub(crate) fn wait_for_event(&self, event: &Event) -> Result<(), Error> {
        // SAFETY: stream and event are alive; the driver keeps its own reference to the event.
        driver::call(|| unsafe { sys::cuStreamWaitEvent(self.handle, event.handle, 0) })
    }

    /// Enqueues a launch and returns.
    ///
    /// # Safety
    ///
    /// `arguments` point to the values of the function's parameters, and these meet the function's contract.
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

/// A point in a stream. The context must be current in every call.
pub(crate) struct Event {
    handle: CUevent,
    gpu: Arc<Gpu>,
}

// SAFETY: the driver's events may be used from any thread; the handle is never changed.
unsafe impl Send for Event {}
// SAFETY: as above.
unsafe impl Sync for Event {}

impl Event {
    /// An event that does not record times.
    pub(crate) fn without_time(gpu: &Arc<Gpu>) -> Result<Self, Error> {
        Self::new(gpu, CUevent_flags::CU_EVENT_DISABLE_TIMING)
    }

    fn new(gpu: &Arc<Gpu>, flags: CUevent_flags) -> Result<Self, Error> {
        let mut handle = std::ptr::null_mut();
        // SAFETY: `handle` can store a handle.
        driver::call(|| unsafe { sys::cuEventCreate(&mut handle, flags as u32) })?;
        let gpu = Arc::clone(gpu);
        Ok(Self { handle, gpu })
    }

    pub(crate) fn record(&self, stream: &Stream) -> Result<(), Error> {
        // SAFETY: both are alive and of the same context.
        driver::call(|| unsafe { sys::cuEventRecord(self.handle, stream.handle) })
    }

    /// Waits for the work that was on the stream at the last recording.
    pub(crate) fn wait(&self) -> Result<(), Error> {
        // SAFETY: it is alive.
        driver::call(|| unsafe { sys::cuEventSynchronize(self.handle) })
    }

    /// Waits for both events; returns the milliseconds between them.
    fn since(&self, start: &Self) -> Result<f32, Error> {
        let mut milliseconds = 0.0;
        self.wait()?;
        let (start, end) = (start.handle, self.handle);
        // SAFETY: both are alive and recorded, with times; `milliseconds` can store the result.
        driver::call(|| unsafe { sys::cuEventElapsedTime(&mut milliseconds, start, end) })?;
        Ok(milliseconds)
    }
}

/// The driver keeps its own reference as long as it needs the event.
impl Drop for Event {
    fn drop(&mut self) {
        self.gpu.in_drop(|| {
            // SAFETY: made by `new`, and not used again.
            driver::call(|| unsafe { sys::cuEventDestroy_v2(self.handle) })
        });
    }
}

/// Waits for the stream; the device's next call returns an error that occurs here.
impl Drop for Stream {
    fn drop(&mut self) {
        self.gpu.in_drop(|| {
            // SAFETY: it is alive: owned, or borrowed by the contract of `borrowed`.
            let waited = unsafe { driver::wait_unless_captured(self.handle) };
            self.gpu.remove_stream(self.handle);
            if !self.owned {
                return waited;
            }
            // SAFETY: made by `new`, and not used any more.
            let destroyed = driver::call(|| unsafe { sys::cuStreamDestroy_v2(self.handle) });
            waited.and(destroyed)
        });
    }
}
