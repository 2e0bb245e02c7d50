//! A tile: the items that a warp reduces by itself, in an order that depends on nothing but their positions.
//!
//! A tile has 8 rows of 32 vectors, one for each lane; a vector has `N` items. For elements of up to 16 bytes, that
//! is 4 KiB of an array. Tile `t` starts at item `256 * N * t`.
//!
//! ```text
//!           lane 0      lane 1            lane 31
//! row 0   | a a a a   | a a a a   | ... | a a a a   |      N = 4 slots
//! row 1   | b b b b   | b b b b   | ... | b b b b   |
//! ...
//! row 7   | h h h h   | h h h h   | ... | h h h h   |
//!           a+b+..+h    for each slot of each lane: an accumulator
//! ```
//!
//! 1. Each slot of each lane combines its items from row 0 to row 7.
//! 2. Each lane combines its slots by halves: slot `s` with slot `s + N / 2`, and so on.
//! 3. The warp combines its lanes by halves ([`reduce_down`](crate::warp::reduce_down)).
//!
//! Items that the array does not have are skipped. There are two variants:
//!
//! - If the accumulators of a vector have more than 64 bytes, or the operator [absorbs](Op::ABSORBS), a lane has one
//!   accumulator, which takes `K` rows at once ([`Op::absorb`]), or item by item if not all of them are complete.
//! - If the operator is not commutative, a lane has 8 adjacent vectors instead of a column, one accumulator, and the
//!   warp combines adjacent lanes ([`reduce_in_order`](crate::warp::reduce_in_order)).
//!
//! # Loads
//!
//! `K` or `2 * K` loads of a lane are in flight at once. A compiler barrier enforces this order: if an operator tests a value
//! (is it a NaN?), LLVM would move loads into the branches.
//!
//! Where the array starts does not change the order. If it does not start with a vector, the vectors are
//! [shifted](crate::mem::Global::shifted). An operator whose result is the same [in any order](Op::ANY_ORDER) takes the
//! aligned vectors instead, as if the first tile had begun a few items before the array.

mod source;

use crate::element::{Element, Shuffle};
use crate::items::Items;
use crate::mem::compiler_barrier;
use crate::op::{Op, unrolled};
use crate::warp::{FULL_MASK, WARP_SIZE, reduce_to_first};
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use cuda_std::thread::{block_dim_x, grid_dim_x, thread_idx_x};
pub use source::Part;
pub(crate) use source::{Arrays, Shifted, Source, Vectored};

/// The version of the order of combination, which `docs/order.md` describes. A result of floats may have other bits in
/// another version.
pub const ORDER_VERSION: u32 = 1;

/// The rows of a tile.
pub const ROWS: usize = 8;

/// The lanes of a warp, as an index.
pub const LANES: usize = WARP_SIZE as usize;

/// The maximum bytes of a lane's accumulators, if it has one for each slot.
const MOST_BYTES: usize = 64;

/// The steps from 16 slots to one.
const HALVINGS: usize = 4;

/// The number of single items that are in flight at once: few, because their registers count, but hardly any tile needs
/// them.
pub(crate) const PART: usize = 4;

/// The maximum number of threads of a grid that has too few loads in flight to hide their latency, if each warp loads one
/// group of rows after another. Then all rows of a tile are loaded into the L1 cache first.
const SMALL: u32 = 1 << 17;

/// The number of items of the longest tile; a multiple of that of any tile.
pub const MOST_ITEMS: usize = ROWS * LANES * 16;

/// Whether a warp takes several tiles before its lanes combine their accumulators. Then a kernel needs no more warps than the
/// device holds at a time. It pays for an operator that absorbs items faster when its accumulator has some already.
pub const fn takes_several<I: Items, O: Op<I>>() -> bool {
    O::ANY_ORDER && O::ABSORBS
}

/// The number of items of a tile.
pub const fn items_of_tile<I: Items>() -> usize {
    ROWS * LANES * I::VECTOR
}

/// Whether a lane has an accumulator for each slot of its vectors.
pub const fn has_slots<I: Items, O: Op<I>>() -> bool {
    let few = I::VECTOR * size_of::<O::Acc>() <= MOST_BYTES;
    O::COMMUTATIVE && !O::ABSORBS && !O::ANY_ORDER && few
}

/// Whether rows that are absorbed together may as well be absorbed one after another, with the same bits.
pub(crate) const fn has_rows<I: Items, O: Op<I>>() -> bool {
    has_slots::<I, O>() || O::ANY_ORDER
}

