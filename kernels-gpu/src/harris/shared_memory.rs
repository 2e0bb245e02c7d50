//! `reduce_shared_memory`: every thread combines its element into one cell of its block's shared memory; then
//! one thread per block combines that cell into global memory.
//!
//! Shared memory is inside the multiprocessor, so an atomic there is fast. Global memory gets one update per
//! block instead of one per element. (For integer sums the compiler again combines the values of a warp first.)
//!
//! Remaining fault: the threads of a block still update one address one after another. A tree needs no atomics:
//! [`reduce_0`](super::reduce_0).
//!
//! Source: the post "CUDA 006 - Reduction" (WangYu::Space, 2025).

use crate::element::Element;
use crate::mem::{Global, Shared};
use crate::op::AtomicOp;
use cuda_std::thread::{block_dim_x, block_idx_x, sync_threads, thread_idx_x};

/// Combines all of `input` into `output[0]`, which holds the identity before.
///
/// Blocks: `ceil(n / threads)`; `scratch`: one element. A float result differs from run to run.
///
/// # Safety
///
/// The launch meets the [requirements](super).
#[inline(always)]
pub unsafe fn reduce_shared_memory<T: Element, O: AtomicOp<T, Acc = T>>(
    op: O,
    input: Global<T>,
    output: Global<T>,
    scratch: Shared<T>,
) {
    let tid = thread_idx_x();
    let i = block_idx_x() as usize * block_dim_x() as usize + tid as usize;

    if tid == 0 {
        scratch.set(0, op.identity());
    }
    // No thread may add before the cell holds the identity.
    sync_threads();

    let loaded = if i < input.len() {
        input.get(i)
    } else {
        op.identity()
    };
    scratch.combine_atomic::<T, O>(op, 0, loaded);
    // The block's aggregate is complete when its last thread has added.
    sync_threads();

    if tid == 0 {
        output.combine_atomic::<T, O>(op, 0, scratch.get(0));
    }
}
