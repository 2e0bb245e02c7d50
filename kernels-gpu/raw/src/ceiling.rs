//! The fastest read: `kernels_gpu::ceiling`.

use crate::kepler::block_reduce;
use crate::sum::Element;
use cuda_std::thread::{block_dim_x, block_idx_x, grid_dim_x, thread_idx_x};

/// Loads under way at once, as the original's.
const IN_FLIGHT: usize = 4;

/// Sixteen bytes that one instruction loads.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
struct Vector<T, const N: usize>([T; N]);

/// # Safety
///
/// `len` elements at `input`, aligned to 16 bytes; the launch is as the original asks.
#[inline(always)]
#[expect(
    clippy::needless_range_loop,
    reason = "iterators over the arrays make LLVM keep them in local memory"
)]
pub(crate) unsafe fn read_ceiling<T: Element, const N: usize>(
    input: *const T,
    len: usize,
    output: *mut T,
    scratch: *mut T,
) {
    let (vectors, vectors_len) = (input.cast::<Vector<T, N>>(), len / N);
    let (tid, threads) = (thread_idx_x(), block_dim_x());
    let thread = block_idx_x() as usize * threads as usize + tid as usize;
    let stride = grid_dim_x() as usize * threads as usize;

    let mut value = T::IDENTITY;
    let mut v = thread;
    while v + (IN_FLIGHT - 1) * stride < vectors_len {
        let mut loaded = [[T::IDENTITY; N]; IN_FLIGHT];
        for k in 0..IN_FLIGHT {
            // SAFETY: the last of the vectors is in bounds, and the start is aligned.
            loaded[k] = unsafe { (*vectors.add(v + k * stride)).0 };
        }
        for k in 0..IN_FLIGHT {
            for e in 0..N {
                value = T::combine(value, loaded[k][e]);
            }
        }
        v += IN_FLIGHT * stride;
    }
    while v < vectors_len {
        // SAFETY: `v` is in bounds, and the start is aligned.
        let loaded = unsafe { (*vectors.add(v)).0 };
        for e in 0..N {
            value = T::combine(value, loaded[e]);
        }
        v += stride;
    }
    let mut i = vectors_len * N + thread;
    while i < len {
        // SAFETY: `i` is in bounds.
        value = T::combine(value, unsafe { *input.add(i) });
        i += stride;
    }

    // SAFETY: no thread has left; `scratch` holds an element per warp, and `output` one per block.
    unsafe {
        let partial = block_reduce(value, scratch);
        if tid == 0 {
            *output.add(block_idx_x() as usize) = partial;
        }
    }
}
