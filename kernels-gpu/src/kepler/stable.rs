//! `stable`, `stable_all`: a partial per block, and a second launch for the partials.
//!
//! Source: the post "Faster Parallel Reductions on Kepler" (Justin Luitjens, NVIDIA, 2014).

use crate::block::{block_all_reduce, block_reduce};
use crate::element::Element;
use crate::grid_stride::grid_stride;
use crate::mem::{Global, Shared};
use crate::op::Op;
use cuda_std::thread::{block_dim_x, block_idx_x, thread_idx_x};

/// Stores the partial of each block's elements in `output[block]`; `N` elements per load.
///
/// With at most 1024 blocks, a second launch of one block of 1024 threads reduces the partials, one per thread:
/// the same operator over accumulators, `N = 1`. The boundary between the launches synchronises the grid.
///
/// The result is stable: the same launch over the same memory always combines in the same order.
///
/// # Safety
///
/// The launch meets the [requirements](super).
#[inline(always)]
pub unsafe fn stable<T: Element, O: Op<T, Acc = T>, const N: usize>(
    op: O,
    input: Global<T>,
    output: Global<T>,
    scratch: Shared<T>,
) {
    let value = grid_stride::<T, O, N, 4>(op, input);
    // SAFETY: no thread has exited, and the launch provides the scratch.
    let partial = unsafe { block_reduce::<T, O>(op, value, scratch) };
    if thread_idx_x() == 0 {
        output.set(block_idx_x() as usize, partial);
    }
}

/// [`stable`], one element per load, in which every thread of a block gets the block's partial: by
/// [`block_all_reduce`]. The last thread stores it.
///
/// A sum has no use for the other copies. A kernel that goes on with the result has, such as one that divides the
/// elements by their sum; this one shows what the copies cost.
///
/// # Safety
///
/// The launch meets the [requirements](super).
#[inline(always)]
pub unsafe fn stable_all<T: Element, O: Op<T, Acc = T>>(
    op: O,
    input: Global<T>,
    output: Global<T>,
    scratch: Shared<T>,
) {
    let value = grid_stride::<T, O, 1, 4>(op, input);
    // SAFETY: no thread has exited, and the launch provides the scratch.
    let partial = unsafe { block_all_reduce::<T, O>(op, value, scratch) };
    if thread_idx_x() == block_dim_x() - 1 {
        output.set(block_idx_x() as usize, partial);
    }
}
