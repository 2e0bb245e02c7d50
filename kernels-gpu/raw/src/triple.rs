//! Three reductions of the warp at once: `kernels_gpu::kepler::triple`.

use crate::sum::{Element, WARP_SIZE, reduce_down};
use cuda_std::thread::{block_dim_x, block_idx_x, grid_dim_x, thread_idx_x};
use cuda_std::warp::warp_shuffle_down;

/// # Safety
///
/// `len` elements at `input`, three at `output`; the launch is as the original asks.
#[inline(always)]
pub(crate) unsafe fn triple_interleaved<T: Element>(input: *const T, len: usize, output: *mut T) {
    // SAFETY: the launch is this function's own; every triple is in bounds.
    unsafe {
        let [mut x, mut y, mut z] = [T::IDENTITY; 3];
        for_each_triple(len, |i| {
            x = T::combine(x, *input.add(3 * i));
            y = T::combine(y, *input.add(3 * i + 1));
            z = T::combine(z, *input.add(3 * i + 2));
        });
        let [x, y, z] = warp_reduce_triple([x, y, z]);
        if thread_idx_x().is_multiple_of(WARP_SIZE) {
            T::combine_atomic_device(output, x);
            T::combine_atomic_device(output.add(1), y);
            T::combine_atomic_device(output.add(2), z);
        }
    }
}

/// # Safety
///
/// As [`triple_interleaved`].
#[inline(always)]
pub(crate) unsafe fn triple_in_turn<T: Element>(input: *const T, len: usize, output: *mut T) {
    for field in 0..3 {
        // SAFETY: the launch is this function's own; every triple is in bounds.
        unsafe {
            let mut value = T::IDENTITY;
            for_each_triple(len, |i| {
                value = T::combine(value, *input.add(3 * i + field));
            });
            let value = reduce_down(value);
            if thread_idx_x().is_multiple_of(WARP_SIZE) {
                T::combine_atomic_device(output.add(field), value);
            }
        }
    }
}

/// # Safety
///
/// All 32 lanes of the warp arrive here.
#[inline(always)]
unsafe fn warp_reduce_triple<T: Element>([mut x, mut y, mut z]: [T; 3]) -> [T; 3] {
    let mut offset = WARP_SIZE / 2;
    while offset > 0 {
        // SAFETY: the caller brings all lanes that the full mask names.
        let above = |value| unsafe { warp_shuffle_down(u32::MAX, value, offset, WARP_SIZE).0 };
        let (x_above, y_above, z_above) = (above(x), above(y), above(z));
        x = T::combine(x, x_above);
        y = T::combine(y, y_above);
        z = T::combine(z, z_above);
        offset /= 2;
    }
    [x, y, z]
}

/// Calls `each` with the numbers of the thread's triples.
#[inline(always)]
fn for_each_triple(len: usize, mut each: impl FnMut(usize)) {
    let threads = block_dim_x() as usize;
    let stride = grid_dim_x() as usize * threads;
    let triples = len / 3;
    let mut i = block_idx_x() as usize * threads + thread_idx_x() as usize;
    while i < triples {
        each(i);
        i += stride;
    }
}
