//! The tiles of long segments that start in a window.

use super::*;
use crate::mem::opaque;
use crate::segments::select::select_of_part;
use crate::tile::Part;

impl<I: Items, O: Op<I>> Block<I, O> {
    /// Reduces the tiles of long segments that start here, each by a warp.
    ///
    /// # Safety
    ///
    /// All threads of the block arrive here.
    #[inline(always)]
    pub(super) unsafe fn reduce_tiles<const N: usize, const K: usize>(&self) {
        const { assert!(cells_of::<I>() < WARP_SIZE as usize) };
        let cells = cells_of::<I>() as u32;
        let lane = thread_idx_x() % WARP_SIZE;
        let is_entered = lane < cells && self.entered(lane) != NONE;
        // SAFETY: the caller guarantees that all threads arrive.
        let entered = unsafe { warp_vote_ballot(FULL_MASK, is_entered) };
        // One word, because registers are few: a bit for the segment that started before the window, and then one for each cell,
        // which is set if a long segment starts there.
        let begun = entered << 1 | u32::from(self.plan.is_begun);
        if begun == 0 {
            return;
        }
        // Before the tiles, whose items need the registers.
        let last = THREADS - 1 - thread_idx_x();
        if last < cells && !self.offsets.are_rows() {
            self.tell(last);
        }
        let mut job = thread_idx_x() / WARP_SIZE;
        // Most tiles are not the first of their segment: their jobs are adjacent, for different warps.
        while job < 2 * cells {
            let found = match job < cells {
                true => self.other_tile(job, begun),
                false => self.first_tile(job - cells),
            };
            if let Some((start, len, tile, place)) = found {
                // SAFETY: all lanes of the warp arrive here, with the same tile, which has an item.
                let value = unsafe {
                    match O::SELECTS {
                        true => {
                            let arrays = self.arrays;
                            let part = Part { arrays, start, len };
                            // Otherwise LLVM would compute addresses before the loop, and too few registers would be left.
                            let lane = opaque(lane as usize) as u32;
                            select_of_part::<I, O, N>(
                                self.op,
                                part.tile(tile),
                                tile * items_of_tile::<I>(),
                                lane,
                                WARP_SIZE,
                            )
                        }
                        false => {
                            let part = I::part(self.arrays, start, len);
                            reduce_tile::<I, O, N, K>(self.op, part, tile)
                        }
                    }
                };
                if thread_idx_x().is_multiple_of(WARP_SIZE) {
                    self.storage.partials.set(place, value);
                }
            }
            job += Self::WARPS;
        }
    }

    /// The first item behind the window's last segment. Loaded for a tile, because registers are few.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn behind(&self) -> usize {
        match self.offsets.are_rows() {
            true => self.at + self.count as usize * self.offsets.shape.row as usize,
            false => Plan::load_behind(self.storage.work, block_idx_x() as usize),
        }
    }

    /// The first item of the segment before the window. Loaded for a tile, as well.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn before(&self) -> usize {
        match self.offsets.are_rows() {
            true => self.at.saturating_sub(self.offsets.shape.row as usize),
            false => Plan::load_before(self.storage.work, block_idx_x() as usize),
        }
    }

    /// The long segment that starts in this cell of the block, or [`NONE`].
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn entered(&self, cell: u32) -> u32 {
        match self.count {
            // The cells are not initialised.
            0 => NONE,
            1 => match self.is_long() && cell == self.cell_of(self.at + self.first) {
                true => 0,
                false => NONE,
            },
            _ => self.cells.get(cell),
        }
    }

    /// The first tile of a long segment that starts in this cell: the segment's start and length, the number of the tile, and the
    /// place of its partial.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn first_tile(&self, cell: u32) -> Option<(usize, usize, usize, usize)> {
        let i = self.entered(cell);
        if i == NONE {
            return None;
        }
        let (start, end) = self.bounds(i);
        let own_cell = self.begin / items_of_tile::<I>() + cell as usize;
        Some((start, end - start, 0, own_cell))
    }

    /// The other tile of a long segment that starts in this cell, as [`first_tile`](Self::first_tile). `begun` has a bit for the
    /// segment that started before the window, and then one for each cell, which is set if a long segment starts there.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn other_tile(&self, cell: u32, begun: u32) -> Option<(usize, usize, usize, usize)> {
        let (segment, start, end) = match begun & ((2 << cell) - 1) {
            0 => return None,
            1 => (self.first - 1, self.before(), self.at),
            // The last long segment that starts before the cell.
            earlier => {
                let i = self.entered(earlier.ilog2() - 1);
                let (start, end) = self.bounds(i);
                (self.first + i as usize, start, end)
            }
        };
        let tile_items = items_of_tile::<I>();
        let from = self.begin + cell as usize * tile_items;
        let tile = (from - (start + segment)).div_ceil(tile_items);
        (tile * tile_items < end - start).then(|| {
            let own_cell = self.begin / tile_items + cell as usize;
            let place = self.storage.partials.len() / 2 + own_cell;
            (start, end - start, tile, place)
        })
    }

    /// The start and end of segment `i` of the block.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn bounds(&self, i: u32) -> (usize, usize) {
        match i + 1 == self.count {
            true => (self.start(i), self.behind()),
            false => (self.start(i), self.start(i + 1)),
        }
    }

    /// The start of segment `i` of the block.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn start(&self, i: u32) -> usize {
        if i == 0 {
            return self.at;
        }
        if self.offsets.are_rows() {
            return self.at + i as usize * self.row() as usize;
        }
        self.at + self.starts.get(i).wrapping_sub(self.zero) as usize
    }

    /// Tells [`combine`](mod@super::super::combine) which long segment starts in this cell of the block.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn tell(&self, cell: u32) {
        let i = self.entered(cell);
        if i == NONE {
            return;
        }
        let (start, end) = self.bounds(i);
        self.storage.work.set_long(Long {
            segment: (self.first + i as usize) as u64,
            cell: (self.begin / items_of_tile::<I>()) as u32 + cell,
            tiles: (end - start).div_ceil(items_of_tile::<I>()) as u32,
        });
    }

    /// The cell of the block to which a diagonal belongs.
    #[inline(always)]
    fn cell_of(&self, diagonal: usize) -> u32 {
        ((diagonal - self.begin) / items_of_tile::<I>()) as u32
    }

    /// Enters a long segment into the table of cells. False if its cell has one, because an offset is bad.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub(super) fn enter(&self, i: u32) -> bool {
        let diagonal = self.start(i) + self.first + i as usize;
        // From `NONE`, which is -1, to `i`.
        self.cells.fetch_add(self.cell_of(diagonal), i + 1) == NONE
    }
}
