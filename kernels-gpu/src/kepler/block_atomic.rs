//! `block_atomic`: one launch, one atomic per block.
//!
//! Source: the post "Faster Parallel Reductions on Kepler" (Justin Luitjens, NVIDIA, 2014).

use crate::block::block_reduce;
use crate::element::Element;
use crate::grid_stride::grid_stride;
use crate::mem::{Global, Shared};
use crate::op::AtomicOp;
use cuda_std::thread::thread_idx_x;

/// Combines all of `input` into `output[0]`, which holds the identity before; `N` elements per load.
///
/// It needs no second launch and no partials in global memory. Compared with
/// [`warp_atomic`](super::warp_atomic::warp_atomic) it has far fewer atomics, and a barrier per block.
///
/// # Safety
///
/// The launch meets the [requirements](super).
#[inline(always)]
pub unsafe fn block_atomic<T: Element, O: AtomicOp<T, Acc = T>, const N: usize>(
    op: O,
    input: Global<T>,
    output: Global<T>,
    scratch: Shared<T>,
) {
    let value = grid_stride::<T, O, N, 4>(op, input);
    // SAFETY: no thread has exited, and the launch provides the scratch.
    let partial = unsafe { block_reduce::<T, O>(op, value, scratch) };
    if thread_idx_x() == 0 {
        output.combine_atomic::<T, O>(op, 0, partial);
    }
}
