//! Converts the driver's result codes to `cust_raw`'s enum, and records what the enum cannot express.

use std::cell::Cell;
use std::ffi::c_int;

use cust_raw::CUresult;

/// A failed driver call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Failure {
    /// The name of the driver function, such as `cuMemAlloc_v2`.
    pub function: &'static str,
    /// The result code, including codes that `CUresult` and `cust` lack.
    pub code: i32,
}

thread_local! {
    static FIRST: Cell<Option<Failure>> = const { Cell::new(None) };
}

/// Runs `calls`, and returns the first driver call of this thread that failed in it, if any.
///
/// `cust` converts unknown codes to `UnknownError`, and ignores errors in its destructors; this function
/// reports both. Nested uses are possible: each one also sees the failures of inner ones.
pub fn record<R>(calls: impl FnOnce() -> R) -> (R, Option<Failure>) {
    let outer = FIRST.take();
    let result = calls();
    let first = FIRST.take();
    FIRST.set(outer.or(first));
    (result, first)
}

/// The enum for `code`; an error is stored for [`record`].
#[inline]
pub(crate) fn result(function: &'static str, code: c_int) -> CUresult {
    if code == CUresult::CUDA_SUCCESS as c_int {
        return CUresult::CUDA_SUCCESS;
    }
    failed(function, code)
}

#[cold]
fn failed(function: &'static str, code: c_int) -> CUresult {
    // In an ending thread the storage may be dropped already; then `record` is not running.
    let _ = FIRST.try_with(|first| {
        if first.get().is_none() {
            first.set(Some(Failure { function, code }));
        }
    });
    let known = FAILURES.iter().find(|known| **known as c_int == code);
    known.copied().unwrap_or(CUresult::CUDA_ERROR_UNKNOWN)
}

/// All errors of `CUresult` (CUDA 11.4).
#[rustfmt::skip]
const FAILURES: &[CUresult] = {
    use CUresult::*;
    &[
        CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_OUT_OF_MEMORY, CUDA_ERROR_NOT_INITIALIZED,
        CUDA_ERROR_DEINITIALIZED, CUDA_ERROR_PROFILER_DISABLED, CUDA_ERROR_PROFILER_NOT_INITIALIZED,
        CUDA_ERROR_PROFILER_ALREADY_STARTED, CUDA_ERROR_PROFILER_ALREADY_STOPPED,
        CUDA_ERROR_STUB_LIBRARY, CUDA_ERROR_NO_DEVICE, CUDA_ERROR_INVALID_DEVICE,
        CUDA_ERROR_DEVICE_NOT_LICENSED, CUDA_ERROR_INVALID_IMAGE, CUDA_ERROR_INVALID_CONTEXT,
        CUDA_ERROR_CONTEXT_ALREADY_CURRENT, CUDA_ERROR_MAP_FAILED, CUDA_ERROR_UNMAP_FAILED,
        CUDA_ERROR_ARRAY_IS_MAPPED, CUDA_ERROR_ALREADY_MAPPED, CUDA_ERROR_NO_BINARY_FOR_GPU,
        CUDA_ERROR_ALREADY_ACQUIRED, CUDA_ERROR_NOT_MAPPED, CUDA_ERROR_NOT_MAPPED_AS_ARRAY,
        CUDA_ERROR_NOT_MAPPED_AS_POINTER, CUDA_ERROR_ECC_UNCORRECTABLE,
        CUDA_ERROR_UNSUPPORTED_LIMIT, CUDA_ERROR_CONTEXT_ALREADY_IN_USE,
        CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, CUDA_ERROR_INVALID_PTX,
        CUDA_ERROR_INVALID_GRAPHICS_CONTEXT, CUDA_ERROR_NVLINK_UNCORRECTABLE,
        CUDA_ERROR_JIT_COMPILER_NOT_FOUND, CUDA_ERROR_UNSUPPORTED_PTX_VERSION,
        CUDA_ERROR_JIT_COMPILATION_DISABLED, CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY,
        CUDA_ERROR_INVALID_SOURCE, CUDA_ERROR_FILE_NOT_FOUND,
        CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND, CUDA_ERROR_SHARED_OBJECT_INIT_FAILED,
        CUDA_ERROR_OPERATING_SYSTEM, CUDA_ERROR_INVALID_HANDLE, CUDA_ERROR_ILLEGAL_STATE,
        CUDA_ERROR_NOT_FOUND, CUDA_ERROR_NOT_READY, CUDA_ERROR_ILLEGAL_ADDRESS,
        CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, CUDA_ERROR_LAUNCH_TIMEOUT,
        CUDA_ERROR_LAUNCH_INCOMPATIBLE_TEXTURING, CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED,
        CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE,
        CUDA_ERROR_CONTEXT_IS_DESTROYED, CUDA_ERROR_ASSERT, CUDA_ERROR_TOO_MANY_PEERS,
        CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED,
        CUDA_ERROR_HARDWARE_STACK_ERROR, CUDA_ERROR_ILLEGAL_INSTRUCTION,
        CUDA_ERROR_MISALIGNED_ADDRESS, CUDA_ERROR_INVALID_ADDRESS_SPACE, CUDA_ERROR_INVALID_PC,
        CUDA_ERROR_LAUNCH_FAILED, CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, CUDA_ERROR_NOT_PERMITTED,
        CUDA_ERROR_NOT_SUPPORTED, CUDA_ERROR_SYSTEM_NOT_READY, CUDA_ERROR_SYSTEM_DRIVER_MISMATCH,
        CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE, CUDA_ERROR_MPS_CONNECTION_FAILED,
        CUDA_ERROR_MPS_RPC_FAILURE, CUDA_ERROR_MPS_SERVER_NOT_READY,
        CUDA_ERROR_MPS_MAX_CLIENTS_REACHED, CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED,
        CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
        CUDA_ERROR_STREAM_CAPTURE_MERGE, CUDA_ERROR_STREAM_CAPTURE_UNMATCHED,
        CUDA_ERROR_STREAM_CAPTURE_UNJOINED, CUDA_ERROR_STREAM_CAPTURE_ISOLATION,
        CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, CUDA_ERROR_CAPTURED_EVENT,
        CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD, CUDA_ERROR_TIMEOUT,
        CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, CUDA_ERROR_EXTERNAL_DEVICE, CUDA_ERROR_UNKNOWN,
    ]
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_codes_keep_their_value_and_unknown_ones_become_unknown() {
        assert_eq!(result("cuInit", 0), CUresult::CUDA_SUCCESS);
        assert_eq!(result("cuInit", 222) as c_int, 222);
        assert_eq!(result("cuInit", 911) as c_int, 911);
        // CUDA_ERROR_UNSUPPORTED_DEVSIDE_SYNC, of CUDA 12.1.
        assert_eq!(result("cuInit", 225), CUresult::CUDA_ERROR_UNKNOWN);
    }

    #[test]
    fn record_has_the_first_failure_with_its_own_code() {
        let (_, failure) = record(|| {
            result("cuInit", 0);
            result("cuModuleLoadDataEx", 225);
            result("cuMemFree_v2", 700);
        });
        let function = "cuModuleLoadDataEx";
        assert_eq!(
            failure,
            Some(Failure {
                function,
                code: 225
            })
        );
        assert_eq!(record(|| result("cuInit", 0)).1, None);
    }

    #[test]
    fn nested_records_see_what_is_inside_them() {
        let (inner, outer) = record(|| record(|| result("cuInit", 100)).1);
        assert_eq!(inner.map(|failure| failure.code), Some(100));
        assert_eq!(outer, inner);
    }
}
