//! Selects an item of a tile in global memory, by an operator that [selects](Op::SELECTS).

use crate::element::Shuffle;
use crate::items::Items;
use crate::mem::compiler_barrier;
use crate::op::{Op, unrolled};
use crate::tile::{Part, Shifted, Source, Vectored, items_of_tile, zero};
use crate::warp::{FULL_MASK, WARP_SIZE};
use cuda_std::warp::{WarpReductionOp, warp_reduce};

/// The vectors of a tile that a lane has in flight.
const IN_FLIGHT: usize = 4;

/// The item that precedes those compared so far.
#[derive(Clone, Copy)]
pub(super) struct Best<I> {
    pub item: I,
    /// The first row with an item that equals it.
    pub row: u32,
}

/// Of the items of `lanes` adjacent lanes, one that no other precedes; in every lane.
///
/// # Safety
///
/// All lanes of the warp arrive here.
#[inline(always)]
pub(super) unsafe fn exchange<I: Items, O: Op<I>>(op: O, mut item: I, lanes: u32) -> I {
    let mut mask = lanes / 2;
    while mask > 0 {
        // SAFETY: the caller guarantees that all lanes arrive.
        let other = unsafe { I::shuffled(item, FULL_MASK, Shuffle::Xor(mask)) };
        item = op.preceding(item, other);
        mask /= 2;
    }
    item
}

/// Of the items of a warp's lanes, one that no other precedes, and the first row with one that equals it; in every lane.
///
/// # Safety
///
/// All lanes of the warp arrive here.
#[inline(always)]
pub(super) unsafe fn best_of_warp<I: Items, O: Op<I>>(op: O, best: Best<I>) -> Best<I> {
    // SAFETY: the caller guarantees that all lanes arrive.
    let item = unsafe { exchange::<I, O>(op, best.item, WARP_SIZE) };
    let row = match op.precedes(item, best.item) {
        true => u32::MAX,
        false => best.row,
    };
    // SAFETY: as above.
    let row = unsafe { warp_reduce(FULL_MASK, row, WarpReductionOp::Min) };
    Best { item, row }
}

/// An item that no other precedes.
#[inline(always)]
pub(super) fn best_of<I: Items, O: Op<I>, const N: usize>(op: O, items: [I; N]) -> I {
    let mut best = items[0];
    unrolled!(|e < N| if e > 0 {
        best = op.preceding(best, items[e]);
    });
    best
}

/// The first of the items that the best one does not precede, and its place.
#[inline(always)]
pub(super) fn found_in<I: Items, O: Op<I>, const N: usize>(
    op: O,
    best: I,
    items: [I; N],
) -> (I, usize) {
    let (mut at, mut item) = (N - 1, items[N - 1]);
    unrolled!(|e < N| {
        let e = N - 1 - e;
        if !op.precedes(best, items[e]) {
            (at, item) = (e, items[e]);
        }
    });
    (item, at)
}

/// Selects an item of a tile of a segment, whose number is `number`. Vectors are [shifted](crate::mem::Global::shifted) unless the
/// tile starts with one. `lane` is the lane's number in the warp. **Every lane holds the result.**
///
/// # Safety
///
/// All lanes of the warp arrive here, with the same tile, which has an item.
#[inline(always)]
pub(super) unsafe fn select_of_tile<I: Items, O: Op<I>, const N: usize>(
    op: O,
    tile: Part<I>,
    number: usize,
    lane: u32,
) -> O::Acc {
    let rows = (tile.len / N) as u32;
    // The first item, which is in the first row for every lane.
    let mut best = Best {
        item: tile.get(0),
        row: 0,
    };
    let mut row = lane;
    if tile.is_aligned::<N>() {
        best = best_of_vectors::<I, O, N>(op, best, row, rows, |row| tile.vector(row * N));
        row = rows;
    } else if tile.has_granules::<N>() {
        best = best_of_vectors::<I, O, N>(op, best, row, rows, |row| tile.shifted(row * N));
        row = rows;
    }
    // The row that the end cuts, which every lane takes, or all rows.
    while (row as usize) * N < tile.len {
        best = better::<I, O, N>(op, best, items_of_row(tile, row), row);
        row += WARP_SIZE;
    }
    // SAFETY: the caller guarantees that all lanes arrive.
    let Best { item, row } = unsafe { best_of_warp::<I, O>(op, best) };
    let (item, at) = found_in::<I, O, N>(op, item, items_of_row(tile, row));
    let index = number * items_of_tile::<I>() + row as usize * N + at;
    op.lift(item, index as u64)
}

/// The items of a row, one by one. The last item stands for those that do not exist.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
fn items_of_row<I: Items, const N: usize>(tile: Part<I>, row: u32) -> [I; N] {
    let first = row as usize * N;
    let mut items = [zero::<I>(); N];
    unrolled!(|e < N| items[e] = tile.get((first + e).min(tile.len - 1)));
    items
}

/// The better one of an item and those of every 32nd row of a tile from `row` on, of which `rows` are whole.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
// Simulated code needs no copy for each caller.
#[cfg_attr(not(target_arch = "nvptx64"), inline(never), track_caller)]
fn best_of_vectors<I: Items, O: Op<I>, const N: usize>(
    op: O,
    mut best: Best<I>,
    mut row: u32,
    rows: u32,
    vector: impl Fn(usize) -> [I; N],
) -> Best<I> {
    while row < rows {
        // The last row stands for those behind it.
        let number = |k: usize| (row + k as u32 * WARP_SIZE).min(rows - 1);
        let mut vectors = [[zero::<I>(); N]; IN_FLIGHT];
        unrolled!(|k < IN_FLIGHT| vectors[k] = vector(number(k) as usize));
        compiler_barrier();
        let mut of_rows = [vectors[0][0]; IN_FLIGHT];
        unrolled!(|k < IN_FLIGHT| of_rows[k] = best_of::<I, O, N>(op, vectors[k]));
        let item = best_of::<I, O, IN_FLIGHT>(op, of_rows);
        // The row matters only if there is a better item.
        if op.precedes(item, best.item) {
            best.item = item;
            unrolled!(|k < IN_FLIGHT| {
                let k = IN_FLIGHT - 1 - k;
                if !op.precedes(item, of_rows[k]) {
                    best.row = number(k);
                }
            });
        }
        row += IN_FLIGHT as u32 * WARP_SIZE;
    }
    best
}

/// The better one of an item and those of a later row.
#[inline(always)]
fn better<I: Items, O: Op<I>, const N: usize>(
    op: O,
    best: Best<I>,
    items: [I; N],
    row: u32,
) -> Best<I> {
    let item = best_of::<I, O, N>(op, items);
    match op.precedes(item, best.item) {
        true => Best { item, row },
        false => best,
    }
}
