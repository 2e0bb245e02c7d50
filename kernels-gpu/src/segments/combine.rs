//! Combines the partials of segments that have several tiles, as a binary tree of adjacent tiles.
//!
//! A warp combines the partials of a segment. Those of a *huge* one are cut into runs, each of [`RUN`] adjacent partials: a
//! warp combines a run and leaves the result in the place of its first partial, and the warp that combined the segment's
//! last run to be ready combines these results.

use super::partials::{OF_LANE, Partials, RUN};
use super::{Long, Offsets, Storage};
use crate::element::{Element, Shuffle};
use crate::items::Items;
use crate::op::Op;
use crate::tile::items_of_tile;
use crate::warp::{FULL_MASK, WARP_SIZE, inclusive_sum};
use cuda_std::thread::{block_dim_x, block_idx_x, device_fence, grid_dim_x, thread_idx_x};
use cuda_std::warp::{sync_warp, warp_vote_ballot};

/// Combines the partials of all long segments.
///
/// # Safety
///
/// The launch meets the [requirements](super), with any number of blocks.
#[inline(always)]
pub unsafe fn combine<I: Items, O: Op<I>>(op: O, offsets: Offsets, storage: Storage<O::Acc>) {
    if !offsets.are_rows() && storage.work.reports().is_bad() {
        return;
    }
    let warps = block_dim_x() / WARP_SIZE;
    let combiner = Combiner::<I, O> {
        op,
        offsets,
        storage,
        warp: block_idx_x() as usize * warps as usize + (thread_idx_x() / WARP_SIZE) as usize,
        warps: grid_dim_x() as usize * warps as usize,
    };
    // SAFETY: all threads of the block get here.
    unsafe {
        combiner.combine_huge();
        combiner.combine_others();
    }
}

struct Combiner<I: Items, O: Op<I>> {
    op: O,
    offsets: Offsets,
    storage: Storage<O::Acc>,
    /// The warp's number in the grid.
    warp: usize,
    /// The warps of the grid.
    warps: usize,
}

impl<I: Items, O: Op<I>> Combiner<I, O> {
    /// The partials of the long segment that starts in a cell.
    #[inline(always)]
    fn partials(&self, cell: u32) -> Partials<O::Acc> {
        self.storage.partials_of(cell as usize)
    }

