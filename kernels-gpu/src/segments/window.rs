//! A block reduces the segments that start in its window, and the tiles of longer ones that start there.
//!
//! 1. The block copies the offsets of its segments and the items of all that are not [long](most_staged) to shared memory, with
//!    all loads in flight.
//! 2. The block checks the offsets, and reduces these segments from shared memory. The number of threads depends on a
//!    segment's own length, so segments of many items do not delay those of few:
//!
//!    | lanes of the canonical tile that have items | reduced by |
//!    |---|---|
//!    | up to 8, or up to 4 if an accumulator is large or takes items in groups | a thread |
//!    | up to 32 | a team of 4 or 8 threads, each of which combines as many lanes |
//!    | 32, with several rows or two tiles | a warp |
//!
//!    An operator that [selects](Op::SELECTS) its result needs no order: `window/select.rs`.
//!
//!    A warp loads whole granules of 16 bytes, wherever the segment starts in them: each slot takes what is at its place of a
//!    granule, and in the end the slots are shifted to those of the canonical order.
//!
//! 3. A warp for each tile of long segments reduces it from global memory, and leaves a partial.
//!
//! # Places of partials
//!
//! A *cell* is as many diagonals as a tile has items. Long segments have more items than that. So at most one first tile of
//! a long segment starts in a cell, and at most one other: within a segment tiles are a cell apart; behind a segment's last
//! tile, the second tile of a later one is more than a cell away. So a cell has two places.

mod lanes;
mod rows;
mod segment;
mod select;
mod tiles;
mod value;

use super::plan::Plan;
use super::{
    Edge, Long, Offsets, Storage, THREADS, Work, cells_of, most_listed, most_staged, shared_bytes,
    window_of, words_of,
};
use crate::element::{Element, Shuffle};
use crate::items::Items;
use crate::mem::{Shared, compiler_barrier};
use crate::op::{Op, unrolled};
use crate::tile::{LANES, Lane, Share, has_rows, items_of_tile, reduce_tile, zero};
use crate::warp::{FULL_MASK, WARP_SIZE, reduce_to_first};
use core::marker::PhantomData;
use cuda_std::thread::{block_idx_x, sync_threads, sync_threads_or, thread_idx_x};
use cuda_std::warp::warp_vote_ballot;
use rows::{are_whole, short_rows, whole_rows};
use segment::Segment;
use value::{Combined, Selected};

/// The lanes of a tile that one thread combines at least.
pub const FEW: usize = 4;

/// One more segment for a team, and for a warp, in the count of both.
const FOR_TEAM: u32 = 1;
const FOR_WARP: u32 = 1 << 16;

/// No segment, in the table of cells.
const NONE: u32 = u32::MAX;

/// The starts that a thread loads at once.
const STARTS_IN_FLIGHT: usize = 4;

