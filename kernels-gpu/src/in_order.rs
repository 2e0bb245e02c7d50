//! How a grid reads its input for an operator that is not commutative: each warp reads a run of adjacent items,
//! in order.
//!
//! ```text
//! input    | warp 0: tile 0, tile 1, ... | warp 1: ... | ...
//! a tile   | lane 0: K vectors | lane 1: K vectors | ... | lane 31 |
//! ```
//!
//! A lane combines its `K` adjacent vectors, the warp combines its lanes from left to right, and lane 0
//! combines tile after tile. So the partials of the warps of a block, and of the blocks of the grid, belong to
//! adjacent runs. Combining them by number preserves the order of the items.
//!
//! The addresses of adjacent lanes are `K` vectors apart, so one load instruction of a warp accesses `K` times
//! as many cache lines as necessary. The other loads of the step get the rest of these lines from the L1 cache:
//! each byte is fetched from memory once.

use crate::items::Items;
use crate::mem::compiler_barrier;
use crate::op::Op;
use crate::warp::{WARP_SIZE, reduce_in_order};
use cuda_std::thread::{block_dim_x, block_idx_x, grid_dim_x, thread_idx_x};

/// The items of a lane in a tile, for single-item loads.
const ITEMS: usize = 4;

/// Combines the warp's run of the input, by vectors of `N` items, `K` of them in each lane and tile. **Lane 0
/// holds the result**, the other lanes hold the identity.
///
/// # Safety
///
/// All 32 lanes of the warp arrive here.
#[inline(always)]
pub unsafe fn in_order<I: Items, O: Op<I>, const N: usize, const K: usize>(
    op: O,
    arrays: I::Arrays,
) -> O::Acc {
    let Some((head, vectors)) = I::vectors::<N>(arrays) else {
        let items = Run {
            vectors: I::len(arrays),
            load: |i| [I::get(arrays, i)],
            head: 0,
        };
        // SAFETY: the caller guarantees that all lanes arrive.
        return unsafe { items.combine::<I, O, 1, ITEMS>(op, arrays) };
    };
    let vectors = Run {
        vectors: I::vectors_len(vectors),
        load: |v| I::get_vector(vectors, v),
        head,
    };
    // SAFETY: the caller guarantees that all lanes arrive.
    unsafe { vectors.combine::<I, O, N, K>(op, arrays) }
}

/// The input as vectors, with a head and a tail of fewer items than a vector.
struct Run<L> {
    /// The number of vectors.
    vectors: usize,
    /// Loads one.
    load: L,
    /// The number of items before the first vector.
    head: usize,
}

impl<L> Run<L> {
    /// Implements [`in_order`].
    ///
    /// # Safety
    ///
    /// All 32 lanes of the warp arrive here.
    #[inline(always)]
    unsafe fn combine<I, O, const N: usize, const K: usize>(
        &self,
        op: O,
        arrays: I::Arrays,
    ) -> O::Acc
    where
        I: Items,
        O: Op<I>,
        L: Fn(usize) -> [I; N],
    {
        let lanes = WARP_SIZE as usize;
        let (lane, warps_of_block) = (
            thread_idx_x() as usize % lanes,
            block_dim_x() as usize / lanes,
        );
        let warp = block_idx_x() as usize * warps_of_block + thread_idx_x() as usize / lanes;
        let warps = grid_dim_x() as usize * warps_of_block;
        // The items behind the last vector count as one vector.
        let tiles = (self.vectors + 1).div_ceil(lanes * K);
        let share = tiles.div_ceil(warps);
        let end = ((warp + 1) * share).min(tiles);

        let mut value = op.identity();
        if warp == 0 && lane == 0 {
            value = one_by_one(op, arrays, value, 0, self.head);
        }
        let mut tile = warp * share;
        // The same number of rounds in all lanes of a warp.
        while tile < end {
            let v = (tile * lanes + lane) * K;
            let of_lane = self.of_lane::<I, O, N, K>(op, arrays, v);
            // SAFETY: the caller guarantees that all lanes arrive.
            let of_tile = unsafe { reduce_in_order::<I, O>(op, of_lane) };
            value = op.combine(value, of_tile);
            tile += 1;
        }
        // The other lanes' values are unspecified.
        if lane == 0 { value } else { op.identity() }
    }

    /// Combines the lane's vectors of a tile, from vector `v` on.
    #[inline(always)]
    fn of_lane<I, O, const N: usize, const K: usize>(
        &self,
        op: O,
        arrays: I::Arrays,
        v: usize,
    ) -> O::Acc
    where
        I: Items,
        O: Op<I>,
        L: Fn(usize) -> [I; N],
    {
        let index = |v: usize| self.head + v * N;
        let mut value = op.identity();
        if v + K <= self.vectors {
            let mut loaded = [(self.load)(v); K];
            let mut first = [index(v) as u64; K];
            for k in 1..K {
                loaded[k] = (self.load)(v + k);
                first[k] = index(v + k) as u64;
            }
            compiler_barrier();
            value = op.absorb(value, loaded, first);
        } else if v <= self.vectors {
            value = one_by_one(op, arrays, value, index(v), I::len(arrays));
        }
        value
    }
}

/// Combines the value with the items from `start` to `end`, one by one.
#[inline(always)]
fn one_by_one<I: Items, O: Op<I>>(
    op: O,
    arrays: I::Arrays,
    mut value: O::Acc,
    start: usize,
    end: usize,
) -> O::Acc {
    let mut i = start;
    while i < end {
        value = op.absorb(value, [[I::get(arrays, i)]], [i as u64]);
        i += 1;
    }
    value
}
