//! `reduce_4`: the last warp uses shuffles.
//!
//! Fixes the barriers at the end: once 32 values are left, one warp finishes without shared memory and without
//! barriers, because its lanes can read each other's registers. Five steps of store, barrier and load become
//! five shuffles.
//!
//! There are two forms: [`reduce_4`] uses [`reduce_down`] and works for any element. [`reduce_4_redux`] uses
//! [`reduce_redux`], one instruction instead of five shuffles, for 32-bit integers.
//!
//! Remaining fault: a thread has only two loads in flight and then waits, and the block executes its tree for
//! two elements per thread. Next: [`reduce_5`](super::reduce_5).
//!
//! Source: the post "CUDA 006 - Reduction" (WangYu::Space, 2025).

use super::block_threads;
use crate::element::Element;
use crate::mem::{Global, Shared};
use crate::op::{Op, ReduxOp};
use crate::warp::{WARP_SIZE, reduce_down, reduce_redux};
use cuda_std::thread::{block_dim_x, block_idx_x, grid_dim_x, sync_threads, thread_idx_x};

/// Stores the partial of each block's elements in `output[block]`.
///
/// Blocks: `ceil(n / (2 * threads))`, `threads >= 32`; `scratch`: `threads` elements. The order of combination
/// depends only on `n` and `threads`: floats are bit-equal from run to run.
///
/// # Safety
///
/// The launch meets the [requirements](super).
#[inline(always)]
pub unsafe fn reduce_4<T: Element, O: Op<T, Acc = T>>(
    op: O,
    input: Global<T>,
    output: Global<T>,
    scratch: Shared<T>,
) {
    let tid = thread_idx_x();
    // SAFETY: the same launch.
    let value = unsafe { fold_to_warp::<T, O>(op, load_two::<T, O>(op, input), scratch) };

    if tid < WARP_SIZE {
        // SAFETY: only the first warp gets here, and all of its lanes do (threads >= 32).
        let partial = unsafe { reduce_down::<T, O>(op, value) };
        if tid == 0 {
            output.set(block_idx_x() as usize, partial);
        }
    }
}

/// [`reduce_4`] with one instruction for the warp's reduction.
///
/// # Safety
///
/// As [`reduce_4`].
#[inline(always)]
pub unsafe fn reduce_4_redux<T: Element, O: ReduxOp<T, Acc = T>>(
    op: O,
    input: Global<T>,
    output: Global<T>,
    scratch: Shared<T>,
) {
    let tid = thread_idx_x();
    // SAFETY: the same launch.
    let value = unsafe { fold_to_warp::<T, O>(op, load_two::<T, O>(op, input), scratch) };

    if tid < WARP_SIZE {
        // SAFETY: only the first warp gets here, and all of its lanes do (threads >= 32).
        let partial = unsafe { reduce_redux::<T, O>(value) };
        if tid == 0 {
            output.set(block_idx_x() as usize, partial);
        }
    }
}

/// Loads the thread's two elements and combines them, as in [`reduce_3`](super::reduce_3).
#[inline(always)]
fn load_two<T: Element, O: Op<T, Acc = T>>(op: O, input: Global<T>) -> T {
    let (tid, threads) = (thread_idx_x() as usize, block_dim_x() as usize);
    let i = block_idx_x() as usize * threads + tid;
    let second = (block_idx_x() + grid_dim_x()) as usize * threads + tid;

    let mut value = if i < input.len() {
        input.get(i)
    } else {
        op.identity()
    };
    if second < input.len() {
        value = op.combine(value, input.get(second));
    }
    value
}

/// The tree of [`reduce_2`](super::reduce_2), down to one warp. **Threads 0 to 31 hold the block's 32 remaining
/// values**, one in a register each; the values of the other threads are unspecified.
///
/// # Safety
///
/// All threads of the block arrive here, each with its value; their number is a power of two and at least 32.
/// `scratch` holds one element per thread, and no thread still reads it.
#[inline(always)]
pub(super) unsafe fn fold_to_warp<T: Element, O: Op<T, Acc = T>>(
    op: O,
    value: T,
    scratch: Shared<T>,
) -> T {
    let tid = thread_idx_x();
    scratch.set(tid, value);
    sync_threads();

    // SAFETY: the caller's launch.
    let mut s = unsafe { block_threads() } / 2;
    while s >= WARP_SIZE {
        if tid < s {
            scratch.set(tid, op.combine(scratch.get(tid), scratch.get(tid + s)));
        }
        // The next step reads what this one wrote.
        sync_threads();
        s /= 2;
    }
    // No barrier is needed after this load: from here on each thread only reads its own element.
    scratch.get(tid)
}
