//! `stable`: a partial per block, and the same kernel once more for the partials.

use crate::block::block_reduce;
use crate::element::Element;
use crate::grid_stride::grid_stride;
use crate::mem::{Global, Shared};
use crate::op::Op;
use cuda_std::thread::{block_idx_x, thread_idx_x};

/// Leaves the partial of each block's elements in `output[block]`, `N` elements at a time.
///
/// With at most 1024 blocks, a second launch of one block of 1024 threads reduces the partials, one
/// each: the same operator over what it combines in, `N = 1`. The two launches are the
/// synchronisation of the grid.
///
/// Stable: the same launch over the same memory combines in the same order, every time.
///
/// # Safety
///
/// The launch is as [`kepler`](super) asks.
#[inline(always)]
pub unsafe fn stable<T: Element, O: Op<T, Acc = T>, const N: usize>(
    op: O,
    input: Global<T>,
    output: Global<T>,
    scratch: Shared<T>,
) {
    let value = grid_stride::<T, O, N, 4>(op, input);
    // SAFETY: no thread has left, and the scratch is the launch's.
    let partial = unsafe { block_reduce::<T, O>(op, value, scratch) };
    if thread_idx_x() == 0 {
        output.set(block_idx_x() as usize, partial);
    }
}