    /// The long segment that starts in a cell, or row `place`.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn long(&self, place: usize) -> Option<Long> {
        if !self.offsets.are_rows() {
            return self.storage.work.long(place);
        }
        let (cell, tiles) = self.huge(place);
        let segment = place as u64;
        Some(Long {
            segment,
            cell,
            tiles,
        })
    }

    /// The number of huge segments.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn count_huge(&self) -> usize {
        if !self.offsets.are_rows() {
            return self.storage.work.count_huge();
        }
        match self.offsets.shape.row as usize > RUN * items_of_tile::<I>() {
            true => self.offsets.segments(),
            false => 0,
        }
    }

    /// The first cell and the number of tiles of huge segment `number`, or of any row.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn huge(&self, number: usize) -> (u32, u32) {
        if !self.offsets.are_rows() {
            return self.storage.work.huge(number);
        }
        let (row, tile) = (self.offsets.shape.row as usize, items_of_tile::<I>());
        let cell = number * (row + 1) / tile;
        (cell as u32, row.div_ceil(tile) as u32)
    }

    /// Combines the partials of the huge segments, each run by a warp. The lanes of each warp count the runs of as many
    /// segments, and the warp takes those that are its own.
    ///
    /// # Safety
    ///
    /// All threads of the grid arrive here.
    #[inline(always)]
    unsafe fn combine_huge(&self) {
        // In 32 bits, because a division of 64 bits is a call.
        let (warp, warps) = (self.warp as u32, self.warps as u32);
        let lane = thread_idx_x() % WARP_SIZE;
        let count = self.count_huge();
        let (mut first, mut before) = (0, 0);
        while first < count {
            let number = first + lane as usize;
            let (cell, tiles) = self.huge(number.min(count - 1));
            let runs = match number < count {
                true => tiles.div_ceil(RUN as u32),
                false => 0,
            };
            // SAFETY: all lanes of the warp arrive here, and below, because all have the same count.
            let through = unsafe { inclusive_sum(runs) };
            // SAFETY: as above.
            let all = unsafe { through.shuffle(FULL_MASK, Shuffle::Idx(WARP_SIZE - 1)) };
            // Runs are numbered over all segments, and the warps take them in turn.
            let mut run = (warp + warps - before) % warps;
            before = (before + all) % warps;
            while run < all {
                // SAFETY: as above; all lanes have the same runs.
                let earlier = unsafe { warp_vote_ballot(FULL_MASK, through <= run) }.count_ones();
                let from = Shuffle::Idx(earlier);
                // SAFETY: as above.
                let (cell, tiles, of_earlier) = unsafe {
                    (
                        cell.shuffle(FULL_MASK, from),
                        tiles.shuffle(FULL_MASK, from) as usize,
                        (through - runs).shuffle(FULL_MASK, from),
                    )
                };
                // SAFETY: as above, with the same run.
                unsafe { self.run_of(first + earlier as usize, cell, tiles, run - of_earlier) };
                run += warps;
            }
            first += WARP_SIZE as usize;
        }
    }

    /// Combines run `run` of huge segment `number`, and the results of all its runs if the others are combined.
    ///
    /// # Safety
    ///
    /// All lanes of the warp arrive here, with the same arguments.
    #[inline(always)]
    unsafe fn run_of(&self, number: usize, cell: u32, tiles: usize, run: u32) {
        let first = run as usize * RUN;
        // SAFETY: the caller guarantees that all lanes arrive, with the same run; here and below.
        let value = unsafe {
            self.partials(cell)
                .combined::<I, O>(self.op, first, (tiles - first).min(RUN), 1)
        };
        let runs = tiles.div_ceil(RUN) as u32;
        let mut is_last = 0u32;
        if thread_idx_x().is_multiple_of(WARP_SIZE) {
            self.partials(cell).set(first, value);
            // The run's result is visible before the count.
            device_fence();
            is_last = u32::from(self.storage.work.is_last_run(number, runs));
        }
        // SAFETY: as above.
        if unsafe { is_last.shuffle(FULL_MASK, Shuffle::Idx(0)) } == 0 {
            return;
        }
        // Lane 0, which counted, sees the results of the other runs behind this fence, and the other lanes behind the barrier.
        device_fence();
        // SAFETY: as above; all lanes have the same answer.
        unsafe { sync_warp(FULL_MASK) };
        // SAFETY: as above.
        let value = unsafe {
            self.partials(cell)
                .of_runs::<I, O>(self.op, runs as usize, RUN)
        };
        if thread_idx_x().is_multiple_of(WARP_SIZE) {
            let segment = match self.offsets.are_rows() {
                true => number,
                false => self
                    .storage
                    .work
                    .long(cell as usize)
                    .map_or(0, |long| long.segment as usize),
            };
            self.storage.output.set(segment, value);
        }
    }

    /// Stores the results of the long segments that are not huge. A lane looks after a cell or a row: it combines a few
    /// partials itself, and the warp the others.
    ///
    /// # Safety
    ///
    /// All threads of the grid arrive here.
    #[inline(always)]
    unsafe fn combine_others(&self) {
        let lane = thread_idx_x() % WARP_SIZE;
        // Rows are spread over the warps before they are over a warp's lanes. Cells are adjacent: most have no segment.
        let (places, mut first, distance) = match self.offsets.are_rows() {
            true => (self.offsets.segments(), self.warp, self.warps),
            false => (
                self.storage.partials.len() / 2,
                self.warp * WARP_SIZE as usize,
                1,
            ),
        };
        while first < places {
            let place = first + lane as usize * distance;
            let none = Long {
                segment: 0,
                cell: 0,
                tiles: 0,
            };
            let found = if place < places {
                self.long(place)
            } else {
                None
            };
            let long = found.unwrap_or(none);
            let tiles = long.tiles as usize;
            if 0 < tiles && tiles <= OF_LANE {
                let value = self.partials(long.cell).few::<I, O>(self.op, 0, tiles, 1);
                self.storage.output.set(long.segment as usize, value);
            }
            let is_of_warp = OF_LANE < tiles && tiles <= RUN;
            // SAFETY: all lanes of the warp arrive here, and below.
            let mut others = unsafe { warp_vote_ballot(FULL_MASK, is_of_warp) };
            while others != 0 {
                let from = Shuffle::Idx(others.trailing_zeros());
                // SAFETY: as above.
                let (segment, cell, tiles) = unsafe {
                    (
                        long.segment.shuffle(FULL_MASK, from),
                        long.cell.shuffle(FULL_MASK, from),
                        long.tiles.shuffle(FULL_MASK, from),
                    )
                };
                // SAFETY: as above, with the same segment.
                let value = unsafe {
                    self.partials(cell)
                        .combined::<I, O>(self.op, 0, tiles as usize, 1)
                };
                if lane == 0 {
                    self.storage.output.set(segment as usize, value);
                }
                others &= others - 1;
            }
            first += self.warps * WARP_SIZE as usize;
        }
    }
}
