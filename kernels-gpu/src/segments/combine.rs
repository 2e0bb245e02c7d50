//! Combines the partials of segments that have several tiles, as a binary tree of adjacent tiles.
//!
//! A *run* is up to [`RUN`] adjacent partials, from a multiple of that number on; a warp combines it and leaves the result
//! in the place of the first. A segment with more tiles needs several rounds, a launch for each: in each of them, the runs
//! are as many times farther apart. The last round ends with the segments' results.

use super::{Long, Offsets, Storage};
use crate::element::{Element, Shuffle};
use crate::items::Items;
use crate::op::Op;
use crate::tile::items_of_tile;
use crate::warp::{FULL_MASK, WARP_SIZE, reduce_in_order};
use cuda_std::thread::{block_dim_x, block_idx_x, grid_dim_x, thread_idx_x};
use cuda_std::warp::warp_vote_ballot;

/// The partials that a thread combines by itself.
const OF_LANE: usize = 4;

/// The partials that a warp combines at once.
const GROUP: usize = OF_LANE * WARP_SIZE as usize;

/// The most partials of a run. More groups, of which there may be one for each lane, would take longer one after another
/// than another round does.
pub const RUN: usize = 8 * GROUP;

/// The number of rounds for segments of up to `tiles` tiles.
pub const fn rounds(tiles: usize) -> u64 {
    let (mut rounds, mut left) = (1, tiles);
    while left > RUN {
        left = left.div_ceil(RUN);
        rounds += 1;
    }
    rounds
}

/// Does a round.
///
/// # Safety
///
/// The launch meets the [requirements](super), with any number of blocks.
#[inline(always)]
pub unsafe fn combine<I: Items, O: Op<I>>(op: O, offsets: Offsets, storage: Storage<O::Acc>) {
    if !offsets.are_rows() && storage.work.is_bad() {
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
        match offsets.shape.is_last > 0 {
            true => combiner.finish(),
            false => combiner.combine_runs(offsets.shape.round),
        }
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
    /// The number of long segments, or of those with several runs.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn count(&self, is_huge: bool) -> usize {
        match self.offsets.are_rows() {
            true => self.offsets.segments(),
            false => self.storage.work.count(is_huge),
        }
    }

    /// Long segment `number`.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn long(&self, number: usize, is_huge: bool) -> Long {
        if !self.offsets.are_rows() {
            return self.storage.work.long(number, is_huge);
        }
        let (row, tile) = (self.offsets.shape.row as usize, items_of_tile::<I>());
        Long {
            segment: number as u64,
            cell: ((number * row + number) / tile) as u32,
            tiles: row.div_ceil(tile) as u32,
        }
    }

    /// Combines the runs of segments with several of them, each by a warp.
    ///
    /// # Safety
    ///
    /// All threads of the grid arrive here.
    #[inline(always)]
    unsafe fn combine_runs(&self, round: u64) {
        // In 32 bits, as the tiles of a segment are counted: a division of 64 bits is a call.
        let mut step = 1u32;
        let mut earlier = 0;
        while earlier < round {
            step *= RUN as u32;
            earlier += 1;
        }
        // Each segment's first run goes to the warp behind that of the last run before.
        let (warp, warps) = (self.warp as u32, self.warps as u32);
        let (mut number, mut before) = (0, 0);
        while number < self.count(true) {
            let long = self.long(number, true);
            let partials = long.tiles.div_ceil(step) as usize;
            let runs = match partials > RUN {
                true => partials.div_ceil(RUN) as u32,
                false => 0,
            };
            let mut run = (warp + warps - before) % warps;
            before = (before + runs) % warps;
            while run < runs {
                let first = run as usize * RUN;
                let len = (partials - first).min(RUN);
                // SAFETY: all lanes of the warp arrive here, with the same run.
                let value = unsafe { self.run(long.cell, first, len, step as usize) };
                if thread_idx_x().is_multiple_of(WARP_SIZE) {
                    let place = self
                        .storage
                        .place(long.cell as usize, first * step as usize);
                    self.storage.partials.set(place, value);
                }
                run += warps;
            }
            number += 1;
        }
    }

    /// Stores the result of each long segment. A lane looks after one: it combines a few partials itself, and the warp the
    /// others.
    ///
    /// # Safety
    ///
    /// All threads of the grid arrive here.
    #[inline(always)]
    unsafe fn finish(&self) {
        let lane = thread_idx_x() % WARP_SIZE;
        let count = self.count(false);
        let mut first = self.warp;
        while first < count {
            // Segments are spread over the warps before they are over a warp's lanes.
            let number = first + lane as usize * self.warps;
            let exists = number < count;
            let long = self.long(if exists { number } else { first }, false);
            let is_small = long.tiles as usize <= OF_LANE;
            if exists && is_small {
                let value = self.few(long.cell, 0, long.tiles as usize, 1);
                self.storage.output.set(long.segment as usize, value);
            }
            // SAFETY: all lanes of the warp arrive here, and below.
            let mut others = unsafe { warp_vote_ballot(FULL_MASK, exists && !is_small) };
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
                let (mut partials, mut step) = (tiles as usize, 1);
                while partials > RUN {
                    partials = partials.div_ceil(RUN);
                    step *= RUN;
                }
                // SAFETY: as above, with the same segment.
                let value = unsafe { self.run(cell, 0, partials, step) };
                if lane == 0 {
                    self.storage.output.set(segment as usize, value);
                }
                others &= others - 1;
            }
            first += self.warps * WARP_SIZE as usize;
        }
    }

    /// Combines `len` partials, at most [`RUN`], from the one with number `first` on; their tiles are `step` apart. **Lane 0
    /// holds the result.**
    ///
    /// # Safety
    ///
    /// All lanes of the warp arrive here, with the same arguments.
    #[inline(always)]
    unsafe fn run(&self, cell: u32, first: usize, len: usize, step: usize) -> O::Acc {
        let lane = thread_idx_x() % WARP_SIZE;
        let mut kept = self.op.identity();
        let mut group = 0;
        while group * GROUP < len {
            let own = group * GROUP + lane as usize * OF_LANE;
            let number = len.saturating_sub(own).min(OF_LANE);
            let value = self.few(cell, first + own, number, step);
            // SAFETY: the caller guarantees that all lanes arrive, here and below.
            let value = unsafe { reduce_in_order::<I, O>(self.op, value) };
            // SAFETY: as above.
            let value = unsafe { value.shuffle(FULL_MASK, Shuffle::Idx(0)) };
            if lane as usize == group {
                kept = value;
            }
            group += 1;
        }
        // SAFETY: as above.
        unsafe { reduce_in_order::<I, O>(self.op, kept) }
    }

    /// Combines `len` partials, at most [`OF_LANE`], from the one with number `first` on; the identity if there is none.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn few(&self, cell: u32, first: usize, len: usize, step: usize) -> O::Acc {
        let load = |i: usize| match i < len {
            true => {
                let place = self.storage.place(cell as usize, (first + i) * step);
                self.storage.partials.get(place)
            }
            false => self.op.identity(),
        };
        let [a, b, c, d] = [load(0), load(1), load(2), load(3)];
        let combine = |a, b| self.op.combine(a, b);
        combine(combine(a, b), combine(c, d))
    }
}