/// Combines the items of tile number `tile`; if a warp takes [several](takes_several) tiles, also those of tiles behind it, as
/// far apart as the grid has warps. **Lane 0 holds the result**; the values of the other lanes are unspecified. The identity, if the array has
/// no such tile.
///
/// # Safety
///
/// All 32 lanes of the warp arrive here, with the same tile.
#[inline(always)]
pub unsafe fn reduce_tiles<I: Items, O: Op<I>, const N: usize, const K: usize>(
    op: O,
    arrays: I::Arrays,
    mut tile: u32,
) -> O::Acc {
    let (skew, is_shifted) = match I::skew::<N>(arrays) {
        Some(0) => (0, false),
        Some(skew) if O::ANY_ORDER => (skew, false),
        _ => (0, true),
    };
    let mut lane = Lane::<I, O, N>::new(op);
    loop {
        combine_tile::<I, O, N, K>(&mut lane, arrays, tile as usize, skew, is_shifted);
        tile += grid_dim_x() * (block_dim_x() / WARP_SIZE);
        if !takes_several::<I, O>() || tile as usize * ROWS * LANES * N >= I::len(arrays) + skew {
            break;
        }
    }
    let value = lane.combined();
    // SAFETY: the caller guarantees that all lanes arrive, and they leave the loop together.
    unsafe { reduce_to_first::<I, O>(op, value) }
}

/// Combines the items of tile number `tile` alone, which does not begin before the arrays. **Lane 0 holds the result.**
///
/// # Safety
///
/// All 32 lanes of the warp arrive here, with the same tile.
#[inline(always)]
pub unsafe fn reduce_tile<I: Items, O: Op<I>, const N: usize, const K: usize>(
    op: O,
    arrays: I::Arrays,
    tile: usize,
) -> O::Acc {
    let is_shifted = I::skew::<N>(arrays) != Some(0);
    let mut lane = Lane::<I, O, N>::new(op);
    combine_tile::<I, O, N, K>(&mut lane, arrays, tile, 0, is_shifted);
    let value = lane.combined();
    // SAFETY: the caller guarantees that all lanes arrive.
    unsafe { reduce_to_first::<I, O>(op, value) }
}

/// The same for a part of arrays, whose first and last granules may have other items.
///
/// # Safety
///
/// All 32 lanes of the warp arrive here, with the same tile, which has an item.
#[inline(always)]
pub unsafe fn reduce_tile_of_part<I: Items, O: Op<I>, const N: usize, const K: usize>(
    op: O,
    part: Part<I>,
    tile: usize,
) -> O::Acc {
    let mut lane = Lane::<I, O, N>::new(op);
    let start = tile * items_of_tile::<I>();
    let (column, step) = column_of::<I, O, N>();
    let share = Share::<I, O, _, N, K> {
        op,
        source: part,
        first: start + column,
        step,
        items: PhantomData,
    };
    if part.is_aligned::<N>() {
        share.combine_adjacent(&mut lane, start + items_of_tile::<I>());
    } else if start + items_of_tile::<I>() <= part.len && part.tile(tile).has_granules::<N>() {
        share.combine_shifted(&mut lane);
    } else {
        share.combine_items(&mut lane);
    }
    let value = lane.combined();
    // SAFETY: the caller guarantees that all lanes arrive.
    unsafe { reduce_to_first::<I, O>(op, value) }
}

/// Combines the lane's items of tile number `tile`. The first tile begins `skew` items before the arrays.
#[inline(always)]
fn combine_tile<I: Items, O: Op<I>, const N: usize, const K: usize>(
    acc: &mut Lane<I, O, N>,
    arrays: I::Arrays,
    tile: usize,
    skew: usize,
    is_shifted: bool,
) {
    let start = tile * ROWS * LANES * N;
    let (column, step) = column_of::<I, O, N>();
    let share = Share::<I, O, _, N, K> {
        op: acc.op,
        source: Arrays::<I>(arrays),
        // Wraps if the lane's first item is before the array.
        first: (start + column).wrapping_sub(skew),
        step,
        items: PhantomData,
    };
    let end = start + ROWS * LANES * N;
    if !is_shifted && start >= skew {
        share.combine_adjacent(acc, end - skew);
    } else if is_shifted && share.is_whole(start) {
        share.combine_shifted(acc);
    } else {
        share.combine_items(acc);
    }
}

/// The first item of the lane in a tile, and the number of items from a row to the next one.
#[inline(always)]
fn column_of<I: Items, O: Op<I>, const N: usize>() -> (usize, usize) {
    let lane = thread_idx_x() as usize % LANES;
    match O::COMMUTATIVE {
        true => (lane * N, LANES * N),
        false => (lane * ROWS * N, N),
    }
}

