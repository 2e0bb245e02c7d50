//! A block reduces the segments that start in its window, and the tiles of longer ones that start there.
//!
//! 1. The block loads the offsets of its segments, checks them, and copies the items of all segments of up to a tile to
//!    shared memory, with all loads in flight.
//! 2. The block reduces these segments from shared memory. The number of threads depends on a segment's own length, so
//!    long segments do not delay short ones:
//!
//!    | lanes of the canonical tile that have items | reduced by |
//!    |---|---|
//!    | up to 8, or up to 4 if an accumulator is large or takes items in groups | a thread |
//!    | up to 32 | a team of 4 or 8 threads, each of which combines as many lanes |
//!    | 32, with several rows | a warp |
//!
//!    An operator that [selects](Op::SELECTS) its result needs no order: `window/select.rs`.
//!
//! 3. A warp for each tile of longer segments reduces it from global memory, and leaves a partial.
//!
//! # Places of partials
//!
//! A *cell* is as many diagonals as a tile has items. Long segments have more items than that. So at most one first tile of
//! a long segment starts in a cell, and at most one other: within a segment tiles are a cell apart; behind a segment's last
//! tile, the second tile of a later one is more than a cell away. So a cell has two places.

mod lanes;
mod segment;
mod select;
mod tiles;

use super::{
    Edge, Long, Offsets, Storage, THREADS, Work, cells_of, most_listed, window_of, words_of,
};
use crate::element::{Element, Shuffle};
use crate::items::Items;
use crate::mem::{Global, Shared, compiler_barrier};
use crate::op::{Op, unrolled};
use crate::tile::{LANES, Lane, Share, has_rows, items_of_tile, reduce_tile, zero};
use crate::warp::{FULL_MASK, WARP_SIZE, reduce_to_first};
use core::marker::PhantomData;
use cuda_std::thread::{block_idx_x, sync_threads, sync_threads_or, thread_idx_x};
use cuda_std::warp::warp_vote_ballot;
use segment::Segment;

/// The lanes of a tile that one thread combines at least.
pub const FEW: usize = 4;

/// The counter of the segments for a team.
const FOR_TEAMS: u32 = 0;

/// The counter of the segments for a warp.
const FOR_WARPS: u32 = 1;

/// No segment, in the table of cells.
const NONE: u32 = u32::MAX;

/// The starts that a thread loads at once.
const STARTS_IN_FLIGHT: usize = 4;

/// More than the items of any window; longer distances count as this many.
const FAR: usize = 1 << 30;

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
    let n = I::len(arrays);
    let begin = block_idx_x() as usize * window_of::<I>();
    let (edge, next) = edges::<I>(offsets, storage.work, begin);
    let Edge { first, before, at } = edge;
    let end = next.first;
    let count = end.wrapping_sub(first);
    if count > window_of::<I>() {
        // The offsets are bad. All of them are checked, and nothing is reduced.
        check_all(offsets, first, end, n, storage.work);
        return;
    }
    let follows = before <= at && at <= n && (first == 0 || before + (first - 1) < begin);
    let block = Block::<I, O> {
        op,
        arrays,
        offsets,
        storage,
        begin,
        first,
        count: count as u32,
        at,
        last: next.before,
        behind: next.at,
        // SAFETY: the launch provides the memory.
        cells: unsafe { Shared::dynamic_at(0) },
        // SAFETY: as above; the cells are before.
        counts: unsafe { Shared::dynamic_at(4 * cells_of::<I>() as u32) },
        // SAFETY: as above; the two counters are before.
        list: unsafe { Shared::dynamic_at(4 * (cells_of::<I>() + 2) as u32) },
        // SAFETY: as above; the list is before.
        starts: unsafe { Shared::dynamic_at(4 * words_of::<I>() as u32) },
        is_begun: follows && at - before > items_of_tile::<I>(),
        before,
    };
    if count > 0 {
        // SAFETY: all threads of the block get here.
        if !unsafe { block.reduce_short::<N, K>(n, follows) } {
            return;
        }
    } else if !follows {
        return;
    }
    // SAFETY: all threads of the block get here.
    unsafe { block.reduce_tiles::<N, K>() };
}

/// Where the window from diagonal `begin` on begins, and where the next one does.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
fn edges<I: Items>(offsets: Offsets, work: Work, begin: usize) -> (Edge, Edge) {
    if !offsets.are_rows() {
        let window = block_idx_x() as usize;
        return (work.edge(window), work.edge(window + 1));
    }
    let edge = |begin: usize| {
        let diagonals = offsets.shape.row as usize + 1;
        Edge::of(offsets, begin.div_ceil(diagonals).min(offsets.segments()))
    };
    (edge(begin), edge(begin + window_of::<I>()))
}

