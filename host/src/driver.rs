//! Driver calls that `cust` lacks, made through `cust_raw`, and complete errors.

use std::env;
use std::ffi::{CStr, c_void};
use std::ptr;

use cust::CudaFlags;
use cust::error::CudaResult;
use cust::sys::{self, CUjit_option, CUresult, CUstream, CUstream_flags, CUstreamCaptureStatus};
use libcuda::Failure;

use crate::error::Error;

/// Directs the calls of this thread to the simulator's driver, or to the driver of the GPU.
pub(crate) fn choose(simulated: bool) {
    #[cfg(feature = "simulator")]
    cuda_sim_driver::choose(simulated);
    #[cfg(not(feature = "simulator"))]
    debug_assert!(!simulated);
}

/// Initialises the driver; may be called again.
pub(crate) fn init() -> Result<(), Error> {
    libcuda::driver().map_err(|error| Error::NoDriver {
        tried: error.tried,
        reason: error.reason.clone(),
    })?;
    const NO_DEVICE: i32 = CUresult::CUDA_ERROR_NO_DEVICE as i32;
    const STUB_LIBRARY: i32 = CUresult::CUDA_ERROR_STUB_LIBRARY as i32;
    check(|| cust::init(CudaFlags::empty())).map_err(|error| match error {
        Error::Cuda {
            code: NO_DEVICE, ..
        } => no_device(),
        // The loader has found a CUDA toolkit's stub library for linking, not a driver.
        Error::Cuda {
            code: STUB_LIBRARY,
            name,
            text,
            ..
        } => Error::NoDriver {
            tried: "libcuda.so.1",
            reason: format!("{name} ({STUB_LIBRARY}): {text}"),
        },
        other => other,
    })
}

/// The error if the driver works but finds no device.
pub(crate) fn no_device() -> Error {
    Error::NoDevice {
        visible: env::var("CUDA_VISIBLE_DEVICES").ok(),
    }
}

/// Runs calls of `cust`. Its error type cannot represent newer codes, and its `Display` may panic, so the
/// error has the driver's code, name and text.
pub(crate) fn check<R>(calls: impl FnOnce() -> CudaResult<R>) -> Result<R, Error> {
    let (result, failure) = libcuda::record(calls);
    result.map_err(|error| match failure {
        Some(failure) => cuda(failure),
        // `cust` returned an error before any driver call.
        None => Error::Cuda {
            function: "cust",
            code: error as u32 as i32,
            name: format!("{error:?}"),
            text: "`cust` returned an error before it called the driver".into(),
        },
    })
}

fn cuda(failure: Failure) -> Error {
    let (name, text) = describe(failure.code);
    #[cfg(feature = "simulator")]
    if failure.code == CUresult::CUDA_ERROR_LAUNCH_FAILED as i32 && cuda_sim_driver::is_chosen() {
        return Error::Finding { text };
    }
    Error::Cuda {
        function: failure.function,
        code: failure.code,
        name,
        text,
    }
}

/// The driver's name and text for a code.
fn describe(code: i32) -> (String, String) {
    (
        libcuda::error_name(code).unwrap_or_else(|| "a code without a name".into()),
        libcuda::error_text(code).unwrap_or_else(|| "the driver has no text for it".into()),
    )
}

/// Compiles the rejected `ptx` again for the log of the driver's compiler, which `cust` cannot return.
///
/// A context must be current.
pub(crate) fn compiler_log(ptx: &CStr) -> String {
    let mut log = vec![0u8; 16 * 1024];
    let mut options = [
        CUjit_option::CU_JIT_ERROR_LOG_BUFFER,
        CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
    ];
    let mut values = [
        log.as_mut_ptr().cast::<c_void>(),
        ptr::without_provenance_mut(log.len()),
    ];
    let mut module = ptr::null_mut();
    // SAFETY: the image ends with nul. There are two options and two values. The log's address and size are
    // passed as the driver requires (sizes by value), and the log outlives the call. `module` can store one
    // handle.
    let result = unsafe {
        sys::cuModuleLoadDataEx(
            &mut module,
            ptx.as_ptr().cast(),
            options.len() as u32,
            options.as_mut_ptr(),
            values.as_mut_ptr(),
        )
    };
    if result == CUresult::CUDA_SUCCESS {
        // SAFETY: the module was loaded above, and nothing uses it.
        unsafe { sys::cuModuleUnload(module) };
    }
    let log = CStr::from_bytes_until_nul(&log).unwrap_or_default();
    log.to_string_lossy().trim().into()
}

/// Makes one call of the driver.
pub(crate) fn call(call: impl FnOnce() -> CUresult) -> Result<(), Error> {
    let (_, failure) = libcuda::record(call);
    failure.map_or(Ok(()), |failure| Err(cuda(failure)))
}

/// Waits for all work on a stream, unless the stream is captured.
///
/// Captured work does not run before the capturing code launches it, and a wait would invalidate the capture.
///
/// # Safety
///
/// The stream is alive, and its context is current.
pub(crate) unsafe fn wait_unless_captured(stream: CUstream) -> Result<(), Error> {
    // SAFETY: the caller's contract.
    if unsafe { is_captured(stream) }? {
        return Ok(());
    }
    // SAFETY: the caller's contract.
    call(|| unsafe { sys::cuStreamSynchronize(stream) })
}

