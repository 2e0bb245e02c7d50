//! Combines a lane's items of adjacent columns.

use super::column::Column;
use crate::items::Items;
use crate::mem::compiler_barrier;
use crate::op::{Op, unrolled};
use crate::tile::{LANES, Lane, PART, Share, zero};

/// The items of a lane that are loaded together.
const TOGETHER: usize = 8;

impl<I: Items, O: Op<I>, const N: usize, const K: usize> Share<I, O, Column<I>, N, K> {
    /// The rows of which a lane loads items together.
    const ROWS_TOGETHER: usize = if N < TOGETHER { TOGETHER / N } else { 1 };
    /// The parts of a row that are loaded one after another.
    const ROW_PARTS: usize = N.div_ceil(TOGETHER);

    /// Combines the lane's items of each of `W` adjacent columns by vectors. Not all of them need to exist.
    ///
    /// If `IS_HALF`, only half as many columns are adjacent, and a vector has two items of each: their number is even, or the
    /// host would not have chosen this width.
    ///
    /// Items that are loaded together are all combined: ptxas would move the load of an item that is combined under a condition
    /// behind the others.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub(super) fn combine_vectors<const W: usize, const IS_HALF: bool>(
        &self,
        lanes: &mut [Lane<I, O, N>; W],
    ) {
        let (mut row, end) = (0, self.rows());
        while row < end {
            let has = |rows: usize| self.is_item(self.first_of(row + rows - 1) + N - 1);
            if IS_HALF && N <= TOGETHER && has(2 * Self::ROWS_TOGETHER) {
                // As many vectors as of columns of one item each.
                let first = self.first_of(row);
                self.combine_all::<W, { 2 * TOGETHER }, IS_HALF>(lanes, 0, first);
                row += 2 * Self::ROWS_TOGETHER;
            } else if has(Self::ROWS_TOGETHER) {
                unrolled!(|part < Self::ROW_PARTS| {
                    let slot = part * TOGETHER;
                    let first = self.first_of(row) + slot;
                    self.combine_all::<W, TOGETHER, IS_HALF>(lanes, slot, first);
                });
                row += Self::ROWS_TOGETHER;
            } else {
                unrolled!(|part < Self::PARTS| {
                    let slot = part * PART;
                    self.combine_few::<W, IS_HALF>(lanes, slot, self.first_of(row) + slot);
                });
                row += 1;
            }
        }
    }

    /// Combines the items at up to [`PART`] indices of a row, those that exist.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn combine_few<const W: usize, const IS_HALF: bool>(
        &self,
        lanes: &mut [Lane<I, O, N>; W],
        slot: usize,
        first: usize,
    ) {
        if N >= PART && self.is_item(first + PART - 1) {
            self.combine_all::<W, PART, IS_HALF>(lanes, slot, first);
        } else if N >= 2 && self.is_item(first + 1) {
            self.combine_all::<W, 2, IS_HALF>(lanes, slot, first);
            if N > 2 && self.is_item(first + 2) {
                self.combine_all::<W, 1, IS_HALF>(lanes, slot + 2, first + 2);
            }
        } else if self.is_item(first) {
            self.combine_all::<W, 1, IS_HALF>(lanes, slot, first);
        }
    }

    /// Combines the items at `C` indices, from this slot on: `N` adjacent indices in each row.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn combine_all<const W: usize, const C: usize, const IS_HALF: bool>(
        &self,
        lanes: &mut [Lane<I, O, N>; W],
        slot: usize,
        first: usize,
    ) {
        let behind = |i: usize| i / N * (LANES * N) + i % N;
        let index = |i: usize| (first + behind(i)) as u64;
        let Column {
            arrays, base, dims, ..
        } = self.source;
        // The distances are the same for all rows.
        let start = base.wrapping_add(first.wrapping_mul(dims.stride));
        let offset = |i: usize| start.wrapping_add(dims.stride.wrapping_mul(behind(i)));
        let mut items = [[zero::<I>(); W]; C];
        unrolled!(|i < C| {
            if !IS_HALF {
                items[i] = I::vector(arrays, offset(i));
            } else if i % 2 == 0 && i + 1 < C {
                [items[i], items[i + 1]] = halves(I::vector(arrays, offset(i)));
            }
        });
        compiler_barrier();
        unrolled!(|i < C| if !(O::ABSORBS && N >= PART && C >= PART) {
            absorb_each::<I, O, N, W, IS_HALF>(lanes, slot + i % N, items[i], index(i));
        } else if i % PART == 0 {
            let part = [items[i], items[i + 1], items[i + 2], items[i + 3]];
            absorb_part::<I, O, N, W, IS_HALF>(lanes, part, index(i));
        });
    }

    /// Combines the lane's items of each of `W` adjacent columns, wherever they are, one by one.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub(super) fn combine_singly<const W: usize>(&self, lanes: &mut [Lane<I, O, N>; W]) {
        let column = self.source;
        let (mut row, end) = (0, self.rows());
        while row < end {
            unrolled!(|e < N| {
                let i = self.first_of(row) + e;
                if self.is_item(i) {
                    let at = column.offset(i);
                    unrolled!(|w < W| if w < column.width {
                        lanes[w].absorb_item(e, I::get(column.arrays, at + w), i as u64);
                    });
                }
            });
            row += 1;
        }
    }
}

/// Combines an item of each of `W` columns, or of half as many.
#[inline(always)]
pub(super) fn absorb_each<
    I: Items,
    O: Op<I>,
    const N: usize,
    const W: usize,
    const IS_HALF: bool,
>(
    lanes: &mut [Lane<I, O, N>; W],
    slot: usize,
    items: [I; W],
    index: u64,
) {
    unrolled!(|w < W| if !IS_HALF || 2 * w < W {
        lanes[w].absorb_item(slot, items[w], index);
    });
}

/// Combines adjacent items of each of `W` columns, or of half as many, at once.
#[inline(always)]
fn absorb_part<I: Items, O: Op<I>, const N: usize, const W: usize, const IS_HALF: bool>(
    lanes: &mut [Lane<I, O, N>; W],
    [a, b, c, d]: [[I; W]; PART],
    first: u64,
) {
    unrolled!(|w < W| if !IS_HALF || 2 * w < W {
        lanes[w].absorb_row([a[w], b[w], c[w], d[w]], first);
    });
}

/// The two items of each column in a vector, if only half as many columns are adjacent.
#[inline(always)]
fn halves<I: Items, const W: usize>(vector: [I; W]) -> [[I; W]; 2] {
    let (mut halves, half) = ([vector; 2], if W > 1 { W / 2 } else { 1 });
    unrolled!(|w < W| if w < half {
        halves[1][w] = vector[w + half];
    });
    halves
}
