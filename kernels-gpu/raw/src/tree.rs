//! A tree in shared memory: `kernels_gpu::harris::{reduce_0, reduce_1, reduce_2, reduce_3}`.

use crate::block_threads;
use crate::sum::Element;
use core::hint::{assert_unchecked, black_box};
use cuda_std::thread::{block_idx_x, grid_dim_x, sync_threads, thread_idx_x};

/// # Safety
///
/// `len` elements at `input`; the launch is as the original asks.
#[inline(always)]
#[expect(
    clippy::manual_is_multiple_of,
    reason = "the remainder is what this rung is about"
)]
pub(crate) unsafe fn reduce_0<T: Element>(
    input: *const T,
    len: usize,
    output: *mut T,
    scratch: *mut T,
) {
    // SAFETY: `input` is read below `len`; `scratch` holds an element per thread, and a barrier
    // stands between each writer and the readers; `output` holds an element per block.
    unsafe {
        let tid = thread_idx_x();
        let threads = block_threads();
        let i = block_idx_x() as usize * threads as usize + tid as usize;

        let loaded = if i < len { *input.add(i) } else { T::IDENTITY };
        *scratch.add(tid as usize) = loaded;
        sync_threads();

        let mut s = 1;
        while s < threads {
            if tid % (2 * s) == 0 {
                *scratch.add(tid as usize) =
                    T::combine(*scratch.add(tid as usize), *scratch.add((tid + s) as usize));
            }
            sync_threads();
            s *= 2;
        }

        if tid == 0 {
            *output.add(block_idx_x() as usize) = *scratch;
        }
    }
}

/// # Safety
///
/// `len` elements at `input`; the launch is as the original asks.
#[inline(always)]
#[expect(
    clippy::manual_is_multiple_of,
    reason = "the remainder is what this rung is about"
)]
pub(crate) unsafe fn reduce_0_modulo<T: Element>(
    input: *const T,
    len: usize,
    output: *mut T,
    scratch: *mut T,
) {
    // SAFETY: `input` is read below `len`; `scratch` holds an element per thread, and a barrier
    // stands between each writer and the readers; `output` holds an element per block.
    unsafe {
        let tid = thread_idx_x();
        let threads = block_threads();
        let i = block_idx_x() as usize * threads as usize + tid as usize;

        let loaded = if i < len { *input.add(i) } else { T::IDENTITY };
        *scratch.add(tid as usize) = loaded;
        sync_threads();

        let mut s = 1;
        while s < threads {
            let divisor = black_box(2 * s);
            assert_unchecked(divisor != 0);
            if tid % divisor == 0 {
                *scratch.add(tid as usize) =
                    T::combine(*scratch.add(tid as usize), *scratch.add((tid + s) as usize));
            }
            sync_threads();
            s *= 2;
        }

        if tid == 0 {
            *output.add(block_idx_x() as usize) = *scratch;
        }
    }
}

/// # Safety
///
/// `len` elements at `input`; the launch is as the original asks.
#[inline(always)]
pub(crate) unsafe fn reduce_1<T: Element>(
    input: *const T,
    len: usize,
    output: *mut T,
    scratch: *mut T,
) {
    // SAFETY: `input` is read below `len`; `scratch` holds an element per thread, and a barrier
    // stands between each writer and the readers; `output` holds an element per block.
    unsafe {
        let tid = thread_idx_x();
        let threads = block_threads();
        let i = block_idx_x() as usize * threads as usize + tid as usize;

        let loaded = if i < len { *input.add(i) } else { T::IDENTITY };
        *scratch.add(tid as usize) = loaded;
        sync_threads();

        let mut s = 1;
        while s < threads {
            let index = 2 * s * tid;
            if index < threads {
                *scratch.add(index as usize) = T::combine(
                    *scratch.add(index as usize),
                    *scratch.add((index + s) as usize),
                );
            }
            sync_threads();
            s *= 2;
        }

        if tid == 0 {
            *output.add(block_idx_x() as usize) = *scratch;
        }
    }
}

/// # Safety
///
/// `len` elements at `input`; the launch is as the original asks.
#[inline(always)]
pub(crate) unsafe fn reduce_2<T: Element>(
    input: *const T,
    len: usize,
    output: *mut T,
    scratch: *mut T,
) {
    // SAFETY: `input` is read below `len`; `scratch` holds an element per thread, and a barrier
    // stands between each writer and the readers; `output` holds an element per block.
    unsafe {
        let tid = thread_idx_x();
        let threads = block_threads();
        let i = block_idx_x() as usize * threads as usize + tid as usize;

        let loaded = if i < len { *input.add(i) } else { T::IDENTITY };
        *scratch.add(tid as usize) = loaded;
        sync_threads();

        let mut s = threads / 2;
        while s > 0 {
            if tid < s {
                *scratch.add(tid as usize) =
                    T::combine(*scratch.add(tid as usize), *scratch.add((tid + s) as usize));
            }
            sync_threads();
            s /= 2;
        }

        if tid == 0 {
            *output.add(block_idx_x() as usize) = *scratch;
        }
    }
}

/// # Safety
///
/// `len` elements at `input`; the launch is as the original asks.
#[inline(always)]
pub(crate) unsafe fn reduce_3<T: Element>(
    input: *const T,
    len: usize,
    output: *mut T,
    scratch: *mut T,
) {
    // SAFETY: `input` is read below `len`; `scratch` holds an element per thread, and a barrier
    // stands between each writer and the readers; `output` holds an element per block.
    unsafe {
        let tid = thread_idx_x();
        let threads = block_threads();
        let i = block_idx_x() as usize * threads as usize + tid as usize;
        let second = (block_idx_x() + grid_dim_x()) as usize * threads as usize + tid as usize;

        let mut value = if i < len { *input.add(i) } else { T::IDENTITY };
        if second < len {
            value = T::combine(value, *input.add(second));
        }
        *scratch.add(tid as usize) = value;
        sync_threads();

        let mut s = threads / 2;
        while s > 0 {
            if tid < s {
                *scratch.add(tid as usize) =
                    T::combine(*scratch.add(tid as usize), *scratch.add((tid + s) as usize));
            }
            sync_threads();
            s /= 2;
        }

        if tid == 0 {
            *output.add(block_idx_x() as usize) = *scratch;
        }
    }
}