/// Reduces the segments of the block's window.
///
/// # Safety
///
/// The launch meets the [requirements](super); all arrays have the same length.
#[inline(always)]
pub unsafe fn window<I: Items, O: Op<I>, const N: usize, const K: usize>(
    op: O,
    arrays: I::Arrays,
    offsets: Offsets,
    storage: Storage<O::Acc>,
) {
    if is_short::<I, O>() && offsets.are_rows() && I::skew::<N>(arrays) == Some(0) {
        match offsets.shape.row {
            // SAFETY: all threads of the block get here, and below; there is room.
            1 if N == 2 && has_room::<I, O>(2) => unsafe {
                return short_rows::<I, O, N, 1, 2>(op, arrays, storage.output);
            },
            // SAFETY: as above.
            1 if N == 4 && has_room::<I, O>(4) => unsafe {
                return short_rows::<I, O, N, 1, 4>(op, arrays, storage.output);
            },
            // SAFETY: as above.
            2 if N == 2 && has_room::<I, O>(1) => unsafe {
                return short_rows::<I, O, N, 2, 1>(op, arrays, storage.output);
            },
            // SAFETY: as above.
            2 if N == 4 && has_room::<I, O>(2) => unsafe {
                return short_rows::<I, O, N, 2, 2>(op, arrays, storage.output);
            },
            // SAFETY: as above.
            4 if N == 4 && has_room::<I, O>(1) => unsafe {
                return short_rows::<I, O, N, 4, 1>(op, arrays, storage.output);
            },
            row if are_whole::<I, O>(row as usize, I::len(arrays)) => {
                let (row, output) = (row as usize, storage.output);
                // SAFETY: as above, and below.
                return unsafe {
                    match O::SELECTS {
                        true => whole_rows::<I, O, Selected<I>, N>(op, arrays, row, output),
                        false => whole_rows::<I, O, Combined<O::Acc>, N>(op, arrays, row, output),
                    }
                };
            }
            _ => {}
        }
    }
    let window = block_idx_x() as usize;
    let begin = window * window_of::<I>();
    let plan = plan_of::<I>(offsets, storage.work, begin);
    let Plan { first, count, .. } = plan;
    if !plan.is_right {
        // All offsets of the window are checked, and nothing is reduced.
        check_all(offsets, first, first.wrapping_add(count), storage.work);
        return;
    }
    let count = count as u32;
    // Starts of 32 bits are copied as they are, those that are computed or wider as distances.
    let (skew, zero) = match is_copied(offsets, count) {
        true => (offsets.narrow.skew_of(first), plan.at as u32),
        false => (0, 0),
    };
    let block = Block::<I, O> {
        op,
        arrays,
        offsets,
        storage,
        begin,
        plan,
        first,
        count,
        at: plan.at,
        // SAFETY: the launch provides the memory.
        cells: unsafe { Shared::dynamic_at(0) },
        // SAFETY: as above; the cells are before.
        count_listed: unsafe { Shared::dynamic_at(4 * cells_of::<I>() as u32) },
        // SAFETY: as above; the counter is before.
        listed: unsafe { Shared::dynamic_at(4 * (cells_of::<I>() + 1) as u32) },
        // SAFETY: as above; the list is before.
        starts: unsafe { Shared::dynamic_at(4 * words_of::<I>() as u32) }.behind(skew),
        zero,
    };
    // A long segment alone is known without shared memory.
    if count > 1 || count == 1 && !block.is_long() {
        // SAFETY: all threads of the block get here.
        if !unsafe { block.reduce_short::<N, K>() } {
            return;
        }
    } else if count == 0 && !plan.is_begun {
        return;
    }
    // SAFETY: all threads of the block get here.
    unsafe { block.reduce_tiles::<N, K>() };
}

/// Whether the code for an item is short: one accumulator for each slot, or any order.
const fn is_short<I: Items, O: Op<I>>() -> bool {
    O::COMMUTATIVE && has_rows::<I, O>()
}

/// Whether a block's shared memory has room for so many results of each thread.
const fn has_room<I: Items, O: Op<I>>(results: usize) -> bool {
    THREADS as usize * results * size_of::<O::Acc>() <= shared_bytes::<I>()
}

/// Whether the starts of a window's segments are copied to shared memory: offsets of 32 bits, unless the only one is known.
#[inline(always)]
fn is_copied(offsets: Offsets, count: u32) -> bool {
    !(offsets.are_rows() || offsets.are_wide() || count == 1)
}

/// The plan of the block's window, from diagonal `begin` on.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
fn plan_of<I: Items>(offsets: Offsets, work: Work, begin: usize) -> Plan {
    if !offsets.are_rows() {
        return Plan::load(work, block_idx_x() as usize);
    }
    let (edge, next) = edges_of_rows::<I>(offsets, begin);
    Plan::of(&offsets.shape, begin, edge, next)
}

/// Where the window of rows from diagonal `begin` on begins, and where the next one does.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
fn edges_of_rows<I: Items>(offsets: Offsets, begin: usize) -> (Edge, Edge) {
    let edge = |begin: usize| {
        let diagonals = offsets.shape.row as usize + 1;
        Edge::of(offsets, begin.div_ceil(diagonals).min(offsets.segments()))
    };
    (edge(begin), edge(begin + window_of::<I>()))
}

/// Checks the offsets of all segments from `first` to `end`, for which a block has no room.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
fn check_all(offsets: Offsets, first: usize, end: usize, work: Work) {
    let n = offsets.shape.items as usize;
    let mut segment = first + thread_idx_x() as usize;
    while segment < end {
        let (start, end) = (offsets.get(segment), offsets.get(segment + 1));
        if segment == 0 && start > n {
            work.reports().report(offsets.shape, 0);
        } else if !(start <= end && end <= n) {
            work.reports().report(offsets.shape, segment + 1);
        }
        segment += THREADS as usize;
    }
}

