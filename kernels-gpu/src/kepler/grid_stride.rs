//! What the kernels have in common: a thread's share of the array, `N` elements at a time.

use crate::element::Element;
use crate::mem::Global;
use crate::op::Op;
use cuda_std::thread::{block_dim_x, block_idx_x, grid_dim_x, thread_idx_x};

/// Loads under way at once, per thread.
const IN_FLIGHT: usize = 4;

/// The thread's share of `input` as one.
///
/// ```text
/// input   h h | v v v v | v v v v | v v v v | t         N = 4, the start two elements before
/// thread  0 1   0         1         2         2         a multiple of 16 bytes
/// ```
///
/// Vectors are dealt out to the threads of the grid in turn, so that neighbouring lanes read
/// neighbouring addresses, and each thread comes back a grid's width further on. The elements
/// around them, fewer than `2 * N`, are left: one for each of the grid's first threads.
///
/// A launch of at least `2 * N` threads, which a warp is for any `N` up to 16.
#[inline(always)]
#[expect(
    clippy::needless_range_loop,
    reason = "iterators over the arrays make LLVM keep them in local memory"
)]
pub fn grid_stride<T: Element, O: Op<T>, const N: usize>(input: Global<T>) -> O::Acc {
    let threads = block_dim_x() as usize;
    let thread = block_idx_x() as usize * threads + thread_idx_x() as usize;
    let stride = grid_dim_x() as usize * threads;
    let (head, vectors) = input.vectors_at::<N>();

    let mut value = O::IDENTITY;
    let mut v = thread;
    while v + (IN_FLIGHT - 1) * stride < vectors.len() {
        let mut loaded = [vectors.get(v); IN_FLIGHT];
        for k in 1..IN_FLIGHT {
            loaded[k] = vectors.get(v + k * stride);
        }
        for k in 0..IN_FLIGHT {
            for e in 0..N {
                let i = head + (v + k * stride) * N + e;
                value = O::combine(value, O::lift(loaded[k][e], i));
            }
        }
        v += IN_FLIGHT * stride;
    }
    while v < vectors.len() {
        let loaded = vectors.get(v);
        for e in 0..N {
            value = O::combine(value, O::lift(loaded[e], head + v * N + e));
        }
        v += stride;
    }

    let around = input.len() - vectors.len() * N;
    if N > 1 && thread < around {
        let i = if thread < head {
            thread
        } else {
            thread + vectors.len() * N
        };
        value = O::combine(value, O::lift(input.get(i), i));
    }
    value
}