/// The items of a lane: 8 vectors of `N` items, of which `K` are absorbed together.
pub(crate) struct Share<I: Items, O, S, const N: usize, const K: usize> {
    pub(crate) op: O,
    pub(crate) source: S,
    /// The index of the first item.
    pub(crate) first: usize,
    /// The number of items from a vector to the next one.
    pub(crate) step: usize,
    pub(crate) items: PhantomData<I>,
}

impl<I: Items, O: Op<I>, const N: usize, const K: usize> Share<I, O, Arrays<I>, N, K> {
    /// Whether the array has all items of the tile that begins at item `start`, and their granules.
    #[inline(always)]
    fn is_whole(&self, start: usize) -> bool {
        let last = start + (ROWS * LANES - 1) * N;
        I::have_granules::<N>(self.source.0, start) && I::have_granules::<N>(self.source.0, last)
    }
}

impl<I: Items, O: Op<I>, S: Shifted<I>, const N: usize, const K: usize> Share<I, O, S, N, K> {
    /// Combines the lane's items, all of which exist, by shifted vectors.
    #[inline(always)]
    fn combine_shifted(&self, lane: &mut Lane<I, O, N>) {
        // 8 rows, but ptxas does not know it. With more loads in flight, it would run out of registers.
        let end = self.rows();
        let mut row = 0;
        while row < end {
            if has_rows::<I, O>() && (O::ANY_ORDER || Self::BY_GROUP) {
                let vector = self.source.shifted(self.first_of(row));
                lane.absorb([vector], [self.first_of(row) as u64]);
                row += 1;
                continue;
            }
            let mut rows = [[zero::<I>(); N]; K];
            unrolled!(|k < K| rows[k] = self.source.shifted(self.first_of(row + k)));
            compiler_barrier();
            lane.absorb(rows, self.indices(row));
            row += K;
        }
    }
}

impl<I: Items, O: Op<I>, S: Vectored<I>, const N: usize, const K: usize> Share<I, O, S, N, K> {
    /// The number of pairs of groups of `K` rows.
    const PAIRS: usize = ROWS / K / 2;
    const GROUPS: usize = ROWS / K;
    /// Whether one group of rows is in flight, not two, because more need too many registers: many items, or some beside an
    /// operator with fields; long items; several arrays beside many accumulators; a long accumulator that is kept from tile to
    /// tile.
    const BY_GROUP: bool = {
        let (bytes, slots) = (N * I::BYTES, N * size_of::<O::Acc>());
        let many = if size_of::<O>() > 0 { 4 } else { 8 };
        let is_long = takes_several::<I, O>() && I::BYTES + size_of::<O::Acc>() > 20;
        is_long
            || N > many
            || 2 * K * bytes > 128
            || bytes > 16 && has_slots::<I, O>() && slots > 16
    };
    /// The number of rows in flight.
    const IN_FLIGHT: usize = if Self::BY_GROUP { K } else { 2 * K };
    /// Whether whole tiles have the loop of the others. In straight-line code, ptxas would move loads of all groups to the
    /// front, and run out of registers.
    const ROLLED: bool = Self::BY_GROUP && N * I::BYTES > 16;

    /// Combines the lane's items of a tile up to item `end` by aligned vectors.
    #[inline(always)]
    pub(crate) fn combine_adjacent(&self, lane: &mut Lane<I, O, N>, end: usize) {
        if !Self::ROLLED && end <= self.source.len() {
            self.combine_whole(lane);
        } else {
            self.combine_begun(lane);
        }
    }

    /// Combines the lane's items, all of which exist, by aligned vectors.
    #[inline(always)]
    fn combine_whole(&self, lane: &mut Lane<I, O, N>) {
        if Self::BY_GROUP {
            unrolled!(|group < Self::GROUPS| {
                let row = K * group;
                let rows = self.load(row, ROWS);
                compiler_barrier();
                lane.absorb(rows, self.indices(row));
            });
            return;
        }
        unrolled!(|pair < Self::PAIRS| {
            let row = 2 * K * pair;
            let (low, high) = (self.load(row, ROWS), self.load(row + K, ROWS));
            compiler_barrier();
            lane.absorb(low, self.indices(row));
            lane.absorb(high, self.indices(row + K));
        });
    }