/// A block's window.
#[derive(Clone, Copy)]
struct Block<I: Items, O: Op<I>> {
    op: O,
    arrays: I::Arrays,
    offsets: Offsets,
    storage: Storage<O::Acc>,
    /// The first diagonal.
    begin: usize,
    plan: Plan,
    /// The first segment that starts here.
    first: usize,
    /// The number of segments that start here.
    count: u32,
    /// The first segment's first item.
    at: usize,
    /// For each cell, the long segment that starts there, counted from `first`; or `NONE`.
    cells: Shared<u32>,
    /// The number of listed segments for a team, and 2^16 times that of those for a warp.
    count_listed: Shared<u32>,
    /// The segments for a team, from the front, and those for a warp, from the back.
    listed: Shared<u32>,
    /// The start of each segment, and the end of the last one, counted from where `zero` says that `at` is.
    starts: Shared<u32>,
    zero: u32,
}

impl<I: Items, O: Op<I>> Block<I, O> {
    /// The number of adjacent items of a lane.
    const ADJACENT: u32 = match O::COMMUTATIVE {
        true => I::VECTOR as u32,
        false => (items_of_tile::<I>() / LANES) as u32,
    };

    /// Whether the code for an item is short: one accumulator for each slot, or any order.
    const IS_SHORT: bool = is_short::<I, O>();

    /// The lanes of a tile that one thread combines.
    const OF_THREAD: u32 = match Self::IS_SHORT {
        true => 2 * FEW as u32,
        false => FEW as u32,
    };

    /// The parts of [`FEW`] lanes of them.
    const PARTS: u32 = Self::OF_THREAD / FEW as u32;

    /// The threads that combine a segment of up to [`OF_TEAM`](Self::OF_TEAM) lanes of a tile.
    const TEAM: u32 = match O::SELECTS {
        true => 4,
        false => WARP_SIZE / Self::OF_THREAD,
    };

    /// The lanes of a tile that a team combines; of two rows if the operator selects, because the canonical order does not
    /// matter.
    const OF_TEAM: u32 = match O::SELECTS {
        true => 2 * WARP_SIZE,
        false => WARP_SIZE,
    };

    /// The teams of a warp.
    const TEAMS: u32 = WARP_SIZE / Self::TEAM;

    /// The number of warps.
    const WARPS: u32 = THREADS / WARP_SIZE;

    /// Reduces the segments that start here and are staged, and enters the longer ones. False if an offset is bad.
    ///
    /// # Safety
    ///
    /// All threads of the block arrive here; the plan is right.
    #[inline(always)]
    unsafe fn reduce_short<const N: usize, const K: usize>(&self) -> bool {
        let tid = thread_idx_x();
        if tid < cells_of::<I>() as u32 {
            self.cells.set(tid, NONE);
        }
        if tid == 0 {
            self.count_listed.set(0, 0);
        }
        // A granule more, for starts that are copied.
        let behind_starts = 4 * (words_of::<I>() as u32 + self.count + 1) + 16;
        // SAFETY: the items exist, and there is room for them (`Plan::is_right`).
        let staged = unsafe {
            I::stage::<THREADS>(
                self.arrays,
                self.at,
                self.at + self.plan.items as usize,
                behind_starts.next_multiple_of(16),
                || self.load_starts(),
            )
        };
        sync_threads();
        // SAFETY: all threads of the block arrive here; the barrier was between the stores to shared memory and the loads.
        let is_good = unsafe { self.reduce_staged::<N, K>(staged) };
        if !is_good {
            let end = self.first + self.count as usize;
            check_all(self.offsets, self.first, end, self.storage.work);
        }
        is_good
    }

