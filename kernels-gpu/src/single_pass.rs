//! Single-pass reduction: the whole array in one launch, with the same bits everywhere. The default algorithm.
//!
//! Each warp reduces a [tile](crate::tile) of the array. The tiles are combined in a binary tree of adjacent tiles, in
//! which a block's tiles are a subtree, and so are those of a group of blocks ([`grid`](crate::grid)).
//!
//! # Requirements of every launch
//!
//! - A one-dimensional block of a power of two of threads, from 32 to [`most_threads`].
//! - A one-dimensional grid of as many blocks as have a warp for each tile, at least one. If a warp takes
//!   [several](crate::tile::takes_several) tiles, any number of blocks.
//! - A [`TempStorage`] of [`Storage`](crate::grid::Storage), whose words are all 0, arrival counters of 0, and a scratch
//!   with an element per warp of the block.
//!
//! # Order
//!
//! The bits of the result depend on the items and the operator alone. They do not depend on the threads of a block, on
//! the device, or on the alignment of the arrays' starts: `docs/order.md` describes the order.

use crate::grid::{TempStorage, grid_reduce};
use crate::items::Items;
use crate::op::Op;
use crate::tile::reduce_tiles;
use crate::warp::WARP_SIZE;
use cuda_std::thread::{block_dim_x, block_idx_x, thread_idx_x};

/// The maximum number of threads per block, for accumulators of `acc_bytes` bytes. Blocks are small for large accumulators:
/// such a kernel takes so many registers that a multiprocessor would hold one large block at a time, which has no loads in
/// flight while its lanes combine.
pub const fn most_threads(acc_bytes: usize) -> u32 {
    if acc_bytes <= 16 { 512 } else { 128 }
}

/// Combines all of the input and stores the result in the storage; vectors of `N` items, twice `K` of them in flight.
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
    let (warp, warps) = (thread_idx_x() / WARP_SIZE, block_dim_x() / WARP_SIZE);
    // In 32 bits, because registers are scarce: a tile has at least 4 KiB, so no memory has 2^32 tiles.
    let tile = block_idx_x() * warps + warp;
    // SAFETY: no thread has exited, so all lanes of the warp arrive, and they have the same tile.
    let value = unsafe { reduce_tiles::<I, O, N, K>(op, arrays, tile) };
    // SAFETY: no thread has exited, and the launch provides the storage.
    unsafe { grid_reduce::<I, O>(op, value, arrival, storage) }
}
