//! One cell for many threads: `kernels_gpu::harris::{naive, shared_memory}`.

use crate::sum::Element;
use cuda_std::thread::{block_dim_x, block_idx_x, sync_threads, thread_idx_x};

/// # Safety
///
/// `len` elements at `input`; the launch is as the original asks.
#[inline(always)]
pub(crate) unsafe fn reduce_naive<T: Element>(input: *const T, len: usize, output: *mut T) {
    let i = block_idx_x() as usize * block_dim_x() as usize + thread_idx_x() as usize;

    if i < len {
        // SAFETY: `i` is in bounds, and `output` holds one element that everybody touches
        // atomically.
        unsafe { T::combine_atomic_device(output, *input.add(i)) };
    }
}

/// # Safety
///
/// `len` elements at `input`; the launch is as the original asks.
#[inline(always)]
pub(crate) unsafe fn reduce_shared_memory<T: Element>(
    input: *const T,
    len: usize,
    output: *mut T,
    scratch: *mut T,
) {
    let tid = thread_idx_x();
    let i = block_idx_x() as usize * block_dim_x() as usize + tid as usize;

    if tid == 0 {
        // SAFETY: `scratch` holds one element, and nobody else touches it before the barrier.
        unsafe { *scratch = T::IDENTITY };
    }
    sync_threads();

    let loaded = if i < len {
        // SAFETY: `i` is in bounds.
        unsafe { *input.add(i) }
    } else {
        T::IDENTITY
    };
    // SAFETY: between the two barriers everybody touches the element atomically.
    unsafe { T::combine_atomic_block(scratch, loaded) };
    sync_threads();

    if tid == 0 {
        // SAFETY: the last writer of `scratch` has met the barrier; `output` holds one element
        // that everybody touches atomically.
        unsafe { T::combine_atomic_device(output, *scratch) };
    }
}
