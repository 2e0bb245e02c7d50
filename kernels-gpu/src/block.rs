//! The cooperative steps of a block: its warps meet in shared memory.
//!
//! Every function here wants all threads of a one-dimensional block to arrive, in whole warps: a
//! multiple of 32 threads, at most 1024.

use crate::items::Items;
use crate::mem::Shared;
use crate::op::Op;
use crate::warp::{WARP_SIZE, reduce_to_first};
use cuda_std::thread::{block_dim_x, sync_threads, thread_idx_x};

/// The block's values as one. **Thread 0 holds the result**; what the others get is of no use.
///
/// Two rounds of [`reduce_to_first`], because 32 warps of 32 lanes are all that a block can have:
///
/// ```text
/// warp 0    lanes 0 .. 31 ──► lane 0 ──► scratch[0] ┐
/// warp 1    lanes 0 .. 31 ──► lane 0 ──► scratch[1] ├─ barrier ─► warp 0 ──► thread 0
/// ...                                               ┘
/// ```
///
/// A lane of the first warp that finds no warp of its number brings the identity. The operator may
/// be any, and so may what it combines in: the shuffles move 64-bit values by halves, and an index
/// beside its value.
///
/// One barrier. Whoever uses `scratch` again afterwards needs one before that: the first warp may
/// still be reading it.
///
/// # Safety
///
/// All threads of the block arrive here; `scratch` holds an element for each warp, which nobody
/// still reads.
#[inline(always)]
pub unsafe fn block_reduce<I: Items, O: Op<I>>(
    op: O,
    value: O::Acc,
    scratch: Shared<O::Acc>,
) -> O::Acc {
    let (tid, warps) = (thread_idx_x(), block_dim_x() / WARP_SIZE);

    // SAFETY: all threads are here, so every warp is whole.
    let partial = unsafe { reduce_to_first::<I, O>(op, value) };
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
    // SAFETY: the first warp is whole, and all of its lanes are here.
    unsafe { reduce_to_first::<I, O>(op, partial) }
}
