//! Single-pass reduction: the whole array in one launch, bit-equal from run to run. The default algorithm.
//!
//! A second launch would take time that matters for small arrays, and atomics on one cell would make float
//! results differ from run to run. This kernel avoids both. A thread combines its share of the input
//! ([`grid_stride`](crate::grid_stride)), a block combines its threads ([`block_reduce`](crate::block)), and
//! the block that started last combines the partials of all blocks ([`grid_reduce`]). An operator that is not
//! commutative reads adjacent items instead ([`in_order`](crate::in_order)).
//!
//! # Requirements of every launch
//!
//! - A one-dimensional grid and a one-dimensional block of a multiple of 32 threads, at most 1024.
//! - A [`TempStorage`] with a partial per block, whose words are all 0, an arrival counter of 0, and a scratch
//!   with an element per warp of the block.
//!
//! # Order
//!
//! Floats are bit-equal from run to run: the order depends on the length, the launch, and the alignment of the
//! arrays' starts.

use crate::grid::{TempStorage, grid_reduce};
use crate::grid_stride::grid_stride;
use crate::in_order::in_order;
use crate::items::Items;
use crate::op::Op;

/// Combines all of the input and stores the result in the storage; vectors of `N` items, `K` of them in flight.
///
/// # Safety
///
/// The launch meets the [requirements](self); all arrays have the same length.
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
        // SAFETY: no thread has exited, so all lanes of the warp arrive.
        unsafe { in_order::<I, O, N, K>(op, arrays) }
    };
    // SAFETY: no thread has exited, and the launch provides the storage.
    unsafe { grid_reduce::<I, O>(op, value, arrival, storage) }
}
