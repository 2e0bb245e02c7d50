//! `reduce_naive`: every thread combines its element into one cell of global memory.
//!
//! This is the simplest correct reduction: the atomic makes each update indivisible, so no update is lost. But
//! there is only one cell, so the n updates of the grid are done one after another, and the GPU waits. (The
//! compiler can shorten this: for integer sums it combines the values of a warp first and issues one update per
//! warp.)
//!
//! Remaining fault: all threads wait for one address. Next: [`shared_memory`](super::shared_memory), one
//! address per block.
//!
//! Source: the post "CUDA 006 - Reduction" (WangYu::Space, 2025).

use crate::element::Element;
use crate::mem::Global;
use crate::op::AtomicOp;
use cuda_std::thread::{block_dim_x, block_idx_x, thread_idx_x};

/// Combines all of `input` into `output[0]`, which holds the identity before.
///
/// Blocks: `ceil(n / threads)`. The order of the updates is chosen by the hardware: a float result differs from
/// run to run.
///
/// # Safety
///
/// The launch meets the [requirements](super).
#[inline(always)]
pub unsafe fn reduce_naive<T: Element, O: AtomicOp<T, Acc = T>>(
    op: O,
    input: Global<T>,
    output: Global<T>,
) {
    let i = block_idx_x() as usize * block_dim_x() as usize + thread_idx_x() as usize;

    if i < input.len() {
        output.combine_atomic::<T, O>(op, 0, input.get(i));
    }
}
