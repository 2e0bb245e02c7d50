//! `reduce_0`: a tree in shared memory, interleaved addressing.
//!
//! Each thread brings one element. Then pairs are combined, then pairs of pairs: after
//! log2(threads) steps the block's partial stands in `scratch[0]`.
//!
//! ```text
//! scratch    0   1   2   3   4   5   6   7
//! s = 1      0+1 .   2+3 .   4+5 .   6+7 .     threads 0 2 4 6 add
//! s = 2      0..3    .       4..7    .         threads 0 4 add
//! s = 4      0..7                              thread 0 adds
//! ```
//!
//! Still wrong: the threads that add are scattered. Of 32 lanes every second, then every
//! fourth, ... has work, yet the whole warp must walk through the branch: in each of the first
//! five steps every warp of the block runs, with 16, 8, 4, 2, and at last one of its lanes
//! switched on. That is divergence.
//! Next: [`reduce_1`](super::reduce_1).
//!
//! # The modulo
//!
//! The original's second fault is the slow `%`. Here it costs nothing: `2 * s` is a power of
//! two, LLVM proves it, and the remainder becomes one `and`. nvcc 13.0 does not, which is why
//! this rung is about twice as fast as its CUDA C++ twin. [`reduce_0_modulo`] is the same rung
//! with the divisor hidden from the compiler, so that the division can still be measured.

use super::block_threads;
use crate::element::Element;
use crate::mem::{Global, Shared};
use crate::op::Op;
use core::hint::{assert_unchecked, black_box};
use cuda_std::thread::{block_idx_x, sync_threads, thread_idx_x};

/// Leaves the partial of each block's elements in `output[block]`.
///
/// Blocks: `ceil(n / threads)`; `scratch`: `threads` elements. The order of combination depends
/// on `threads` alone: floats are bit-equal from run to run.
///
/// # Safety
///
/// The launch is as [`harris`](super) asks.
#[inline(always)]
#[expect(
    clippy::manual_is_multiple_of,
    reason = "the remainder is what this rung is about"
)]
pub unsafe fn reduce_0<T: Element, O: Op<T, Acc = T>>(
    op: O,
    input: Global<T>,
    output: Global<T>,
    scratch: Shared<T>,
) {
    let tid = thread_idx_x();
    // SAFETY: the launch is this function's own.
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
        if tid % (2 * s) == 0 {
            scratch.set(tid, op.combine(scratch.get(tid), scratch.get(tid + s)));
        }
        // The next step reads what this one wrote.
        sync_threads();
        s *= 2;
    }

    if tid == 0 {
        output.set(block_idx_x() as usize, scratch.get(0));
    }
}

/// [`reduce_0`] with a real division: `black_box` hides from the compiler that the divisor is a
/// power of two. Everything else is the same, on purpose: the two are to be measured side by
/// side.
///
/// # Safety
///
/// As [`reduce_0`].
#[inline(always)]
#[expect(
    clippy::manual_is_multiple_of,
    reason = "the remainder is what this rung is about"
)]
pub unsafe fn reduce_0_modulo<T: Element, O: Op<T, Acc = T>>(
    op: O,
    input: Global<T>,
    output: Global<T>,
    scratch: Shared<T>,
) {
    let tid = thread_idx_x();
    // SAFETY: the launch is this function's own.
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
        let divisor = black_box(2 * s);
        // SAFETY: s >= 1 and 2 * s <= 1024; said so that no check for zero is measured too.
        unsafe { assert_unchecked(divisor != 0) };
        if tid % divisor == 0 {
            scratch.set(tid, op.combine(scratch.get(tid), scratch.get(tid + s)));
        }
        sync_threads();
        s *= 2;
    }

    if tid == 0 {
        output.set(block_idx_x() as usize, scratch.get(0));
    }
}
