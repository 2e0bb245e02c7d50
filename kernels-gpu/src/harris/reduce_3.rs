//! `reduce_3`: the first addition happens while loading.
//!
//! Mends the idle threads: in [`reduce_2`](super::reduce_2) half of the threads only carried an
//! element to shared memory. Here each thread loads two, from the two halves of the input, and
//! combines them in a register. Half as many blocks do the same work, and the tree, its
//! barriers and the launch itself are paid half as often per element.
//!
//! The second element lies `grid_dim` blocks further on, so that neighbouring lanes still load
//! neighbouring addresses.
//!
//! Still wrong: as the tree narrows to one warp, the block still meets at a barrier in every
//! step, for the sake of 32 lanes that have a cheaper way to meet. Next:
//! [`reduce_4`](super::reduce_4).

use super::block_threads;
use crate::element::Element;
use crate::mem::{Global, Shared};
use crate::op::Op;
use cuda_std::thread::{block_idx_x, grid_dim_x, sync_threads, thread_idx_x};

/// Leaves the partial of each block's elements in `output[block]`.
///
/// Blocks: `ceil(n / (2 * threads))`; `scratch`: `threads` elements. The order of combination
/// depends on `n` and `threads` alone: floats are bit-equal from run to run.
///
/// # Safety
///
/// The launch is as [`harris`](super) asks.
#[inline(always)]
pub unsafe fn reduce_3<T: Element, O: Op<T, Acc = T>>(
    op: O,
    input: Global<T>,
    output: Global<T>,
    scratch: Shared<T>,
) {
    let tid = thread_idx_x();
    // SAFETY: the launch is this function's own.
    let threads = unsafe { block_threads() };
    let i = block_idx_x() as usize * threads as usize + tid as usize;
    // The element of the same thread, as many blocks further on as the grid has.
    let second = (block_idx_x() + grid_dim_x()) as usize * threads as usize + tid as usize;

    // Each of the two may lie past the end; a missing element is the identity, so that every
    // element of `scratch` is written before the tree reads it.
    let mut value = if i < input.len() {
        input.get(i)
    } else {
        op.identity()
    };
    if second < input.len() {
        value = op.combine(value, input.get(second));
    }
    scratch.set(tid, value);
    sync_threads();

    let mut s = threads / 2;
    while s > 0 {
        if tid < s {
            scratch.set(tid, op.combine(scratch.get(tid), scratch.get(tid + s)));
        }
        // The next step reads what this one wrote.
        sync_threads();
        s /= 2;
    }

    if tid == 0 {
        output.set(block_idx_x() as usize, scratch.get(0));
    }
}
