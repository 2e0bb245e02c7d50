//! Segments in shared memory by an operator that [selects](Op::SELECTS).
//!
//! The threads compare the items of their rows, a row of `N` items at a time, and keep the one that precedes the others, and the
//! number of its row. Then they exchange what they have kept, and one of them looks for the item in its row.
//!
//! Behind the segment's end, its last item stands for those that do not exist: the item itself has a smaller index.

use super::*;
use crate::segments::select::{Best, best_of_warp, exchange};
use crate::tile::Source;

impl<I: Items, O: Op<I>> Block<I, O> {
    /// Selects an item of a segment by one thread.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub(super) fn select<const N: usize>(&self, segment: Segment<I>) -> O::Acc {
        if segment.len == 0 {
            return self.op.identity();
        }
        if segment.len <= N as u32 {
            // Without a second look at the row.
            let items = segment.clamped::<N>(0);
            let (mut item, mut at) = (items[0], 0);
            unrolled!(|e < N| if self.op.precedes(items[e], item) {
                (item, at) = (items[e], e);
            });
            return self.op.lift(item, at as u64);
        }
        let best = self.best_of_rows::<N>(segment, 0, 1, segment.rows::<N>());
        self.found::<N>(segment, best)
    }

    /// Selects an item of a segment by a warp, whose lanes take adjacent rows at once.
    ///
    /// # Safety
    ///
    /// All lanes of the warp arrive here, with the same segment, which is not empty.
    #[inline(always)]
    pub(super) unsafe fn select_by_warp<const N: usize>(&self, segment: Segment<I>, number: u32) {
        let lane = thread_idx_x() % WARP_SIZE;
        let best = self.best_of_rows::<N>(segment, lane, WARP_SIZE, segment.rows::<N>());
        // SAFETY: the caller guarantees that all lanes arrive.
        let best = unsafe { best_of_warp::<I, O>(self.op, best) };
        if lane == 0 {
            self.set_result(number, self.found::<N>(segment, best));
        }
    }

    /// Selects an item of a segment by a team, and stores the result of segment `number`, if the team has one.
    ///
    /// # Safety
    ///
    /// All lanes of the warp arrive here, those of a team with the same segment. A segment with a number is not empty.
    #[inline(always)]
    pub(super) unsafe fn select_by_team<const N: usize>(
        &self,
        segment: Segment<I>,
        number: Option<u32>,
    ) {
        let lane = thread_idx_x() % WARP_SIZE;
        let own = lane % Self::TEAM;
        let mut best = Best {
            item: zero::<I>(),
            row: 0,
        };
        if number.is_some() {
            // Adjacent rows for each lane, so that the first lane with an item has the first such row.
            let all = segment.rows::<N>();
            let rows = all.div_ceil(Self::TEAM);
            let first = own * rows;
            best = self.best_of_rows::<N>(segment, first, 1, (first + rows).min(all));
        }
        let is_first = {
            // SAFETY: the caller guarantees that all lanes arrive.
            let item = unsafe { exchange::<I, O>(self.op, best.item, Self::TEAM) };
            let equals = !self.op.precedes(item, best.item);
            // SAFETY: as above.
            let equal = unsafe { warp_vote_ballot(FULL_MASK, equals) } >> (lane - own);
            equal.trailing_zeros() == own
        };
        if is_first && let Some(i) = number {
            self.set_result(i, self.found::<N>(segment, best));
        }
    }

    /// Selects among the items of every row number `step` from row `first` on, up to row `end`, and the first item of the segment,
    /// which is not empty.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    // Simulated code needs no copy for each caller.
    #[cfg_attr(not(target_arch = "nvptx64"), inline(never), track_caller)]
    fn best_of_rows<const N: usize>(
        &self,
        segment: Segment<I>,
        first: u32,
        step: u32,
        end: u32,
    ) -> Best<I> {
        let mut best = Best {
            item: segment.get(0),
            row: 0,
        };
        let mut row = first;
        while row < end {
            let items = segment.row::<N>(row);
            // One load: LLVM would load some of the items alone.
            compiler_barrier();
            let index = segment.first_of::<N>(row);
            let mut item = best.item;
            unrolled!(|e < N| if index.wrapping_add(e as u32) < segment.len {
                item = self.op.preceding(item, items[e]);
            });
            if self.op.precedes(item, best.item) {
                best = Best { item, row };
            }
            row += step;
        }
        best
    }

    /// The first item of its row that the best one does not precede, with its index.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn found<const N: usize>(&self, segment: Segment<I>, best: Best<I>) -> O::Acc {
        let items = segment.row::<N>(best.row);
        // One load: LLVM would load some of the items alone.
        compiler_barrier();
        let index = segment.first_of::<N>(best.row);
        let (mut at, mut item) = (0, best.item);
        unrolled!(|e < N| {
            let e = N - 1 - e;
            let own = index.wrapping_add(e as u32);
            let is_in = own < segment.len;
            // Both are compared in any case, for a branch would take more instructions.
            if is_in & !self.op.precedes(best.item, items[e]) {
                (at, item) = (own, items[e]);
            }
        });
        self.op.lift(item, at.into())
    }
}

impl<I: Items> Segment<I> {
    /// The number of rows: granules of `N` items if items are staged by these, or rows that begin with the first item.
    #[inline(always)]
    fn rows<const N: usize>(self) -> u32 {
        (self.skew::<N>() + self.len).div_ceil(N as u32)
    }

    /// The index of a row's first item. Wraps before the segment.
    #[inline(always)]
    fn first_of<const N: usize>(self, row: u32) -> u32 {
        (row * N as u32).wrapping_sub(self.skew::<N>())
    }

    /// The number of items before the segment in its first row.
    #[inline(always)]
    fn skew<const N: usize>(self) -> u32 {
        I::staged_skew::<N>(I::behind(self.staged, self.start)).unwrap_or(0)
    }

    /// The items of a row. Those that are not in the segment are unspecified.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn row<const N: usize>(self, row: u32) -> [I; N] {
        let own = I::behind(self.staged, self.start);
        match I::staged_skew::<N>(own) {
            Some(_) => I::staged_granule(own, row),
            None => self.clamped(row * N as u32),
        }
    }

    /// The `N` items from `first` on. The last item stands for those behind it.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn clamped<const N: usize>(self, first: u32) -> [I; N] {
        let own = I::behind(self.staged, self.start);
        let mut items = [zero::<I>(); N];
        unrolled!(|e < N| items[e] = I::staged(own, (first + e as u32).min(self.len - 1)));
        items
    }
}