/// Whether calls on a stream are captured, so that they run when the graph is launched, and each time.
///
/// # Safety
///
/// The stream is alive, and its context is current.
pub(crate) unsafe fn is_captured(stream: CUstream) -> Result<bool, Error> {
    let mut status = CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE;
    // SAFETY: the caller's contract; `status` can store the status.
    call(|| unsafe { sys::cuStreamIsCapturing(stream, &mut status) })?;
    Ok(!matches!(
        status,
        CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE
    ))
}

/// Makes a stream of the current context that does not synchronise with the null stream. (`cust` removes the
/// flag for that.)
pub(crate) fn create_stream() -> Result<CUstream, Error> {
    let mut stream = ptr::null_mut();
    let flags = CUstream_flags::CU_STREAM_NON_BLOCKING as u32;
    // SAFETY: `stream` can store a handle.
    call(|| unsafe { sys::cuStreamCreateWithPriority(&mut stream, flags, 0) })?;
    Ok(stream)
}

/// Allocates device memory in the current context and returns its address.
pub(crate) fn allocate(bytes: usize) -> Result<u64, Error> {
    let mut address = 0;
    // SAFETY: `address` can store an address.
    call(|| unsafe { sys::cuMemAlloc_v2(&mut address, bytes) })?;
    Ok(address)
}

/// Frees device memory.
///
/// # Safety
///
/// [`allocate`] returned the address, its context is current, and nothing uses the memory any more.
pub(crate) unsafe fn free(address: u64) -> Result<(), Error> {
    // SAFETY: the caller's contract.
    call(|| unsafe { sys::cuMemFree_v2(address) })
}

/// Allocates pinned host memory for host and device, aligned to a page.
pub(crate) fn allocate_on_host(bytes: usize) -> Result<*mut c_void, Error> {
    let mut address = ptr::null_mut();
    // SAFETY: `address` can store an address.
    call(|| unsafe { sys::cuMemAllocHost_v2(&mut address, bytes) })?;
    Ok(address)
}

/// Frees pinned host memory.
///
/// # Safety
///
/// [`allocate_on_host`] returned the address, its context is current, and nothing uses the memory any more.
pub(crate) unsafe fn free_on_host(address: *mut c_void) -> Result<(), Error> {
    // SAFETY: the caller's contract.
    call(|| unsafe { sys::cuMemFreeHost(address) })
}

/// The device whose memory is at `address`; `None` if the driver does not know the address.
pub(crate) fn device_of(address: u64) -> Result<Option<u32>, Error> {
    const INVALID_VALUE: i32 = CUresult::CUDA_ERROR_INVALID_VALUE as i32;
    let mut index = 0i32;
    let attribute = sys::CUpointer_attribute::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL;
    let value = (&raw mut index).cast();
    // SAFETY: the attribute is an int, and `value` points to one; any address may be queried.
    match call(|| unsafe { sys::cuPointerGetAttribute(value, attribute, address) }) {
        Ok(()) => Ok(u32::try_from(index).ok()),
        Err(Error::Cuda {
            code: INVALID_VALUE,
            ..
        }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Fills device memory with one byte, in stream order.
///
/// # Safety
///
/// - The stream's context is current.
/// - `address` points to `bytes` bytes of device memory that stay allocated until the stream has been waited
///   for, and in which any bit pattern is valid.
pub(crate) unsafe fn fill(
    address: u64,
    byte: u8,
    bytes: usize,
    stream: CUstream,
) -> Result<(), Error> {
    // SAFETY: the caller's contract.
    call(|| unsafe { sys::cuMemsetD8Async(address, byte, bytes, stream) })
}

/// Copies to the device, in stream order.
///
/// # Safety
///
/// - The stream's context is current.
/// - Both ranges are `bytes` long. They stay allocated, and others do not change them, until the stream has
///   been waited for.
pub(crate) unsafe fn copy_to_device(
    to: u64,
    from: *const c_void,
    bytes: usize,
    stream: CUstream,
) -> Result<(), Error> {
    // SAFETY: the caller's contract.
    call(|| unsafe { sys::cuMemcpyHtoDAsync_v2(to, from, bytes, stream) })
}

/// Copies to the host, in stream order.
///
/// # Safety
///
/// As for [`copy_to_device`]; in addition, the host does not read `to` before the stream has been waited for.
pub(crate) unsafe fn copy_to_host(
    to: *mut c_void,
    from: u64,
    bytes: usize,
    stream: CUstream,
) -> Result<(), Error> {
    // SAFETY: the caller's contract.
    call(|| unsafe { sys::cuMemcpyDtoHAsync_v2(to, from, bytes, stream) })
}

/// Copies on the device, in stream order.
///
/// # Safety
///
/// As for [`copy_to_device`], and the ranges do not overlap.
pub(crate) unsafe fn copy_on_device(
    to: u64,
    from: u64,
    bytes: usize,
    stream: CUstream,
) -> Result<(), Error> {
    // SAFETY: the caller's contract.
    call(|| unsafe { sys::cuMemcpyDtoDAsync_v2(to, from, bytes, stream) })
}
