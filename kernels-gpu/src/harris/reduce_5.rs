//! `reduce_5`: many elements per thread.
//!
//! Fixes the short threads of [`reduce_4`](super::reduce_4): each thread loads `chunks` elements before the
//! block executes its tree. Most of the time is memory latency, and many loads in flight hide it.
//!
//! There are two forms, which show why unrolling matters:
//!
//! - [`reduce_5`] is a loop, for any number of chunks. The next load comes after the loop's exit test, and the
//!   compiler does not move it before the test. So it starts only after an addition that has waited for the
//!   load before: the latencies add up.
//! - [`reduce_5_unrolled`] has a constant number of chunks. Nearly every thread has all of its chunks inside
//!   the input. Such a thread checks this once, starts all of its loads, and only then adds: the latencies
//!   overlap. (The original's unrolled loop has an exit at the first chunk past the end, so each of its loads
//!   still comes after a test.)
//!
//! Remaining faults: a load fetches 4 bytes, although one instruction could load 16, as in
//! [`ceiling`](crate::ceiling), and the partials need their own launches. The best number of chunks depends on
//! the block: 8 suffice with 256 threads, but not with 1024.
//!
//! Source: the post "CUDA 006 - Reduction" (WangYu::Space, 2025).

use super::reduce_4::fold_to_warp;
use crate::element::Element;
use crate::mem::{Global, Shared};
use crate::op::Op;
use crate::warp::{WARP_SIZE, reduce_down};
use cuda_std::thread::{block_dim_x, block_idx_x, grid_dim_x, thread_idx_x};

/// Stores the partial of each block's elements in `output[block]`; with a loop over the chunks.
///
/// Blocks: any number, usually `ceil(n / (chunks * threads))`; `threads >= 32`; `scratch`: `threads` elements.
/// The order of combination depends only on `n`, `threads` and the number of blocks: floats are bit-equal from
/// run to run.
///
/// # Safety
///
/// The launch meets the [requirements](super).
#[inline(always)]
pub unsafe fn reduce_5<T: Element, O: Op<T, Acc = T>>(
    op: O,
    input: Global<T>,
    output: Global<T>,
    scratch: Shared<T>,
) {
    let stride = grid_dim_x() as usize * block_dim_x() as usize;
    let mut i = block_idx_x() as usize * block_dim_x() as usize + thread_idx_x() as usize;

    let mut value = op.identity();
    while i < input.len() {
        value = op.combine(value, input.get(i));
        i += stride;
    }

    // SAFETY: the same launch, and all threads of the block arrive here.
    unsafe { finish_block::<T, O>(op, value, output, scratch) }
}

/// Stores the partial of each block's elements in `output[block]`; with the chunks fully unrolled.
///
/// Blocks: at least `ceil(n / (CHUNKS * threads))`; `threads >= 32`; `scratch`: `threads` elements. The order
/// of combination depends only on `n`, `threads` and `CHUNKS`: floats are bit-equal from run to run.
///
/// # Safety
///
/// The launch meets the [requirements](super).
#[inline(always)]
pub unsafe fn reduce_5_unrolled<T: Element, O: Op<T, Acc = T>, const CHUNKS: usize>(
    op: O,
    input: Global<T>,
    output: Global<T>,
    scratch: Shared<T>,
) {
    let stride = grid_dim_x() as usize * block_dim_x() as usize;
    let i = block_idx_x() as usize * block_dim_x() as usize + thread_idx_x() as usize;

    let mut value = op.identity();
    if i + (CHUNKS - 1) * stride < input.len() {
        // All of the thread's chunks are inside the input: the loads do not depend on each other.
        let mut chunks = [op.identity(); CHUNKS];
        for (c, chunk) in chunks.iter_mut().enumerate() {
            *chunk = input.get(i + c * stride);
        }
        for chunk in chunks {
            value = op.combine(value, chunk);
        }
    } else {
        // Some of the thread's chunks are past the end.
        for c in 0..CHUNKS {
            if i + c * stride < input.len() {
                value = op.combine(value, input.get(i + c * stride));
            }
        }
    }

    // SAFETY: the same launch, and all threads of the block arrive here.
    unsafe { finish_block::<T, O>(op, value, output, scratch) }
}

/// Combines the values of the block, and thread 0 stores the result in `output[block]`: the tree down to one
/// warp, then shuffles.
///
/// # Safety
///
/// As [`fold_to_warp`]; `output` holds one element per block.
#[inline(always)]
unsafe fn finish_block<T: Element, O: Op<T, Acc = T>>(
    op: O,
    value: T,
    output: Global<T>,
    scratch: Shared<T>,
) {
    let tid = thread_idx_x();
    // SAFETY: the caller's contract is that of the function called.
    let value = unsafe { fold_to_warp::<T, O>(op, value, scratch) };

    if tid < WARP_SIZE {
        // SAFETY: only the first warp gets here, and all of its lanes do (threads >= 32).
        let partial = unsafe { reduce_down::<T, O>(op, value) };
        if tid == 0 {
            output.set(block_idx_x() as usize, partial);
        }
    }
}
