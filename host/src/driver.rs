//! What `cust` lacks, through its own `cust_raw`; and its errors made whole.

use std::env;
use std::ffi::{CStr, c_void};
use std::ptr;

use cust::CudaFlags;
use cust::error::CudaResult;
use cust::memory::{DeviceCopy, DeviceSlice};
use cust::stream::Stream;
use cust::sys::{self, CUjit_option, CUresult};
use libcuda::Failure;

use crate::error::Error;

/// Starts the driver; harmless when it runs already.
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
        // The loader has found a toolkit's library for linking, not a driver.
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

/// The driver answers, and has nothing to offer.
pub(crate) fn no_device() -> Error {
    Error::NoDevice {
        visible: env::var("CUDA_VISIBLE_DEVICES").ok(),
    }
}

/// Runs calls of `cust`. Its error type has no place for codes newer than itself, and its
/// `Display` may panic; the driver's own code, name and words are taken instead.
pub(crate) fn check<R>(calls: impl FnOnce() -> CudaResult<R>) -> Result<R, Error> {
    let (result, failure) = libcuda::record(calls);
    result.map_err(|error| match failure {
        Some(failure) => cuda(failure),
        // cust refused by itself, before any driver call.
        None => Error::Cuda {
            function: "cust",
            code: error as u32 as i32,
            name: format!("{error:?}"),
            text: "refused before the driver was called".into(),
        },
    })
}

fn cuda(failure: Failure) -> Error {
    let (name, text) = words(failure.code);
    Error::Cuda {
        function: failure.function,
        code: failure.code,
        name,
        text,
    }
}

/// The driver's name of a code and its sentence on it.
fn words(code: i32) -> (String, String) {
    (
        libcuda::error_name(code).unwrap_or_else(|| "a code without a name".into()),
        libcuda::error_text(code).unwrap_or_else(|| "the driver has no text for it".into()),
    )
}

/// What the driver's compiler writes on `ptx`, which it has just refused. Asked again with
/// a place for the log, which `cust` has no way to give.
///
/// A context is current.
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
    // SAFETY: the image ends with nul; options and values are two each, the log's address
    // with its size as the driver asks for them (sizes by value), and the log outlives the
    // call. `module` is a place for one handle.
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
        // SAFETY: the module was loaded above, and nothing has been taken from it.
        unsafe { sys::cuModuleUnload(module) };
    }
    let log = CStr::from_bytes_until_nul(&log).unwrap_or_default();
    log.to_string_lossy().trim().into()
}

/// Fills device memory with one byte, in the stream's order.
///
/// # Safety
///
/// - The stream's context is current.
/// - The memory stays allocated until the stream has been waited for.
/// - Every pattern of bits is a valid `T`.
pub(crate) unsafe fn fill<T: DeviceCopy>(
    memory: &mut DeviceSlice<T>,
    byte: u8,
    stream: &Stream,
) -> Result<(), Error> {
    let bytes = memory.len() * size_of::<T>();
    let address = memory.as_device_ptr().as_raw();
    let (_, failure) = libcuda::record(|| {
        // SAFETY: the slice says that `bytes` at `address` are its own; the rest is the
        // caller's contract.
        unsafe { sys::cuMemsetD8Async(address, byte, bytes, stream.as_inner()) }
    });
    failure.map_or(Ok(()), |failure| Err(cuda(failure)))
}
