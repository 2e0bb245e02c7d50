//! `reduce_naive`: every thread combines its element into one cell of global memory.
//!
//! Correct, and the simplest thing that is: the atomic makes each update indivisible, so no
//! update is lost. But there is one cell, so all n updates of the whole grid form one queue in
//! front of it, and the GPU waits in line. (The compiler shortens the queue by itself where it
//! can: for integer sums it combines the values of a warp first and sends one update per warp.)
//!
//! Still wrong: the queue. Next: [`shared_memory`](super::shared_memory), a queue per block.

use crate::element::Element;
use crate::mem::Global;
use crate::op::AtomicOp;
use cuda_std::thread::{block_dim_x, block_idx_x, thread_idx_x};

/// Combines all of `input` into `output[0]`, which holds the identity before.
///
/// Blocks: `ceil(n / threads)`. Floats: the order of combination is the order in which the
/// hardware serves the queue, and differs from run to run.
///
/// # Safety
///
/// The launch is as [`harris`](super) asks.
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
