//! The last warp by shuffles: `kernels_gpu::harris::{reduce_4, reduce_5}`.

use crate::block_threads;
use crate::sum::{Element, WARP_SIZE, reduce_down, reduce_redux};
use cuda_std::thread::{block_dim_x, block_idx_x, grid_dim_x, sync_threads, thread_idx_x};
use cuda_std::warp::WarpReduceValue;

/// # Safety
///
/// `len` elements at `input`; the launch is as the original asks.
#[inline(always)]
pub(crate) unsafe fn reduce_4<T: Element>(
    input: *const T,
    len: usize,
    output: *mut T,
    scratch: *mut T,
) {
    // SAFETY: the launch is this function's own, and all threads of the block are here.
    unsafe { finish_block::<T>(load_two::<T>(input, len), output, scratch) }
}

/// # Safety
///
/// As [`reduce_4`].
#[inline(always)]
pub(crate) unsafe fn reduce_4_redux<T: Element + WarpReduceValue>(
    input: *const T,
    len: usize,
    output: *mut T,
    scratch: *mut T,
) {
    let tid = thread_idx_x();
    // SAFETY: the launch is this function's own, and all threads of the block are here.
    let value = unsafe { fold_to_warp::<T>(load_two::<T>(input, len), scratch) };

    if tid < WARP_SIZE {
        // SAFETY: the first warp is whole (threads >= 32), and all of its lanes are here.
        let partial = unsafe { reduce_redux::<T>(value) };
        if tid == 0 {
            // SAFETY: `output` holds an element per block.
            unsafe { *output.add(block_idx_x() as usize) = partial };
        }
    }
}

/// # Safety
///
/// As [`reduce_4`].
#[inline(always)]
pub(crate) unsafe fn reduce_5<T: Element>(
    input: *const T,
    len: usize,
    output: *mut T,
    scratch: *mut T,
) {
    let stride = grid_dim_x() as usize * block_dim_x() as usize;
    let mut i = block_idx_x() as usize * block_dim_x() as usize + thread_idx_x() as usize;

    let mut value = T::IDENTITY;
    while i < len {
        // SAFETY: `i` is in bounds.
        value = T::combine(value, unsafe { *input.add(i) });
        i += stride;
    }

    // SAFETY: the launch is this function's own, and all threads of the block are here.
    unsafe { finish_block::<T>(value, output, scratch) }
}

/// # Safety
///
/// As [`reduce_4`].
#[inline(always)]
pub(crate) unsafe fn reduce_5_unrolled<T: Element, const CHUNKS: usize>(
    input: *const T,
    len: usize,
    output: *mut T,
    scratch: *mut T,
) {
    let stride = grid_dim_x() as usize * block_dim_x() as usize;
    let i = block_idx_x() as usize * block_dim_x() as usize + thread_idx_x() as usize;

    let mut value = T::IDENTITY;
    if i + (CHUNKS - 1) * stride < len {
        let mut chunks = [T::IDENTITY; CHUNKS];
        for (c, chunk) in chunks.iter_mut().enumerate() {
            // SAFETY: the last of the thread's chunks is in bounds.
            *chunk = unsafe { *input.add(i + c * stride) };
        }
        for chunk in chunks {
            value = T::combine(value, chunk);
        }
    } else {
        for c in 0..CHUNKS {
            if i + c * stride < len {
                // SAFETY: the chunk is in bounds.
                value = T::combine(value, unsafe { *input.add(i + c * stride) });
            }
        }
    }

    // SAFETY: the launch is this function's own, and all threads of the block are here.
    unsafe { finish_block::<T>(value, output, scratch) }
}

/// The thread's two elements as one.
///
/// # Safety
///
/// `len` elements at `input`.
#[inline(always)]
unsafe fn load_two<T: Element>(input: *const T, len: usize) -> T {
    let (tid, threads) = (thread_idx_x() as usize, block_dim_x() as usize);
    let i = block_idx_x() as usize * threads + tid;
    let second = (block_idx_x() + grid_dim_x()) as usize * threads + tid;

    let mut value = if i < len {
        // SAFETY: `i` is in bounds.
        unsafe { *input.add(i) }
    } else {
        T::IDENTITY
    };
    if second < len {
        // SAFETY: `second` is in bounds.
        value = T::combine(value, unsafe { *input.add(second) });
    }
    value
}

/// The tree, stopped when one warp is left, whose threads hold the remaining values.
///
/// # Safety
///
/// All threads of the block arrive here; `scratch` holds an element for each.
#[inline(always)]
unsafe fn fold_to_warp<T: Element>(value: T, scratch: *mut T) -> T {
    let tid = thread_idx_x();
    // SAFETY: `scratch` holds an element per thread, and a barrier stands between each writer and
    // the readers; the launch is the caller's own.
    unsafe {
        *scratch.add(tid as usize) = value;
        sync_threads();

        let mut s = block_threads() / 2;
        while s >= WARP_SIZE {
            if tid < s {
                *scratch.add(tid as usize) =
                    T::combine(*scratch.add(tid as usize), *scratch.add((tid + s) as usize));
            }
            sync_threads();
            s /= 2;
        }
        *scratch.add(tid as usize)
    }
}

/// The block's values as one, written to `output[block]` by thread 0.
///
/// # Safety
///
/// As [`fold_to_warp`]; `output` holds an element per block.
#[inline(always)]
unsafe fn finish_block<T: Element>(value: T, output: *mut T, scratch: *mut T) {
    let tid = thread_idx_x();
    // SAFETY: the caller's contract is the callee's.
    let value = unsafe { fold_to_warp::<T>(value, scratch) };

    if tid < WARP_SIZE {
        // SAFETY: the first warp is whole (threads >= 32), and all of its lanes are here.
        let partial = unsafe { reduce_down::<T>(value) };
        if tid == 0 {
            // SAFETY: `output` holds an element per block.
            unsafe { *output.add(block_idx_x() as usize) = partial };
        }
    }
}
