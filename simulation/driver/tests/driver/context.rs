//! The driver's calls with result codes as numbers, in a context for one test at a time.

use std::ffi::{CStr, c_void};
use std::ptr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use cust_raw::*;

/// An error code.
pub type Code = i32;

/// The device's context, created for one test and destroyed at its end.
pub struct Context(#[allow(dead_code, reason = "locks out other tests")] MutexGuard<'static, ()>);

pub fn call(call: impl FnOnce() -> CUresult) -> Result<(), Code> {
    let (_, failure) = libcuda::record(call);
    failure.map_or(Ok(()), |failure| Err(failure.code))
}

impl Context {
    pub fn new() -> Self {
        static EXCLUSIVE: Mutex<()> = Mutex::new(());
        let guard = EXCLUSIVE.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = cuda_sim_driver::install(); // succeeds in the first test
        let mut context = ptr::null_mut();
        // SAFETY: a pointer to a handle.
        let made = call(|| unsafe {
            cuInit(0);
            cuDevicePrimaryCtxRetain(&mut context, 0);
            cuCtxSetCurrent(context)
        });
        assert_eq!(made, Ok(()));
        assert_eq!(cuda_sim_driver::allocated_bytes(), 0);
        Self(guard)
    }

    pub fn alloc(&self, bytes: usize) -> Result<u64, Code> {
        let mut address = 0;
        // SAFETY: a pointer to an address.
        call(|| unsafe { cuMemAlloc_v2(&mut address, bytes) }).map(|()| address)
    }

    pub fn free(&self, address: u64) -> Result<(), Code> {
        // SAFETY: the driver checks the address.
        call(|| unsafe { cuMemFree_v2(address) })
    }

    pub fn write(&self, to: u64, from: &[i32]) -> Result<(), Code> {
        let (from, bytes) = (from.as_ptr().cast(), size_of_val(from));
        // SAFETY: the source is a slice; the driver checks the address.
        call(|| unsafe { cuMemcpyHtoDAsync_v2(to, from, bytes, ptr::null_mut()) })
    }

    pub fn read(&self, from: u64, len: usize) -> Result<Vec<i32>, Code> {
        let mut to = vec![0i32; len];
        let (target, bytes) = (to.as_mut_ptr().cast(), size_of_val(&to[..]));
        // SAFETY: the target is a slice; the driver checks the address.
        call(|| unsafe { cuMemcpyDtoHAsync_v2(target, from, bytes, ptr::null_mut()) }).map(|()| to)
    }

    pub fn copy(&self, to: u64, from: u64, bytes: usize, stream: CUstream) -> Result<(), Code> {
        // SAFETY: the driver checks the addresses.
        call(|| unsafe { cuMemcpyDtoDAsync_v2(to, from, bytes, stream) })
    }

    pub fn fill(&self, to: u64, byte: u8, bytes: usize, stream: CUstream) -> Result<(), Code> {
        // SAFETY: the driver checks the address.
        call(|| unsafe { cuMemsetD8Async(to, byte, bytes, stream) })
    }

    /// Allocates an array with these elements.
    pub fn upload(&self, elements: &[i32]) -> u64 {
        let address = self.alloc(size_of_val(elements)).unwrap();
        self.write(address, elements).unwrap();
        address
    }

    pub fn synchronize(&self) -> Result<(), Code> {
        // SAFETY: the call has no requirements.
        call(|| unsafe { cuCtxSynchronize() })
    }

    pub fn stream(&self) -> CUstream {
        let mut stream = ptr::null_mut();
        // SAFETY: a pointer to a handle.
        call(|| unsafe { cuStreamCreateWithPriority(&mut stream, 1, 0) }).unwrap();
        stream
    }

    pub fn begin_capture(&self, stream: CUstream) -> Result<(), Code> {
        let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_GLOBAL;
        // SAFETY: the driver checks the stream.
        call(|| unsafe { cuStreamBeginCapture_v2(stream, mode) })
    }

    pub fn is_capturing(&self, stream: CUstream) -> Result<bool, Code> {
        let mut status = CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE;
        // SAFETY: a pointer to the status.
        call(|| unsafe { cuStreamIsCapturing(stream, &mut status) })?;
        Ok(status == CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_ACTIVE)
    }

    pub fn end_capture(&self, stream: CUstream) -> Result<CUgraph, Code> {
        let mut graph = ptr::null_mut();
        // SAFETY: a pointer to a handle.
        call(|| unsafe { cuStreamEndCapture(stream, &mut graph) }).map(|()| graph)
    }

    pub fn load(&self, image: &CStr) -> Result<CUmodule, Code> {
        let mut module = ptr::null_mut();
        // SAFETY: a pointer to a handle, and a nul-terminated text.
        call(|| unsafe { cuModuleLoadData(&mut module, image.as_ptr().cast()) }).map(|()| module)
    }

    pub fn function(&self, module: CUmodule, name: &CStr) -> Result<CUfunction, Code> {
        let mut function = ptr::null_mut();
        // SAFETY: as above.
        call(|| unsafe { cuModuleGetFunction(&mut function, module, name.as_ptr()) })
            .map(|()| function)
    }

    /// Launches a kernel whose parameters are 64-bit words.
    pub fn launch(
        &self,
        function: CUfunction,
        [blocks, threads, shared]: [u32; 3],
        stream: CUstream,
        mut words: Vec<u64>,
    ) -> Result<(), Code> {
        let mut values: Vec<*mut c_void> = words
            .iter_mut()
            .map(|word| ptr::from_mut(word).cast())
            .collect();
        let (values, none) = (values.as_mut_ptr(), ptr::null_mut());
        // SAFETY: a value for each parameter; the driver checks the values.
        call(|| unsafe {
            cuLaunchKernel(
                function, blocks, 1, 1, threads, 1, 1, shared, stream, values, none,
            )
        })
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: `new` has retained the context.
        let released = call(|| unsafe { cuDevicePrimaryCtxRelease_v2(0) });
        if !std::thread::panicking() {
            assert_eq!(released, Ok(()));
        }
    }
}
