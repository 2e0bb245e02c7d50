//! `reduce_5`: many elements per thread.
//!
//! Mends the short threads of [`reduce_4`](super::reduce_4): each thread loads `chunks` elements
//! before the block pays for its tree. What takes the time is the trip to memory, and the way to
//! hide it is to have many loads under way at once.
//!
//! Two forms, and the difference between them is the lesson:
//!
//! - [`reduce_5`], a loop. Simple, and good for any number of chunks. But the next load stands
//!   behind the loop's exit, and the compiler leaves it there. So it starts in its own turn, after
//!   an addition that has waited for the load before: one trip to memory after another.
//! - [`reduce_5_unrolled`], the number of chunks known at compile time. Nearly every thread has all
//!   of its chunks inside the input; such a thread asks once, starts all of its loads and only then
//!   begins to add: one trip for all. (The original's unrolled loop still ends at the first chunk
//!   past the end, so that each of its loads stands behind an exit too.)
//!
//! Still wrong: a load brings 4 bytes where one instruction could bring 16, as
//! [`ceiling`](crate::ceiling) does, and the partials still need launches of their own. How many
//! chunks are enough depends on the block: 8 are with 256 threads, and are not with 1024.

use super::reduce_4::fold_to_warp;
use crate::element::Element;
use crate::mem::{Global, Shared};
use crate::op::Op;
use crate::warp::{WARP_SIZE, reduce_down};
use cuda_std::thread::{block_dim_x, block_idx_x, grid_dim_x, thread_idx_x};

/// Leaves the partial of each block's elements in `output[block]`; the loop.
///
/// Blocks: any number, usually `ceil(n / (chunks * threads))`; `threads >= 32`; `scratch`:
/// `threads` elements. The order of combination depends on `n`, `threads` and the number of
/// blocks alone: floats are bit-equal from run to run.
///
/// # Safety
///
/// The launch is as [`harris`](super) asks.
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

    // SAFETY: the launch is this function's own, and all threads of the block are here.
    unsafe { finish_block::<T, O>(op, value, output, scratch) }
}

/// Leaves the partial of each block's elements in `output[block]`; the chunks unrolled.
///
/// Blocks: at least `ceil(n / (CHUNKS * threads))`; `threads >= 32`; `scratch`: `threads`
/// elements. The order of combination depends on `n`, `threads` and `CHUNKS` alone: floats are
/// bit-equal from run to run.
///
/// # Safety
///
/// The launch is as [`harris`](super) asks.
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
        // All of the thread's chunks are inside: no load waits for anything.
        let mut chunks = [op.identity(); CHUNKS];
        for (c, chunk) in chunks.iter_mut().enumerate() {
            *chunk = input.get(i + c * stride);
        }
        for chunk in chunks {
            value = op.combine(value, chunk);
        }
    } else {
        // Some of the thread's chunks lie past the end.
        for c in 0..CHUNKS {
            if i + c * stride < input.len() {
                value = op.combine(value, input.get(i + c * stride));
            }
        }
    }

    // SAFETY: the launch is this function's own, and all threads of the block are here.
    unsafe { finish_block::<T, O>(op, value, output, scratch) }
}

/// The block's values as one, written to `output[block]` by thread 0: the tree down to one warp,
/// then shuffles.
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
    // SAFETY: the caller's contract is the callee's.
    let value = unsafe { fold_to_warp::<T, O>(op, value, scratch) };

    if tid < WARP_SIZE {
        // SAFETY: the first warp is whole (threads >= 32), and all of its lanes are here.
        let partial = unsafe { reduce_down::<T, O>(op, value) };
        if tid == 0 {
            output.set(block_idx_x() as usize, partial);
        }
    }
}
