//! `reduce_2_warp`: `reduce_2`, whose last warp is unrolled in shared memory.
//!
//! A branch of the ladder beside [`reduce_4`](super::reduce_4): it fixes the barriers at the end as they were fixed
//! before shuffles. Once 64 values are left, the first warp finishes alone, in shared memory, by six steps written one
//! after the other. The other warps wait for nothing more.
//!
//! ```text
//! scratch    0 1 2 ... 31 | 32 33 ... 63          64 values; the steps of a block end here
//! s = 32     lanes 0 to 31 add scratch[tid + 32]  a barrier of the warp
//! s = 16     lanes 0 to 15 add scratch[tid + 16]  a barrier of the warp
//! ...
//! s = 1      lane 0 adds scratch[1]
//! ```
//!
//! A barrier of a warp is nearly free, but it is one. The post has none, because the lanes of a warp ran in lock-step
//! when its technique was published. Since Volta each lane has its own program counter: without [`sync_warp`] a lane may
//! read before another has written. That is a race, also with C's `volatile`.
//!
//! Source: the post "Parallel Reduction with CUDA" (shreeraman karikalan, 2020), which finds the minimum of 10^8 floats
//! in this way, 256 threads per block, and finishes the partial minima on the host.

use super::block_threads;
use crate::element::Element;
use crate::mem::{Global, Shared};
use crate::op::Op;
use crate::warp::{FULL_MASK, WARP_SIZE};
use cuda_std::thread::{block_idx_x, sync_threads, thread_idx_x};
use cuda_std::warp::sync_warp;

/// Stores the partial of each block's elements in `output[block]`.
///
/// Blocks: `ceil(n / threads)`; `scratch`: `threads` elements. The order of combination is that of
/// [`reduce_2`](super::reduce_2::reduce_2), so the bits are the same.
///
/// # Safety
///
/// The launch meets the [requirements](super).
#[inline(always)]
pub unsafe fn reduce_2_warp<T: Element, O: Op<T, Acc = T>>(
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

    let halve = |s: u32| {
        if tid < s {
            scratch.set(tid, op.combine(scratch.get(tid), scratch.get(tid + s)));
        }
    };
    let mut s = threads / 2;
    while s > WARP_SIZE {
        halve(s);
        // The next step reads what this one wrote.
        sync_threads();
        s /= 2;
    }

    if tid < WARP_SIZE {
        let halve = |s: u32| {
            halve(s);
            // The next step reads what this one wrote, and lanes need not run in lock-step since Volta.
            // SAFETY: only the first warp gets here, and all of its lanes do.
            unsafe { sync_warp(FULL_MASK) };
        };
        // A block of one warp has 32 values.
        if threads > WARP_SIZE {
            halve(32);
        }
        halve(16);
        halve(8);
        halve(4);
        halve(2);
        halve(1);
        if tid == 0 {
            output.set(block_idx_x() as usize, scratch.get(0));
        }
    }
}
