//! The tiles of long segments that start in a window.

use super::*;

impl<I: Items, O: Op<I>> Block<I, O> {
    /// Reduces the tiles of long segments that start here, each by a warp.
    ///
    /// # Safety
    ///
    /// All threads of the block arrive here.
    #[inline(always)]
    pub(super) unsafe fn reduce_tiles<const N: usize, const K: usize>(&self) {
        let cells = cells_of::<I>() as u32;
        if self.count > 0 && !self.is_begun {
            let lane = thread_idx_x() % WARP_SIZE;
            let entered = lane < cells && self.entered(lane) != NONE;
            // SAFETY: the caller guarantees that all threads arrive.
            if unsafe { warp_vote_ballot(FULL_MASK, entered) } == 0 {
                return;
            }
        }
        // Before the tiles, whose items need the registers.
        let last = THREADS - 1 - thread_idx_x();
        if last < cells && !self.offsets.are_rows() {
            self.tell(last);
        }
        let mut job = thread_idx_x() / WARP_SIZE;
        // Most tiles are not the first of their segment: their jobs are adjacent, for different warps.
        while job < 2 * cells {
            if let Some((start, len, tile, place)) = self.tile_of(job % cells, job >= cells) {
                let part = I::part(self.arrays, start, len);
                // SAFETY: all lanes of the warp arrive here, with the same tile.
                let value = unsafe {
                    match O::SELECTS {
                        true => self.select_of_tile::<N>(part, tile),
                        false => reduce_tile::<I, O, N, K>(self.op, part, tile),
                    }
                };
                if thread_idx_x().is_multiple_of(WARP_SIZE) {
                    self.storage.partials.set(place, value);
                }
            }
            job += Self::WARPS;
        }
    }

    /// The long segment that starts in this cell of the block, or [`NONE`].
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn entered(&self, cell: u32) -> u32 {
        match self.count > 0 {
            true => self.cells.get(cell),
            // The cells are not initialised.
            false => NONE,
        }
    }

    /// The first tile of a long segment that starts in this cell, or the other tile that does: the segment's start and
    /// length, the number of the tile, and the place of its partial.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn tile_of(&self, cell: u32, is_first: bool) -> Option<(usize, usize, usize, usize)> {
        let own_cell = self.begin / items_of_tile::<I>() + cell as usize;
        if is_first {
            let i = self.entered(cell);
            if i == NONE {
                return None;
            }
            let (start, end) = self.bounds(i);
            return Some((start, end - start, 0, self.storage.place(own_cell, 0)));
        }
        // The last long segment that starts before the cell.
        let mut i = NONE;
        let mut earlier = 0;
        while earlier < cell {
            let found = self.entered(earlier);
            if found != NONE {
                i = found;
            }
            earlier += 1;
        }
        let (segment, start, end) = if i != NONE {
            let (start, end) = self.bounds(i);
            (self.first + i as usize, start, end)
        } else if self.is_begun {
            (self.first - 1, self.before, self.at)
        } else {
            return None;
        };
        let tile_items = items_of_tile::<I>();
        let from = self.begin + cell as usize * tile_items;
        let tile = (from - (start + segment)).div_ceil(tile_items);
        (tile * tile_items < end - start).then(|| {
            let place = self.storage.partials.len() / 2 + own_cell;
            (start, end - start, tile, place)
        })
    }

    /// The start and end of segment `i` of the block.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn bounds(&self, i: u32) -> (usize, usize) {
        let start = self.at + self.starts.get(i) as usize;
        match i + 1 == self.count {
            true => (start, self.behind),
            false => (start, self.at + self.starts.get(i + 1) as usize),
        }
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

    /// Enters a long segment into the table of cells.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub(super) fn enter(&self, i: u32) {
        let diagonal = self.at + self.starts.get(i) as usize + self.first + i as usize;
        self.cells.set(self.cell_of(diagonal), i);
    }
}
