//! Names and descriptions of result codes.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::NonNull;

use cust_raw::CUresult;

use crate::driver::current;
use crate::functions::{code, put};

/// The result codes of this driver, with descriptions.
macro_rules! results {
    ($($name:ident: $text:literal;)*) => {
        fn description(code: c_int) -> Option<(&'static CStr, &'static CStr)> {
            const RESULTS: &[(CUresult, &[u8], &CStr)] = &[
                $((CUresult::$name, concat!(stringify!($name), "\0").as_bytes(), $text)),*
            ];
            let (_, name, text) = RESULTS.iter().find(|result| result.0 as c_int == code)?;
            Some((CStr::from_bytes_with_nul(name).ok()?, text))
        }
    };
}

results! {
    CUDA_SUCCESS: c"no error";
    CUDA_ERROR_INVALID_VALUE: c"invalid argument";
    CUDA_ERROR_OUT_OF_MEMORY: c"out of memory";
    CUDA_ERROR_NOT_INITIALIZED: c"cuInit has not been called";
    CUDA_ERROR_INVALID_DEVICE: c"there is no such device";
    CUDA_ERROR_INVALID_CONTEXT: c"this thread has no current context, or the context was destroyed";
    CUDA_ERROR_INVALID_PTX: c"the module is not PTX";
    CUDA_ERROR_INVALID_HANDLE: c"the handle belongs to no object of this kind";
    CUDA_ERROR_ILLEGAL_STATE: c"the capture is already active, or there is none to end";
    CUDA_ERROR_NOT_FOUND: c"there is no entry point with this name";
    CUDA_ERROR_LAUNCH_FAILED: c"the simulator found a bug in a launch";
    CUDA_ERROR_NOT_SUPPORTED: c"the simulator's driver does not support this call";
    CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED: c"this call is not allowed while a stream is captured";
    CUDA_ERROR_STREAM_CAPTURE_INVALIDATED: c"a call that cannot be captured has invalidated the capture";
    CUDA_ERROR_STREAM_CAPTURE_ISOLATION: c"a captured stream waits for an event outside its capture";
    CUDA_ERROR_CAPTURED_EVENT: c"the event was recorded in a captured stream, so it has no result now";
    CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD: c"another thread began the capture";
}

/// The code is an integer, as in `libcuda`, because callers may pass codes that `CUresult` does not contain.
type Describe = unsafe extern "C" fn(c_int, *mut *const c_char) -> CUresult;

pub fn lookup(name: &str) -> Option<NonNull<c_void>> {
    let function: Describe = match name {
        "cuGetErrorName" => error_name,
        "cuGetErrorString" => error_string,
        _ => return None,
    };
    NonNull::new(function as *mut c_void)
}

unsafe extern "C" fn error_name(error: c_int, name: *mut *const c_char) -> CUresult {
    code(|| {
        let (known, _) = description(error).ok_or(CUresult::CUDA_ERROR_INVALID_VALUE)?;
        // SAFETY: the caller passes a pointer to a text.
        unsafe { put(name, known.as_ptr()) }
    })
}

/// For a failed launch, the description is its finding.
unsafe extern "C" fn error_string(error: c_int, text: *mut *const c_char) -> CUresult {
    code(|| {
        let (_, known) = description(error).ok_or(CUresult::CUDA_ERROR_INVALID_VALUE)?;
        let found = match error == CUresult::CUDA_ERROR_LAUNCH_FAILED as c_int {
            true => current().failure,
            false => None,
        };
        // SAFETY: the caller passes a pointer to a text.
        unsafe { put(text, found.unwrap_or(known).as_ptr()) }
    })
}
