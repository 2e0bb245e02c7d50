//! `stable`: a partial per block, and a second launch for the partials.
//!
//! Source: the post "Faster Parallel Reductions on Kepler" (Justin Luitjens, NVIDIA, 2014).

use crate::block::block_reduce;
use crate::element::Element;
use crate::grid_stride::grid_stride;
use crate::mem::{Global, Shared};
use crate::op::Op;
use cuda_std::thread::{block_idx_x, thread_idx_x};

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
