//! `warp_atomic`: one launch, one atomic per warp.
//!
//! Source: the post "Faster Parallel Reductions on Kepler" (Justin Luitjens, NVIDIA, 2014).

use crate::element::Element;
use crate::grid_stride::grid_stride;
use crate::mem::Global;
use crate::op::AtomicOp;
use crate::warp::{WARP_SIZE, reduce_down};
use cuda_std::thread::thread_idx_x;

/// Combines all of `input` into `output[0]`, which holds the identity before; `N` elements per load.
///
/// The simplest of the three kernels: no shared memory, no barrier, no partials. All warps of the grid update
/// one cell, which costs little if each warp has read enough elements before.
///
/// # Safety
///
/// The launch meets the [requirements](super).
#[inline(always)]
pub unsafe fn warp_atomic<T: Element, O: AtomicOp<T, Acc = T>, const N: usize>(
    op: O,
    input: Global<T>,
    output: Global<T>,
) {
    let value = grid_stride::<T, O, N, 4>(op, input);
    // SAFETY: no thread has exited, so all lanes of the warp arrive.
    let partial = unsafe { reduce_down::<T, O>(op, value) };
    if thread_idx_x().is_multiple_of(WARP_SIZE) {
        output.combine_atomic::<T, O>(op, 0, partial);
    }
}
