//! How a grid reads its input for an operator that is not commutative: each warp a run of neighbouring
//! items, in their order.
//!
//! ```text
//! input    | warp 0: tile 0, tile 1, ... | warp 1: ... | ...
//! a tile   | lane 0: K vectors | lane 1: K vectors | ... | lane 31 |
//! ```
//!
//! A lane combines its `K` neighbouring vectors, the warp its lanes from left to right, and lane 0 one tile
//! after the other. So the warps of a block, and the blocks of the grid, hold the partials of neighbouring
//! runs, and whoever combines those by their numbers keeps the order of the items.
//!
//! Lanes read `K` vectors apart, so one load instruction of a warp touches `K` times as many lines as it
//! needs. The other loads of the step take the rest of those lines from the L1 cache: each byte comes from
//! memory once.

use crate::items::Items;
use crate::mem::hold_accesses;
use crate::op::Op;
use crate::warp::{WARP_SIZE, reduce_in_order};
use cuda_std::thread::{block_dim_x, block_idx_x, grid_dim_x, thread_idx_x};

/// Items of a lane in a tile, where each is loaded by itself.
const ITEMS: usize = 4;

/// The warp's run of the input as one, by vectors of `N` items, `K` of them in each lane and tile. **Lane 0
/// holds the result**, the others the identity.
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
        // SAFETY: the caller brings all lanes.
        return unsafe { items.combine::<I, O, 1, ITEMS>(op, arrays) };
    };
    let vectors = Run {
        vectors: I::vectors_len(vectors),
        load: |v| I::get_vector(vectors, v),
        head,
    };
    // SAFETY: the caller brings all lanes.
    unsafe { vectors.combine::<I, O, N, K>(op, arrays) }
}

/// The input as vectors, with fewer items than a vector before the first and behind the last.
struct Run<L> {
    /// How many vectors there are.
    vectors: usize,
    /// Loads one.
    load: L,
    /// The items before the first.
    head: usize,
}

impl<L> Run<L> {
    /// What [`in_order`] says.
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
        // What lies behind the last vector counts as one.
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
            // SAFETY: the caller brings all lanes.
            let of_tile = unsafe { reduce_in_order::<I, O>(op, of_lane) };
            value = op.combine(value, of_tile);
            tile += 1;
        }
        // In the other lanes a tile's value has no meaning.
        if lane == 0 { value } else { op.identity() }
    }

    /// The lane's vectors of a tile as one, from vector `v` on.
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
            hold_accesses();
            value = op.absorb(value, loaded, first);
        } else if v <= self.vectors {
            value = one_by_one(op, arrays, value, index(v), I::len(arrays));
        }
        value
    }
}

/// The value and the items from `start` to `end` as one.
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