    /// Combines the lane's items by aligned vectors. The last ones may not exist.
    #[inline(always)]
    fn combine_begun(&self, lane: &mut Lane<I, O, N>) {
        let len = self.source.len();
        // The rows of which the lane has a whole vector.
        let whole = match (len + 1).checked_sub(self.first + N) {
            Some(more) => more.div_ceil(self.step).min(ROWS),
            None => 0,
        };
        if Self::ROLLED && grid_dim_x() * block_dim_x() <= SMALL {
            unrolled!(|row < ROWS| if row < whole {
                self.source.prefetch(self.first_of(row));
            });
        }
        let mut row = 0;
        while row < whole {
            let low = self.load(row, whole);
            if Self::BY_GROUP {
                compiler_barrier();
                self.absorb(lane, low, row, whole);
            } else {
                let high = self.load(row + K, whole);
                compiler_barrier();
                self.absorb(lane, low, row, whole);
                self.absorb(lane, high, row + K, whole);
            }
            row += Self::IN_FLIGHT;
        }
        // The vector that the end of the array cuts.
        let next = self.first_of(whole);
        if N > 1 && whole < ROWS && next < len {
            if has_rows::<I, O>() {
                self.absorb_row(lane, next);
            } else if whole % K == 0 {
                self.absorb_one_by_one(lane, whole);
            }
        }
    }

    /// Loads the vectors of `K` rows. The last of `rows` rows stands for those behind it.
    #[inline(always)]
    fn load(&self, row: usize, rows: usize) -> [[I; N]; K] {
        let vector = |row: usize| {
            let row = if row < rows { row } else { rows - 1 };
            self.source.vector(self.first_of(row))
        };
        let mut loaded = [vector(row); K];
        unrolled!(|k < K| if k > 0 {
            loaded[k] = vector(row + k);
        });
        loaded
    }
}

impl<I: Items, O: Op<I>, S: Source<I>, const N: usize, const K: usize> Share<I, O, S, N, K> {
    /// Combines `K` rows, of which those before row `whole` exist.
    #[inline(always)]
    fn absorb(&self, lane: &mut Lane<I, O, N>, rows: [[I; N]; K], row: usize, whole: usize) {
        if has_rows::<I, O>() {
            unrolled!(|k < K| if row + k < whole {
                lane.absorb([rows[k]], [self.first_of(row + k) as u64]);
            });
        } else if row + K <= whole {
            lane.absorb(rows, self.indices(row));
        } else if row < whole {
            self.absorb_one_by_one(lane, row);
        }
    }

    /// The number of parts of a vector, if its items are loaded one by one.
    pub(crate) const PARTS: usize = N.div_ceil(PART);

    /// The index of the first item in this row.
    #[inline(always)]
    pub(crate) fn first_of(&self, row: usize) -> usize {
        self.first.wrapping_add(row * self.step)
    }

    /// The index of the first item in each of the `K` rows from `row` on.
    #[inline(always)]
    fn indices(&self, row: usize) -> [u64; K] {
        let mut indices = [0; K];
        unrolled!(|k < K| indices[k] = self.first_of(row + k) as u64);
        indices
    }

    /// Whether there is an item `i`; false for one before the array, which has wrapped.
    #[inline(always)]
    pub(crate) fn is_item(&self, i: usize) -> bool {
        i < self.source.len()
    }

    /// The number of rows up to the end of the array.
    #[inline(always)]
    pub(crate) fn rows(&self) -> usize {
        let behind = self.source.len().wrapping_sub(self.first);
        behind.div_ceil(self.step).min(ROWS)
    }

    /// Combines the lane's items, wherever they are. Not all of them need to exist. The loops are not unrolled: few tiles
    /// need this.
    #[inline(always)]
    pub(crate) fn combine_items(&self, lane: &mut Lane<I, O, N>) {
        let end = self.rows();
        let mut row = 0;
        while row < end {
            let (first, last) = (
                self.first_of(row),
                self.first_of(row + K - 1).wrapping_add(N - 1),
            );
            let is_whole = self.is_item(first) && self.is_item(last) && row % K == 0;
            if has_rows::<I, O>() && !(O::ABSORBS && is_whole) {
                if O::ABSORBS && self.is_item(first) && self.is_item(first + N - 1) {
                    let mut items = [zero::<I>(); N];
                    unrolled!(|e < N| items[e] = self.source.get(first + e));
                    lane.absorb_row(items, first as u64);
                } else {
                    self.absorb_row(lane, first);
                }
                row += 1;
                continue;
            }
            if is_whole {
                let mut rows = [[zero::<I>(); N]; K];
                unrolled!(|k < K, e < N| rows[k][e] = self.source.get(self.first_of(row + k) + e));
                lane.absorb(rows, self.indices(row));
            } else {
                self.absorb_one_by_one(lane, row);
            }
            row += K;
        }
    }

