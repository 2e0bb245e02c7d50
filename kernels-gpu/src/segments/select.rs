//! Selects an item of a tile in global memory, by an operator that [selects](Op::SELECTS).

use crate::element::Shuffle;
use crate::items::Items;
use crate::mem::compiler_barrier;
use crate::op::{Op, unrolled};
use crate::tile::{Part, Shifted, Source, Vectored, zero};
use crate::warp::{FULL_MASK, WARP_SIZE};
use cuda_std::warp::{WarpReductionOp, warp_reduce};

/// The vectors that a lane has in flight: few if they are shifted, which takes two loads, or if they have many items, each of which
/// needs a register.
const FEW: usize = 4;
const MANY: usize = 8;

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

/// Selects an item of a part of a segment, `before` items behind its start. The rows of `N` items are taken in turn by `lanes`
/// lanes of one or more warps, of which this one is number `lane`. Vectors are [shifted](crate::mem::Global::shifted) unless the
/// part starts with one. **Every lane of a warp holds the warp's result.**
///
/// # Safety
///
/// All lanes of the warp arrive here, with the same part, which has an item.
#[inline(always)]
pub(super) unsafe fn select_of_part<I: Items, O: Op<I>, const N: usize>(
    op: O,
    part: Part<I>,
    before: usize,
    lane: u32,
    lanes: u32,
) -> O::Acc {
    // The whole rows.
    let mut rows = (part.len / N) as u32;
    let has_granules = |row: u32| I::have_granules::<N>(part.arrays, part.start + row as usize * N);
    // The first item, which is in the first row for every lane.
    let mut best = Best {
        item: part.get(0),
        row: 0,
    };
    if part.is_aligned::<N>() {
        let vector = |row: usize| part.vector(row * N);
        best = match N > 4 {
            true => best_of_rows::<I, O, N, FEW>(op, best, lane, rows, lanes, vector),
            false => best_of_rows::<I, O, N, MANY>(op, best, lane, rows, lanes, vector),
        };
    } else if rows > 0 {
        let mut row = lane;
        if !has_granules(0) {
            best = better::<I, O, N>(op, best, items_of_row(part, 0), 0);
            row += 1;
        }
        if !has_granules(rows - 1) {
            rows -= 1;
        }
        let vector = |row: usize| part.shifted(row * N);
        best = best_of_rows::<I, O, N, FEW>(op, best, row, rows, lanes, vector);
    }
    // What is left behind those rows, which every lane takes.
    let mut row = rows;
    while (row as usize) * N < part.len {
        best = better::<I, O, N>(op, best, items_of_row(part, row), row);
        row += 1;
    }
    // SAFETY: the caller guarantees that all lanes arrive.
    let Best { item, row } = unsafe { best_of_warp::<I, O>(op, best) };
    let (item, at) = found_in::<I, O, N>(op, item, items_of_row(part, row));
    op.lift(item, (before + row as usize * N + at) as u64)
}

/// The items of a row, one by one. The last item stands for those that do not exist.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
fn items_of_row<I: Items, const N: usize>(part: Part<I>, row: u32) -> [I; N] {
    let first = row as usize * N;
    let mut items = [zero::<I>(); N];
    unrolled!(|e < N| items[e] = part.get((first + e).min(part.len - 1)));
    items
}

/// The better one of an item and those of every `step`th row from `row` on, of which there are `rows`; with `F` of them in flight.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
// Simulated code needs no copy for each caller.
#[cfg_attr(not(target_arch = "nvptx64"), inline(never), track_caller)]
fn best_of_rows<I: Items, O: Op<I>, const N: usize, const F: usize>(
    op: O,
    mut best: Best<I>,
    mut row: u32,
    rows: u32,
    step: u32,
    vector: impl Fn(usize) -> [I; N],
) -> Best<I> {
    while row < rows {
        // The last row stands for those behind it.
        let number = |k: usize| (row + k as u32 * step).min(rows - 1);
        let mut vectors = [[zero::<I>(); N]; F];
        unrolled!(|k < F| vectors[k] = vector(number(k) as usize));
        compiler_barrier();
        let mut of_rows = [vectors[0][0]; F];
        unrolled!(|k < F| of_rows[k] = best_of::<I, O, N>(op, vectors[k]));
        let item = best_of::<I, O, F>(op, of_rows);
        // The row matters only if there is a better item.
        if op.precedes(item, best.item) {
            best.item = item;
            unrolled!(|k < F| {
                let k = F - 1 - k;
                if !op.precedes(item, of_rows[k]) {
                    best.row = number(k);
                }
            });
        }
        row += F as u32 * step;
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
