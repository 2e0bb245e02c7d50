//! `reduce_3`: the first addition happens while loading.
//!
//! Fixes the idle threads: in [`reduce_2`](super::reduce_2) half of the threads only load an element into
//! shared memory. Here each thread loads two elements, one from each half of the input, and combines them in a
//! register. So half as many blocks are needed, and the cost per element of the tree, its barriers and the
//! launch is halved.
//!
//! The second element is `grid_dim` blocks after the first, so that adjacent lanes still load adjacent
//! addresses.
//!
//! Remaining fault: when only one warp still has work, the whole block still waits at a barrier in every step,
//! although the lanes of a warp can exchange values without one. Next: [`reduce_4`](super::reduce_4).
//!
//! Source: the post "CUDA 006 - Reduction" (WangYu::Space, 2025).

use super::block_threads;
use crate::element::Element;
use crate::mem::{Global, Shared};
use crate::op::Op;
use cuda_std::thread::{block_idx_x, grid_dim_x, sync_threads, thread_idx_x};

/// Stores the partial of each block's elements in `output[block]`.
///
/// Blocks: `ceil(n / (2 * threads))`; `scratch`: `threads` elements. The order of combination depends only on
/// `n` and `threads`: floats are bit-equal from run to run.
///
/// # Safety
///
/// The launch meets the [requirements](super).
#[inline(always)]
pub unsafe fn reduce_3<T: Element, O: Op<T, Acc = T>>(
    op: O,
    input: Global<T>,
    output: Global<T>,
    scratch: Shared<T>,
) {
    let tid = thread_idx_x();
    // SAFETY: the same launch.
    let threads = unsafe { block_threads() };
    let i = block_idx_x() as usize * threads as usize + tid as usize;
    // The second element: the same thread, `grid_dim` blocks further on.
    let second = (block_idx_x() + grid_dim_x()) as usize * threads as usize + tid as usize;

    // Each of the two may be past the end. A missing element is the identity, so that every element of
    // `scratch` is written before the tree reads it.
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
