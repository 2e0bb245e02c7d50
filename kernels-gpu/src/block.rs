//! The cooperative step of a block: its warps exchange partials through shared memory.
//!
//! All threads of a one-dimensional block must arrive at every function here. The block must consist of whole
//! warps: a multiple of 32 threads, at most 1024.
//!
//! Source: the post "Faster Parallel Reductions on Kepler" (Justin Luitjens, NVIDIA, 2014).

use crate::items::Items;
use crate::mem::Shared;
use crate::op::Op;
use crate::warp::{WARP_SIZE, all_reduce, reduce_in_order, reduce_to_first};
use cuda_std::thread::{block_dim_x, sync_threads, thread_idx_x};

/// Combines the values of all threads of the block. **Thread 0 holds the result**; the values of the other
/// threads are unspecified.
///
/// Two rounds suffice, because a block has at most 32 warps of 32 lanes: [`reduce_to_first`] in every warp, then
/// [`combine_warps`].
///
/// # Safety
///
/// That of [`combine_warps`].
#[inline(always)]
pub unsafe fn block_reduce<I: Items, O: Op<I>>(
    op: O,
    value: O::Acc,
    scratch: Shared<O::Acc>,
) -> O::Acc {
    // SAFETY: all threads arrive, so all lanes of every warp do; the rest is the caller's contract.
    unsafe { combine_warps::<I, O>(op, reduce_to_first::<I, O>(op, value), scratch) }
}

/// Does [`block_reduce`] in the order of the threads, as a binary tree of adjacent values.
///
/// # Safety
///
/// That of [`combine_warps`].
#[inline(always)]
pub unsafe fn block_reduce_in_order<I: Items, O: Op<I>>(
    op: O,
    value: O::Acc,
    scratch: Shared<O::Acc>,
) -> O::Acc {
    // SAFETY: all threads arrive, so all lanes of every warp do; the rest is the caller's contract.
    unsafe { combine_warps::<I, O>(op, reduce_in_order::<I, O>(op, value), scratch) }
}

/// Combines the values of all threads of the block by a commutative operator. **Every thread holds the result.**
///
/// [`all_reduce`] in every warp, then [`combine_warps`]. Thread 0 stores the result in shared memory, and after a second
/// barrier all threads load it: a broadcast, as the post describes it. Before `scratch` is used again, the caller needs
/// another barrier, because other threads may still be reading it.
///
/// # Safety
///
/// That of [`combine_warps`].
#[inline(always)]
pub unsafe fn block_all_reduce<I: Items, O: Op<I>>(
    op: O,
    value: O::Acc,
    scratch: Shared<O::Acc>,
) -> O::Acc {
    // SAFETY: all threads arrive, so all lanes of every warp do; the rest is the caller's contract.
    let result = unsafe {
        let of_warp = all_reduce::<I, O>(op, value);
        combine_warps::<I, O>(op, of_warp, scratch)
    };
    // No other thread has read this element.
    if thread_idx_x() == 0 {
        scratch.set(0, result);
    }
    // All threads read what thread 0 wrote.
    sync_threads();
    scratch.get(0)
}

/// Combines the values of the warps, each of which its lane 0 holds, as a binary tree of adjacent warps. **Thread 0
/// holds the result**; the values of the other threads are unspecified.
///
/// ```text
/// warp 0    lane 0 ──► scratch[0] ┐
/// warp 1    lane 0 ──► scratch[1] ├─ barrier ─► warp 0, a value in each lane ──► thread 0
/// ...                             ┘
/// ```
///
/// In the first warp, a lane without a corresponding warp contributes the identity. The accumulator may have any
/// element type: a shuffle moves a 64-bit value in two halves, and a structure field by field.
///
/// There is one barrier. Before `scratch` is used again, the caller needs another barrier, because the first
/// warp may still be reading it.
///
/// # Safety
///
/// All threads of the block arrive here. `scratch` holds an element for each warp, and no thread still reads
/// it.
#[inline(always)]
pub unsafe fn combine_warps<I: Items, O: Op<I>>(
    op: O,
    partial: O::Acc,
    scratch: Shared<O::Acc>,
) -> O::Acc {
    let (tid, warps) = (thread_idx_x(), block_dim_x() / WARP_SIZE);
    if tid % WARP_SIZE == 0 {
        scratch.set(tid / WARP_SIZE, partial);
    }
    // The first warp reads what all of them wrote.
    sync_threads();

    if tid >= WARP_SIZE {
        return partial;
    }
    let partial = if tid < warps {
        scratch.get(tid)
    } else {
        op.identity()
    };
    // SAFETY: only the first warp gets here, with all of its lanes.
    unsafe { reduce_in_order::<I, O>(op, partial) }
}
