//! Shuffles and atomics: `kernels_gpu::kepler`; how they read, `kernels_gpu::grid_stride`.

use crate::sum::{Element, WARP_SIZE, reduce_down};
use crate::vector::{hold_accesses, is_all_vectors, load, opaque, vectors_at};
use cuda_std::thread::{block_dim_x, block_idx_x, grid_dim_x, sync_threads, thread_idx_x};

/// Loads under way at once, as the original's.
const IN_FLIGHT: usize = 4;

const _: () = assert!(
    IN_FLIGHT == 4,
    "a last step has a case for three, for two and for one"
);

/// # Safety
///
/// `len` elements at `input`; the launch is as the original asks.
#[inline(always)]
pub(crate) unsafe fn stable<T: Element, const N: usize>(
    input: *const T,
    len: usize,
    output: *mut T,
    scratch: *mut T,
) {
    // SAFETY: the launch is this function's own, and all threads of the block are here.
    unsafe {
        let partial = block_reduce(grid_stride::<T, N>(input, len), scratch);
        if thread_idx_x() == 0 {
            *output.add(block_idx_x() as usize) = partial;
        }
    }
}

/// # Safety
///
/// As [`stable`].
#[inline(always)]
pub(crate) unsafe fn block_atomic<T: Element, const N: usize>(
    input: *const T,
    len: usize,
    output: *mut T,
    scratch: *mut T,
) {
    // SAFETY: the launch is this function's own, and all threads of the block are here.
    unsafe {
        let partial = block_reduce(grid_stride::<T, N>(input, len), scratch);
        if thread_idx_x() == 0 {
            T::combine_atomic_device(output, partial);
        }
    }
}

/// # Safety
///
/// As [`stable`].
#[inline(always)]
pub(crate) unsafe fn warp_atomic<T: Element, const N: usize>(
    input: *const T,
    len: usize,
    output: *mut T,
) {
    // SAFETY: the launch is this function's own, and all threads of the block are here.
    unsafe {
        let partial = reduce_down(grid_stride::<T, N>(input, len));
        if thread_idx_x().is_multiple_of(WARP_SIZE) {
            T::combine_atomic_device(output, partial);
        }
    }
}

/// The thread's share of the array.
///
/// # Safety
///
/// `len` elements at `input`.
#[inline(always)]
pub(crate) unsafe fn grid_stride<T: Element, const N: usize>(input: *const T, len: usize) -> T {
    let threads = block_dim_x() as usize;
    let thread = block_idx_x() as usize * threads + thread_idx_x() as usize;
    let stride = grid_dim_x() as usize * threads;

    let (head, vectors, vectors_len) = vectors_at::<T, N>(input, len);
    let end = input.wrapping_add(len).addr();
    let has = |v: usize| vectors.wrapping_add(v + 1).addr() <= end;

    let mut value = T::IDENTITY;
    let mut v = thread;
    // SAFETY: in each case the last of the vectors is in bounds, and the first is aligned.
    unsafe {
        while has(v + (IN_FLIGHT - 1) * stride) {
            value = step::<T, N, IN_FLIGHT>(vectors, v, stride, value);
            v = opaque(v + IN_FLIGHT * stride);
        }
        if has(v + 2 * stride) {
            value = step::<T, N, 3>(vectors, v, stride, value);
        } else if has(v + stride) {
            value = step::<T, N, 2>(vectors, v, stride, value);
        } else if has(v) {
            value = step::<T, N, 1>(vectors, v, stride, value);
        }
    }

    if N > 1 && !is_all_vectors::<T, N>(input, len) {
        let i = if thread < head {
            thread
        } else {
            thread + vectors_len * N
        };
        if i < len {
            // SAFETY: the element lies before the first vector or behind the last.
            value = T::combine(value, unsafe { *input.add(i) });
        }
    }
    value
}

/// The value and `K` vectors as one.
///
/// # Safety
///
/// The vectors from `v` on, a stride apart, are in bounds and aligned.
#[inline(always)]
unsafe fn step<T: Element, const N: usize, const K: usize>(
    vectors: *const [T; N],
    v: usize,
    stride: usize,
    value: T,
) -> T {
    // SAFETY: the caller's contract.
    let mut loaded = [unsafe { load(vectors.add(v)) }; K];
    #[expect(clippy::needless_range_loop, reason = "`k` counts strides too")]
    for k in 1..K {
        // SAFETY: as above.
        loaded[k] = unsafe { load(vectors.add(v + k * stride)) };
    }
    hold_accesses();
    absorb(value, loaded)
}

/// The value and all of the rows as one, as straight code: at most four rows of four.
#[inline(always)]
fn absorb<T: Element, const N: usize, const K: usize>(mut value: T, rows: [[T; N]; K]) -> T {
    macro_rules! rows {
        ($($k:literal)*) => { $(
            if const { $k < K } {
                rows!(@row $k 0 1 2 3);
            }
        )* };
        (@row $k:literal $($e:literal)*) => { $(
            if const { $e < N } {
                value = T::combine(value, rows[$k][$e]);
            }
        )* };
    }
    const { assert!(K <= 4 && N <= 4) };
    rows!(0 1 2 3);
    value
}

/// The block's values as one, held by thread 0.
///
/// # Safety
///
/// All threads of the block arrive here; `scratch` holds an element per warp.
#[inline(always)]
pub(crate) unsafe fn block_reduce<T: Element>(value: T, scratch: *mut T) -> T {
    let (tid, warps) = (thread_idx_x(), block_dim_x() / WARP_SIZE);

    // SAFETY: every warp is whole; a barrier stands between the writers of the scratch and the
    // first warp, which reads what has been written.
    unsafe {
        let partial = reduce_down(value);
        if tid.is_multiple_of(WARP_SIZE) {
            *scratch.add((tid / WARP_SIZE) as usize) = partial;
        }
        sync_threads();

        if tid >= WARP_SIZE {
            return partial;
        }
        let partial = if tid < warps {
            *scratch.add(tid as usize)
        } else {
            T::IDENTITY
        };
        reduce_down(partial)
    }
}