/// Checks the offsets of all segments from `first` to `end`, for which a block has no room.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
fn check_all(offsets: Offsets, first: usize, end: usize, n: usize, work: Work) {
    let mut segment = first + thread_idx_x() as usize;
    while segment < end {
        let (start, end) = (offsets.get(segment), offsets.get(segment + 1));
        if segment == 0 && start > n {
            work.report(0);
        } else if !(start <= end && end <= n) {
            work.report(segment + 1);
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
    /// The first segment that starts here.
    first: usize,
    /// The number of segments that start here.
    count: u32,
    /// The first segment's first item.
    at: usize,
    /// The last segment's first item.
    last: usize,
    /// The first item behind it.
    behind: usize,
    /// For each cell, the long segment that starts there, counted from `first`; or `NONE`.
    cells: Shared<u32>,
    /// The number of segments for a team, and for a warp.
    counts: Shared<u32>,
    /// The segments for a team, from the front, and those for a warp, from the back.
    list: Shared<u32>,
    /// The start of each segment, and the end of the last one, counted from `at`.
    starts: Shared<u32>,
    /// Whether the segment before is long, so that its tiles may start here.
    is_begun: bool,
    /// The start of the segment before.
    before: usize,
}

impl<I: Items, O: Op<I>> Block<I, O> {
    /// The number of adjacent items of a lane.
    const ADJACENT: u32 = match O::COMMUTATIVE {
        true => I::VECTOR as u32,
        false => (items_of_tile::<I>() / LANES) as u32,
    };

    /// Whether the code for an item is short: one accumulator for each slot, or any order.
    const IS_SHORT: bool = O::COMMUTATIVE && has_rows::<I, O>();

    /// The lanes of a tile that one thread combines.
    const OF_THREAD: u32 = match Self::IS_SHORT {
        true => 2 * FEW as u32,
        false => FEW as u32,
    };

    /// The threads that combine a segment of up to [`OF_TEAM`](Self::OF_TEAM) lanes of a tile.
    const TEAM: u32 = match O::SELECTS {
        true => 8,
        false => WARP_SIZE / Self::OF_THREAD,
    };

    /// The lanes of a tile that a team combines; of several rows if the operator selects, because the canonical order does not
    /// matter.
    const OF_TEAM: u32 = Self::TEAM * Self::OF_THREAD;

    /// The teams of a warp.
    const TEAMS: u32 = WARP_SIZE / Self::TEAM;

    /// The number of warps.
    const WARPS: u32 = THREADS / WARP_SIZE;

    /// Reduces the segments of up to a tile that start here, and enters the longer ones. False if an offset is bad.
    ///
    /// # Safety
    ///
    /// All threads of the block arrive here.
    #[inline(always)]
    unsafe fn reduce_short<const N: usize, const K: usize>(&self, n: usize, follows: bool) -> bool {
        let Self { last, behind, .. } = *self;
        let is_long = behind.wrapping_sub(last) > items_of_tile::<I>();
        let staged_end = if is_long { last } else { behind };
        let items = staged_end.wrapping_sub(self.at);
        let most = window_of::<I>() + items_of_tile::<I>() - self.count as usize;
        let in_window = |start: usize, segment: usize| {
            start.wrapping_add(segment).wrapping_sub(self.begin) < window_of::<I>()
        };
        let fits = follows
            && items <= most
            && last <= behind
            && behind <= n
            && in_window(self.at, self.first)
            && in_window(last, self.first + self.count as usize - 1);
        let tid = thread_idx_x();
        if tid < cells_of::<I>() as u32 {
            self.cells.set(tid, NONE);
        }
        let mut is_bad = !fits;
        if tid < 2 {
            self.counts.set(tid, 0);
        }
        if tid == 0 {
            self.set_start(self.count, behind);
        }
        let behind_starts = 4 * (words_of::<I>() as u32 + self.count + 1);
        let (from, to) = if fits { (self.at, staged_end) } else { (0, 0) };
        let load = || is_bad |= !self.load_starts();
        // SAFETY: the items exist, and there is room for them (`fits`).
        let staged = unsafe {
            I::stage::<THREADS>(
                self.arrays,
                from,
                to,
                behind_starts.next_multiple_of(16),
                load,
            )
        };
        // SAFETY: all threads of the block arrive here.
        if unsafe { any(is_bad) } {
            let end = self.first + self.count as usize;
            check_all(self.offsets, self.first, end, n, self.storage.work);
            return false;
        }
        // SAFETY: as above; the barrier was between the stores to shared memory and the loads.
        unsafe { self.reduce_staged::<N, K>(staged) };
        true
    }

    /// Loads the starts of the segments. False if one of those that the thread loads is more than the next.
    ///
    /// Only differences are stored and compared, which 32 bits hold: starts that never decrease from the window's first
    /// one on, up to an end within the items, are right.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn load_starts(&self) -> bool {
        // A loop for each kind, because the kind would be tested for each start.
        if self.offsets.are_rows() {
            let row = self.offsets.shape.row.min(FAR as u64) as u32;
            let mut i = thread_idx_x();
            while i < self.count {
                self.starts.set(i, i * row);
                i += THREADS;
            }
            true
        } else if self.offsets.are_wide() {
            self.load_starts_of(self.offsets.wide, |start| {
                start.wrapping_sub(self.at as u64) as u32
            })
        } else {
            self.load_starts_of(self.offsets.narrow, |start| {
                start.wrapping_sub(self.at as u32)
            })
        }
    }

    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn load_starts_of<T: Element + PartialOrd>(
        &self,
        offsets: Global<T>,
        distance: impl Fn(T) -> u32,
    ) -> bool {
        let own = offsets.part(self.first, self.count as usize + 1);
        let mut is_good = true;
        let mut i = thread_idx_x();
        while i < self.count {
            let mut loaded = [None; STARTS_IN_FLIGHT];
            unrolled!(|k < STARTS_IN_FLIGHT| {
                let segment = i + k as u32 * THREADS;
                if segment < self.count {
                    let segment = segment as usize;
                    loaded[k] = Some((own.get(segment), own.get(segment + 1)));
                }
            });
            compiler_barrier();
            unrolled!(|k < STARTS_IN_FLIGHT| {
                if let Some((start, end)) = loaded[k] {
                    self.starts.set(i + k as u32 * THREADS, distance(start));
                    is_good &= start <= end;
                }
            });
            i += STARTS_IN_FLIGHT as u32 * THREADS;
        }
        is_good
    }

    /// Stores the start of segment `i`, or the end of the last one.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn set_start(&self, i: u32, start: usize) {
        let distance = start.wrapping_sub(self.at);
        self.starts.set(i, distance.min(FAR) as u32);
    }

    /// Reduces the segments whose items are staged, and enters those that are too long for that.
    ///
    /// # Safety
    ///
    /// All threads of the block arrive here.
    #[inline(always)]
    unsafe fn reduce_staged<const N: usize, const K: usize>(&self, staged: I::Staged) {
        let mut i = thread_idx_x();
        while i < self.count {
            let segment = self.segment(staged, i);
            if segment.len <= Self::OF_THREAD * Self::ADJACENT {
                self.set_result(i, self.by_thread::<N, K>(segment));
            } else if segment.len <= Self::OF_TEAM * Self::ADJACENT {
                let number = self.counts.fetch_add(FOR_TEAMS, 1);
                self.list.set(number, i);
            } else if segment.len as usize <= items_of_tile::<I>() {
                let number = self.counts.fetch_add(FOR_WARPS, 1);
                self.list.set(most_listed::<I>() as u32 - 1 - number, i);
            } else {
                self.enter(i);
            }
            i += THREADS;
        }
        // The list and the cells are complete.
        sync_threads();
        let warp = thread_idx_x() / WARP_SIZE;
        let (for_teams, for_warps) = (self.counts.get(FOR_TEAMS), self.counts.get(FOR_WARPS));
        let mut number = warp * Self::TEAMS;
        while number < for_teams {
            // SAFETY: all lanes of the warp arrive here, with the same number.
            unsafe { self.reduce_by_teams::<N, K>(staged, number, for_teams) };
            number += Self::WARPS * Self::TEAMS;
        }
        let mut number = warp;
        while number < for_warps {
            let i = self.list.get(most_listed::<I>() as u32 - 1 - number);
            // SAFETY: all lanes of the warp arrive here, with the same segment.
            unsafe { self.reduce_by_warp::<N, K>(self.segment(staged, i), i) };
            number += Self::WARPS;
        }
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
        let (start, end) = (self.starts.get(i), self.starts.get(i + 1));
        let len = end - start;
        Segment { staged, start, len }
    }

    /// Reduces a segment of a few lanes of a tile.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn by_thread<const N: usize, const K: usize>(&self, segment: Segment<I>) -> O::Acc {
        if O::SELECTS {
            self.select::<N>(segment)
        } else if segment.len <= Self::ADJACENT {
            self.lane::<N, K>(segment, 0)
        } else {
            self.lanes::<N, K>(segment, 0, 1)
        }
    }

    /// Reduces a segment of more than a row, and at most a tile.
    ///
    /// # Safety
    ///
    /// All lanes of the warp arrive here, with the same segment.
    #[inline(always)]
    unsafe fn reduce_by_warp<const N: usize, const K: usize>(&self, segment: Segment<I>, i: u32) {
        if O::SELECTS {
            // SAFETY: the caller guarantees that all lanes arrive, with the same segment.
            unsafe { self.select_by_lanes::<N>(segment, Some(i), WARP_SIZE) };
            return;
        }
        let lane = thread_idx_x() % WARP_SIZE;
        let mut acc = Lane::<I, O, N>::new(self.op);
        self.share::<N, K>(segment, lane).combine_items(&mut acc);
        // SAFETY: the caller guarantees that all lanes arrive.
        let value = unsafe { reduce_to_first::<I, O>(self.op, acc.combined()) };
        if lane == 0 {
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
            i = self.list.get(number);
            segment = self.segment(staged, i);
        }
        if O::SELECTS {
            // SAFETY: the caller guarantees that all lanes arrive.
            unsafe { self.select_by_lanes::<N>(segment, exists.then_some(i), Self::TEAM) };
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
