//! What the driver says of its results.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::NonNull;

use cust_raw::CUresult;

use crate::driver::current;
use crate::functions::{code, put};

/// The results that this driver gives: name and text.
macro_rules! results {
    ($($name:ident: $text:literal;)*) => {
        fn words(code: c_int) -> Option<(&'static CStr, &'static CStr)> {
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
    CUDA_ERROR_INVALID_VALUE: c"an argument is none that the call takes";
    CUDA_ERROR_OUT_OF_MEMORY: c"out of memory";
    CUDA_ERROR_NOT_INITIALIZED: c"cuInit has not been called";
    CUDA_ERROR_INVALID_DEVICE: c"there is no such device";
    CUDA_ERROR_INVALID_CONTEXT: c"no context that is alive is current on this thread";
    CUDA_ERROR_INVALID_PTX: c"the module is no PTX";
    CUDA_ERROR_INVALID_HANDLE: c"the handle is of nothing that is there";
    CUDA_ERROR_ILLEGAL_STATE: c"the stream is captured already, or is not";
    CUDA_ERROR_NOT_FOUND: c"there is no entry point of this name";
    CUDA_ERROR_LAUNCH_FAILED: c"the simulator has found something in a launch";
    CUDA_ERROR_NOT_SUPPORTED: c"the simulator's driver cannot do this";
    CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED: c"a stream is captured, and this cannot be";
    CUDA_ERROR_STREAM_CAPTURE_INVALIDATED: c"a call that cannot be captured has spoilt the capture";
    CUDA_ERROR_STREAM_CAPTURE_ISOLATION: c"a captured stream waits for something outside of its capture";
    CUDA_ERROR_CAPTURED_EVENT: c"the event is in a captured stream, and does not happen now";
    CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD: c"another thread began the capture";
}

/// With a plain integer for the code, as `libcuda` asks: it may be one that `CUresult` cannot hold.
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
        let (known, _) = words(error).ok_or(CUresult::CUDA_ERROR_INVALID_VALUE)?;
        // SAFETY: the caller gives a place for a text.
        unsafe { put(name, known.as_ptr()) }
    })
}

/// Of a failed launch, what has been found in it.
unsafe extern "C" fn error_string(error: c_int, text: *mut *const c_char) -> CUresult {
    code(|| {
        let (_, known) = words(error).ok_or(CUresult::CUDA_ERROR_INVALID_VALUE)?;
        let found = match error == CUresult::CUDA_ERROR_LAUNCH_FAILED as c_int {
            true => current().failure,
            false => None,
        };
        // SAFETY: the caller gives a place for a text.
        unsafe { put(text, found.unwrap_or(known).as_ptr()) }
    })
}