    /// Loads the starts of the segments: offsets of 32 bits as they are, by granules if there are many; the distances of longer
    /// ones. None of rows.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn load_starts(&self) {
        let own = thread_idx_x();
        if is_copied(self.offsets, self.count) {
            let (offsets, end) = (self.offsets.narrow, self.first + self.count as usize + 1);
            if self.count >= THREADS {
                let at = 4 * words_of::<I>() as u32;
                // SAFETY: the offsets exist, and there is room for them.
                unsafe { offsets.stage_in_order::<THREADS>(self.first, end, at) };
            } else if own <= self.count {
                self.starts.set(own, offsets.get(self.first + own as usize));
            }
            return;
        }
        if self.offsets.are_rows() {
            return;
        }
        if own == 0 {
            self.starts.set(0, 0);
            self.starts.set(self.count, self.plan.end);
        }
        if self.count > 1 {
            self.load_wide_starts();
        }
    }

    /// Stores the distances of starts of 64 bits.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn load_wide_starts(&self) {
        let own = self.offsets.wide.part(self.first, self.count as usize);
        let mut i = thread_idx_x();
        while i < self.count {
            let mut loaded = [0; STARTS_IN_FLIGHT];
            unrolled!(|k < STARTS_IN_FLIGHT| {
                let segment = (i + k as u32 * THREADS).min(self.count - 1);
                loaded[k] = own.get(segment as usize);
            });
            compiler_barrier();
            unrolled!(|k < STARTS_IN_FLIGHT| if i + k as u32 * THREADS < self.count {
                let distance = loaded[k].wrapping_sub(self.at as u64);
                let distance = distance.min(u32::MAX.into()) as u32;
                self.starts.set(i + k as u32 * THREADS, distance);
            });
            i += STARTS_IN_FLIGHT as u32 * THREADS;
        }
    }

    /// Reduces the segments whose items are staged, and enters those that are too long for that. False if an offset is bad:
    /// starts that never decrease from the window's first one on, up to an end within the items, are right.
    ///
    /// # Safety
    ///
    /// All threads of the block arrive here.
    #[inline(always)]
    unsafe fn reduce_staged<const N: usize, const K: usize>(&self, staged: I::Staged) -> bool {
        let Plan { last, items, .. } = self.plan;
        let mut is_bad = false;
        let mut i = thread_idx_x();
        while i < self.count {
            let segment = self.segment(staged, i);
            // A segment before the last one has all its items in shared memory if the starts never decrease.
            let is_right = self.offsets.are_rows()
                || segment.start <= last
                    && (segment.len <= items - segment.start || i + 1 == self.count);
            if !is_right {
                is_bad = true;
            } else if segment.len <= Self::OF_THREAD * Self::ADJACENT {
                self.set_result(i, self.by_thread::<N, K>(segment));
            } else if segment.len <= Self::OF_TEAM * Self::ADJACENT {
                is_bad |= !self.list(i, FOR_TEAM);
            } else if segment.len as usize <= most_staged::<I>() {
                is_bad |= !self.list(i, FOR_WARP);
            } else {
                is_bad |= !self.enter(i);
            }
            i += THREADS;
        }
        // The list and the cells are complete.
        // SAFETY: all threads of the block arrive here.
        if unsafe { any(is_bad) } {
            return false;
        }
        let warp = thread_idx_x() / WARP_SIZE;
        let listed = self.count_listed.get(0);
        let (for_teams, for_warps) = (listed % FOR_WARP, listed / FOR_WARP);
        let mut number = warp * Self::TEAMS;
        while number < for_teams {
            // SAFETY: all lanes of the warp arrive here, with the same number.
            unsafe { self.reduce_by_teams::<N, K>(staged, number, for_teams) };
            number += Self::WARPS * Self::TEAMS;
        }
        let mut number = warp;
        while number < for_warps {
            let i = self.listed.get(most_listed::<I>() as u32 - 1 - number);
            // SAFETY: all lanes of the warp arrive here, with the same segment.
            unsafe { self.reduce_by_warp::<N, K>(self.segment(staged, i), i) };
            number += Self::WARPS;
        }
        true
    }

    /// Lists segment `i`. False if there is no room, because an offset is bad.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn list(&self, i: u32, one: u32) -> bool {
        let before = self.count_listed.fetch_add(0, one);
        let (teams, warps) = (before % FOR_WARP, before / FOR_WARP);
        let most = most_listed::<I>() as u32;
        if teams + warps >= most {
            return false;
        }
        let number = match one {
            FOR_TEAM => teams,
            _ => most - 1 - warps,
        };
        self.listed.set(number, i);
        true
    }

    /// Whether the last segment is longer than those that are staged.
    #[inline(always)]
    fn is_long(&self) -> bool {
        self.plan.end - self.plan.last > most_staged::<I>() as u32
    }

    /// The length of a row; a longer one than a window counts as 2^32 - 1.
    #[inline(always)]
    fn row(&self) -> u32 {
        self.offsets.shape.row.min(u32::MAX.into()) as u32
    }

    /// Stores the result of segment `i`.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn set_result(&self, i: u32, value: O::Acc) {
        self.storage.output.set(self.first + i as usize, value);
    }

    /// Segment `i` of the block.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn segment(&self, staged: I::Staged, i: u32) -> Segment<I> {
        if self.offsets.are_rows() {
            let len = self.row();
            let start = i * len;
            return Segment { staged, start, len };
        }
        let (start, end) = (self.starts.get(i), self.starts.get(i + 1));
        Segment {
            staged,
            start: start.wrapping_sub(self.zero),
            len: end.wrapping_sub(start),
        }
    }

    /// Reduces a segment of a few lanes of a tile.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn by_thread<const N: usize, const K: usize>(&self, segment: Segment<I>) -> O::Acc {
        if O::SELECTS {
            self.select::<N>(segment)
        } else if Self::IS_SHORT && segment.len == 1 {
            let mut acc = Lane::<I, O, N>::new(self.op);
            acc.absorb_item(0, I::staged(segment.staged, segment.start), 0);
            acc.combined()
        } else if Self::IS_SHORT && segment.len <= 2 * Self::ADJACENT {
            self.two_lanes::<N, K>(segment)
        } else if segment.len <= Self::ADJACENT {
            self.lane::<N, K>(segment, 0)
        } else {
            self.all_lanes::<N, K>(segment)
        }
    }

    /// Reduces a segment of more than a row that is not long.
    ///
    /// # Safety
    ///
    /// All lanes of the warp arrive here, with the same segment.
    #[inline(always)]
    unsafe fn reduce_by_warp<const N: usize, const K: usize>(&self, segment: Segment<I>, i: u32) {
        if O::SELECTS {
            // SAFETY: the caller guarantees that all lanes arrive, with the same segment.
            unsafe { self.select_by_warp::<N>(segment, i) };
            return;
        }
        // SAFETY: the caller guarantees that all lanes arrive, with the same segment.
        let value = unsafe { self.tiles_of_warp::<N, K>(segment) };
        if thread_idx_x().is_multiple_of(WARP_SIZE) {
            self.set_result(i, value);
        }
    }

    /// Reduces the segments from number `number` of the list on, each by a team.
    ///
    /// # Safety
    ///
    /// All lanes of the warp arrive here, with the same number.
    #[inline(always)]
    unsafe fn reduce_by_teams<const N: usize, const K: usize>(
        &self,
        staged: I::Staged,
        number: u32,
        for_teams: u32,
    ) {
        let (number, own) = (
            number + thread_idx_x() % WARP_SIZE / Self::TEAM,
            thread_idx_x() % Self::TEAM,
        );
        let exists = number < for_teams;
        // A team without a segment combines identities.
        let (mut i, mut segment) = (
            0,
            Segment {
                staged,
                start: 0,
                len: 0,
            },
        );
        if exists {
            i = self.listed.get(number);
            segment = self.segment(staged, i);
        }
        if O::SELECTS {
            // SAFETY: the caller guarantees that all lanes arrive.
            unsafe { self.select_by_team::<N>(segment, exists.then_some(i)) };
            return;
        }
        let mut value = match O::COMMUTATIVE {
            true => self.lanes::<N, K>(segment, own, Self::TEAM),
            false => self.lanes::<N, K>(segment, own * Self::OF_THREAD, 1),
        };
        let mut step = 1;
        while step < Self::TEAM {
            let offset = match O::COMMUTATIVE {
                true => Self::TEAM / 2 / step,
                false => step,
            };
            // A thread combines what a later step does not need with whatever it gets.
            // SAFETY: the caller guarantees that all lanes arrive.
            let above = unsafe { value.shuffle(FULL_MASK, Shuffle::Down(offset)) };
            value = self.op.combine(value, above);
            step *= 2;
        }
        if exists && own == 0 {
            self.set_result(i, value);
        }
    }
}

/// Whether the value is true in any thread of the block; a barrier.
///
/// # Safety
///
/// All threads of the block arrive here.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
unsafe fn any(value: bool) -> bool {
    sync_threads_or(u32::from(value)) != 0
}
