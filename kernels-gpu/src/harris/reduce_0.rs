//! `reduce_0`: a tree in shared memory, interleaved addressing.
//!
//! Each thread loads one element. Each step combines pairs: after log2(threads) steps `scratch[0]` holds the
//! block's partial.
//!
//! ```text
//! scratch    0   1   2   3   4   5   6   7
//! s = 1      0+1 .   2+3 .   4+5 .   6+7 .     threads 0 2 4 6 add
//! s = 2      0..3    .       4..7    .         threads 0 4 add
//! s = 4      0..7                              thread 0 adds
//! ```
//!
//! Remaining fault: divergence. In step `s` every `2 * s`-th thread has work. In each of the first five steps
//! every warp of the block must execute the branch, with only 16, 8, 4, 2 and 1 of its lanes active. Next:
//! [`reduce_1`](super::reduce_1).
//!
//! # The modulo
//!
//! The original has a second fault, the slow `%`. Here it costs nothing: LLVM proves that `2 * s` is a power of
//! two and replaces the remainder by one `and`. nvcc 13.0 does not, so this rung is about twice as fast as the
//! CUDA C++ reference kernel. [`reduce_0_modulo`] is the same rung with the divisor hidden from the compiler,
//! to measure the division.
//!
//! Source: the post "CUDA 006 - Reduction" (WangYu::Space, 2025).

use super::block_threads;
use crate::element::Element;
use crate::mem::{Global, Shared};
use crate::op::Op;
use core::hint::{assert_unchecked, black_box};
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

/// [`reduce_0`] with a real division: `black_box` hides from the compiler that the divisor is a power of two.
/// The rest is the same on purpose, so that the two can be compared.
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
        let divisor = black_box(2 * s);
        // SAFETY: s >= 1 and 2 * s <= 1024. Without this, a check for zero would be measured too.
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
