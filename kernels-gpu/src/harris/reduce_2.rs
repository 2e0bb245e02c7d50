//! `reduce_2`: the tree with sequential addressing.
//!
//! Fixes the bank conflicts: instead of adjacent values, each step combines the upper half of the
//! values with the lower half. Lane `t` loads elements `t` and `t + s`, lane `t + 1` loads `t + 1`
//! and `t + 1 + s`: 32 lanes access 32 consecutive words, which are in 32 different banks.
//!
//! ```text
//! scratch    0   1   2   3   4   5   6   7
//! s = 4      0+4 1+5 2+6 3+7                   threads 0 1 2 3 add
//! s = 2      0246 1357                         threads 0 1 add
//! s = 1      0..7                              thread 0 adds
//! ```
//!
//! Remaining fault: half of the threads load one element and never add. Next:
//! [`reduce_3`](super::reduce_3).
//!
//! Source: the post "CUDA 006 - Reduction" (WangYu::Space, 2025). "Parallel Reduction with CUDA" (shreeraman
//! karikalan, 2020) has the same addressing, with the last warp unrolled: [`reduce_2_warp`](super::reduce_2_warp).

use super::block_threads;
use crate::element::Element;
use crate::mem::{Global, Shared};
use crate::op::Op;
use cuda_std::thread::{block_idx_x, sync_threads, thread_idx_x};

/// Stores the partial of each block's elements in `output[block]`.
///
/// Blocks: `ceil(n / threads)`; `scratch`: `threads` elements. The order of combination depends
/// only on `threads`: floats are bit-equal from run to run.
///
/// # Safety
///
/// The launch meets the [requirements](super).
#[inline(always)]
pub unsafe fn reduce_2<T: Element, O: Op<T, Acc = T>>(
    op: O,
    input: Global<T>,
    output: Global<T>,
    scratch: Shared<T>,
) {
    let tid = thread_idx_x();
    // SAFETY: the same launch.
    let threads = unsafe { block_threads() };
    let i = block_idx_x() as usize * threads as usize + tid as usize;

    let loaded = if i < input.len() {
        input.get(i)
    } else {
        op.identity()
    };
    scratch.set(tid, loaded);
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
