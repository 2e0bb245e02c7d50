//! `reduce_4`: the last warp shuffles.
//!
//! Mends the barriers at the end: once 32 values are left, one warp can finish without shared
//! memory and without barriers, because the lanes of a warp can read each other's registers.
//! Five steps of store, barrier and load become five shuffles.
//!
//! Two forms: [`reduce_4`] with [`reduce_down`] (any element), and [`reduce_4_redux`] with
//! [`reduce_redux`], one instruction instead of five (32-bit integers).
//!
//! Still wrong: a thread has only two loads in flight, then waits, and the block pays its tree
//! for two elements per thread. Next: [`reduce_5`](super::reduce_5).

use super::block_threads;
use crate::element::Element;
use crate::mem::{Global, Shared};
use crate::op::{Op, ReduxOp};
use crate::warp::{WARP_SIZE, reduce_down, reduce_redux};
use cuda_std::thread::{block_dim_x, block_idx_x, grid_dim_x, sync_threads, thread_idx_x};

/// Leaves the partial of each block's elements in `output[block]`.
///
/// Blocks: `ceil(n / (2 * threads))`, `threads >= 32`; `scratch`: `threads` elements. The order
/// of combination depends on `n` and `threads` alone: floats are bit-equal from run to run.
///
/// # Safety
///
/// The launch is as [`harris`](super) asks.
#[inline(always)]
pub unsafe fn reduce_4<T: Element, O: Op<T, Acc = T>>(
    op: O,
    input: Global<T>,
    output: Global<T>,
    scratch: Shared<T>,
) {
    let tid = thread_idx_x();
    // SAFETY: the launch is this function's own.
    let value = unsafe { fold_to_warp::<T, O>(op, load_two::<T, O>(op, input), scratch) };

    if tid < WARP_SIZE {
        // SAFETY: the first warp is whole (threads >= 32), and all of its lanes are here.
        let partial = unsafe { reduce_down::<T, O>(op, value) };
        if tid == 0 {
            output.set(block_idx_x() as usize, partial);
        }
    }
}

/// [`reduce_4`] with the warp's reduction in one instruction.
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
    // SAFETY: the launch is this function's own.
    let value = unsafe { fold_to_warp::<T, O>(op, load_two::<T, O>(op, input), scratch) };

    if tid < WARP_SIZE {
        // SAFETY: the first warp is whole (threads >= 32), and all of its lanes are here.
        let partial = unsafe { reduce_redux::<T, O>(value) };
        if tid == 0 {
            output.set(block_idx_x() as usize, partial);
        }
    }
}

/// The thread's two elements as one, as in [`reduce_3`](super::reduce_3).
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

/// The tree of [`reduce_2`](super::reduce_2), stopped when one warp is left: **threads 0 to 31
/// hold the block's 32 remaining values**, in a register each; what the others get is of no use.
///
/// # Safety
///
/// All threads of the block arrive here, at least 32 and a power of two, each with its value;
/// `scratch` holds one element per thread, and no thread is still reading it.
#[inline(always)]
pub(super) unsafe fn fold_to_warp<T: Element, O: Op<T, Acc = T>>(
    op: O,
    value: T,
    scratch: Shared<T>,
) -> T {
    let tid = thread_idx_x();
    scratch.set(tid, value);
    sync_threads();

    // SAFETY: the launch is the caller's own.
    let mut s = unsafe { block_threads() } / 2;
    while s >= WARP_SIZE {
        if tid < s {
            scratch.set(tid, op.combine(scratch.get(tid), scratch.get(tid + s)));
        }
        // The next step reads what this one wrote.
        sync_threads();
        s /= 2;
    }
    // No barrier after this read: from here on each thread reads its own element only.
    scratch.get(tid)
}
