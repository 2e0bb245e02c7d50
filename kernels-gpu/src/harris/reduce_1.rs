//! `reduce_1`: the tree of [`reduce_0`](super::reduce_0), computed by adjacent threads.
//!
//! Fixes the divergence: the pairs are the same, but now thread `t` combines pair `t`. The threads with work
//! are always the first ones, so in each step whole warps work and whole warps are idle.
//!
//! ```text
//! scratch    0   1   2   3   4   5   6   7
//! s = 1      0+1 .   2+3 .   4+5 .   6+7 .     threads 0 1 2 3 add
//! s = 2      0..3    .       4..7    .         threads 0 1 add
//! s = 4      0..7                              thread 0 adds
//! ```
//!
//! Remaining fault: bank conflicts. Adjacent lanes access elements that are `2 * s` apart. Shared memory has 32
//! banks, and consecutive 4-byte words are in consecutive banks. With a stride of 2, two lanes access the same
//! bank; with a stride of 4, four; finally up to 32. Accesses to the same bank are done one after another.
//! Next: [`reduce_2`](super::reduce_2).
//!
//! Source: the post "CUDA 006 - Reduction" (WangYu::Space, 2025). It says that a bank is 32 bytes wide; a
//! bank is one word, 4 bytes, wide.

use super::block_threads;
use crate::element::Element;
use crate::mem::{Global, Shared};
use crate::op::Op;
use cuda_std::thread::{block_idx_x, sync_threads, thread_idx_x};

/// Stores the partial of each block's elements in `output[block]`.
///
/// Blocks: `ceil(n / threads)`; `scratch`: `threads` elements. The order of combination depends only on
/// `threads`: floats are bit-equal from run to run.
///
/// # Safety
///
/// The launch meets the [requirements](super).
#[inline(always)]
pub unsafe fn reduce_1<T: Element, O: Op<T, Acc = T>>(
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

    let mut s = 1;
    while s < threads {
        let index = 2 * s * tid;
        if index < threads {
            scratch.set(
                index,
                op.combine(scratch.get(index), scratch.get(index + s)),
            );
        }
        // The next step reads what this one wrote.
        sync_threads();
        s *= 2;
    }

    if tid == 0 {
        output.set(block_idx_x() as usize, scratch.get(0));
    }
}