    /// Combines those of the `N` items from `first` on that exist.
    #[inline(always)]
    fn absorb_row(&self, lane: &mut Lane<I, O, N>, first: usize) {
        unrolled!(|part < Self::PARTS| {
            let first = first.wrapping_add(part * PART);
            let mut items = [zero::<I>(); PART];
            unrolled!(|e < PART| if part * PART + e < N {
                let i = first.wrapping_add(e);
                if self.is_item(i) {
                    items[e] = self.source.get(i);
                }
            });
            compiler_barrier();
            unrolled!(|e < PART| if part * PART + e < N {
                let i = first.wrapping_add(e);
                if self.is_item(i) {
                    lane.absorb_item(part * PART + e, items[e], i as u64);
                }
            });
        });
    }

    /// Combines those of the items in `K` rows that exist, one by one, in one accumulator. The loop is not unrolled: few
    /// lanes run it, and absorbing an item can be long.
    #[inline(always)]
    fn absorb_one_by_one(&self, lane: &mut Lane<I, O, N>, row: usize) {
        let mut item = 0;
        while item < K * N {
            let i = self.first_of(row + item / N).wrapping_add(item % N);
            if self.is_item(i) {
                let rows = [[self.source.get(i)]];
                lane.slots[0] = self.op.absorb(lane.slots[0], rows, [i as u64]);
            }
            item += 1;
        }
    }
}

/// The accumulators of a lane.
#[derive(Clone, Copy)]
pub(crate) struct Lane<I: Items, O: Op<I>, const N: usize> {
    op: O,
    /// One for each slot, or only the first.
    slots: [O::Acc; N],
}

impl<I: Items, O: Op<I>, const N: usize> Lane<I, O, N> {
    #[inline(always)]
    pub(crate) fn new(op: O) -> Self {
        let slots = [op.identity(); N];
        Self { op, slots }
    }

    /// Combines whole rows, from their indices on.
    #[inline(always)]
    pub(crate) fn absorb<const K: usize>(&mut self, rows: [[I; N]; K], first: [u64; K]) {
        if has_slots::<I, O>() {
            unrolled!(|k < K, e < N| {
                let item = self.op.lift(rows[k][e], first[k] + e as u64);
                self.slots[e] = self.op.combine(self.slots[e], item);
            });
        } else {
            self.slots[0] = self.op.absorb(self.slots[0], rows, first);
        }
    }

    /// Combines a row of any number of items with the only accumulator: the operator [absorbs](Op::ABSORBS).
    #[inline(always)]
    pub(crate) fn absorb_row<const M: usize>(&mut self, row: [I; M], first: u64) {
        self.slots[0] = self.op.absorb(self.slots[0], [row], [first]);
    }

    /// Combines one item, of slot `slot`.
    #[inline(always)]
    pub(crate) fn absorb_item(&mut self, slot: usize, item: I, index: u64) {
        let slot = if has_slots::<I, O>() { slot } else { 0 };
        self.slots[slot] = self.op.absorb(self.slots[slot], [[item]], [index]);
    }

    /// If the slots of the warp's lanes are those of granules that begin `skew` items before the vectors of the lanes, gives
    /// each lane the slots of its own vector.
    ///
    /// # Safety
    ///
    /// All lanes of the warp arrive here, with the same `skew`.
    #[inline(always)]
    pub(crate) unsafe fn shift_slots(&mut self, skew: u32) {
        if !has_slots::<I, O>() || skew == 0 {
            return;
        }
        let next = Shuffle::Idx((thread_idx_x() + 1) % WARP_SIZE);
        unrolled!(|e < N| {
            // SAFETY: the caller guarantees that all lanes arrive.
            let other = unsafe { self.slots[e].shuffle(FULL_MASK, next) };
            if (e as u32) < skew {
                self.slots[e] = other;
            }
        });
        unrolled!(|step < HALVINGS| if N >> (step + 1) > 0 && skew & (1 << step) != 0 {
            let slots = self.slots;
            unrolled!(|e < N| self.slots[e] = slots[(e + (1 << step)) % N]);
        });
    }

    /// Combines the slots by halves.
    #[inline(always)]
    pub(crate) fn combined(mut self) -> O::Acc {
        if has_slots::<I, O>() {
            unrolled!(|step < HALVINGS, e < N| {
                let half = N >> (step + 1);
                if e < half {
                    self.slots[e] = self.op.combine(self.slots[e], self.slots[e + half]);
                }
            });
        }
        self.slots[0]
    }
}

/// An item whose bytes are 0, for a register that is not used.
#[inline(always)]
pub fn zero<I: Items>() -> I {
    // SAFETY: items are elements, or tuples of them; every bit pattern is a valid element (`Plain`).
    unsafe { MaybeUninit::zeroed().assume_init() }
}
