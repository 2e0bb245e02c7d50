//! Whole-array reductions in one launch, bit-equal from run to run: the default algorithm.
//!
//! Two launches cost two trips to the device, which small arrays feel; atomics on one cell cost
//! floats their reproducibility. This kernel pays neither: a thread combines its share of the input
//! ([`grid_stride`](crate::grid_stride)), a block its threads ([`block_reduce`](crate::block)), and the last
//! block to begin the partials of all ([`grid_reduce`]). An operator that is not commutative reads neighbouring
//! items instead ([`in_order`](crate::in_order)).
//!
//! # What it requires of its launch
//!
//! - A one-dimensional grid and a one-dimensional block of a multiple of 32 threads, at most 1024.
//! - A [`TempStorage`] with room for a partial per block, all words of which are 0, an arrival counter of 0,
//!   and a scratch with an element per warp of the block.
//!
//! # Order
//!
//! Floats are bit-equal from run to run: the order depends on the length, the launch, and on how the
//! arrays' starts are aligned.

use crate::grid::{TempStorage, grid_reduce};
use crate::grid_stride::grid_stride;
use crate::in_order::in_order;
use crate::items::Items;
use crate::op::Op;

/// Leaves all of the input as one in the storage's result: by vectors of `N` items, `K` in flight.
///
/// # Safety
///
/// The launch is as the [module](self) requires; all arrays have the same length.
#[inline(always)]
pub unsafe fn single_pass<I: Items, O: Op<I>, const N: usize, const K: usize>(
    op: O,
    arrays: I::Arrays,
    storage: TempStorage<O::Acc>,
) {
    let arrival = storage.arrive();
    let value = if O::COMMUTATIVE {
        grid_stride::<I, O, N, K>(op, arrays)
    } else {
        // SAFETY: no thread has left, so every warp is whole.
        unsafe { in_order::<I, O, N, K>(op, arrays) }
    };
    // SAFETY: no thread has left, and the storage is the launch's.
    unsafe { grid_reduce::<I, O>(op, value, arrival, storage) }
}
