//! Reduces segments of more than a tile on average, by one launch: a *team* of warps for each segment, and more of them for long
//! ones. A team is a warp, or a whole block if the segments are [long](team_of) on average.
//!
//! A segment is cut into *parts* of [`WARP_TILES`] tiles for each warp of a team, counted from its start. The items of all
//! segments are cut into *chunks* that are as long as a part:
//!
//! - The team of a segment reduces its first part.
//! - The team of a chunk reduces the part that starts in it, if it is not a segment's first one. There is at most one such part,
//!   because its segment has a part before it, which is as long as a chunk.
//!
//! ```text
//! segments     0 0 0 0 0 0 0 0 0 0 1 1 2 2 3 3 3 3 3 3 3       a part is 4 items long
//! parts        0       1       2   0   0   0       1
//! chunks       |       |       |       |       |       |
//! team         s0      c1      c2  s1  s2  s3      c5          s: of a segment, c: of a chunk
//! ```
//!
//! A warp of a chunk's team finds the segment that goes on there by ballots: 32 segments are tried at once, the first time around
//! the place where it would be if all segments had the same length. Teams of both kinds alternate, so that some load items while
//! others search.
//!
//! The warps of a team take the tiles of a part in turn; each lane keeps the result of one, and the first warp combines them. If
//! an operator [selects](Op::SELECTS) its result, the tiles do not matter, and the team's lanes take the vectors of the part in
//! turn. If the segment has other parts, the result is left as a partial, and the team that was the last to leave one combines the
//! segment's, or those of a [run](RUN). Blocks leave a quarter as many partials as warps would, but warps do better for short
//! segments: no warp waits for others.
//!
//! # Bad offsets
//!
//! The team of a segment checks its two offsets. If others are bad, segments may overlap. But each partial has one place of its
//! own, that of the segment or of the chunk, and `Arrivals` says why no warp reads a partial too early.

use super::partials::{GROUP, Partials};
use super::select::select_of_part;
use super::{MOST_SHARED, Offsets, Reports, THREADS};
use crate::block::combine_warps;
use crate::element::{Element, Shuffle};
use crate::items::Items;
use crate::mem::{Global, Shared, compiler_barrier};
use crate::op::{Max, Op};
use crate::tile::{self, items_of_tile, reduce_tile_of_part};
use crate::warp::{FULL_MASK, WARP_SIZE, reduce_in_order};
use cuda_std::thread::{block_idx_x, device_fence, sync_threads, thread_idx_x};
use cuda_std::warp::{sync_warp, warp_vote_ballot};

/// The warps of a block.
pub const WARPS: usize = (THREADS / WARP_SIZE) as usize;

/// Whether segments have so many tiles on average, five quarters, that this kernel is faster than [windows](super::window).
pub const fn is_for<I: Items>(n: usize, segments: usize) -> bool {
    n / (5 * items_of_tile::<I>()) >= segments.div_ceil(4)
}

/// The tiles of a part for each warp of its team: a lane for each, and few enough that all warps of a large array end at about
/// the same time.
pub const WARP_TILES: usize = 16;
const _: () = assert!(WARP_TILES <= WARP_SIZE as usize);

/// The parts of a run: as many partials as a warp combines at once.
pub const RUN: usize = GROUP;

/// The warps of a team for so many segments of `n` items: all of a block if a segment has 8 tiles or more on average.
pub const fn team_of<I: Items>(n: usize, segments: usize) -> usize {
    match n / (8 * items_of_tile::<I>()) >= segments {
        true => WARPS,
        false => 1,
    }
}

/// The number of items of a part, and of a chunk, for teams of `team` warps.
pub const fn items_of_part<I: Items>(team: usize) -> usize {
    team * WARP_TILES * items_of_tile::<I>()
}

/// The number of chunks of `n` items in which a part can start that is not a segment's first one: all but the first.
pub const fn chunks_of<I: Items>(n: usize, team: usize) -> usize {
    match n {
        0 => 0,
        _ => (n - 1) / items_of_part::<I>(team),
    }
}

/// The number of blocks of a launch.
pub const fn blocks_of<I: Items>(n: usize, segments: usize, team: usize) -> usize {
    (team * (segments + chunks_of::<I>(n, team))).div_ceil(WARPS)
}

/// The number of places for partials, and of counters: one for each segment and each chunk.
pub const fn places_of<I: Items>(n: usize, segments: usize, team: usize) -> usize {
    segments + chunks_of::<I>(n, team) + 1
}

/// The results of tiles that a block has in shared memory.
const BLOCK_TILES: usize = WARPS * WARP_TILES;
const _: () = assert!(BLOCK_TILES == 2 * WARP_SIZE as usize);

/// The dynamic shared memory of a block in bytes, for accumulators of `acc_bytes` bytes.
pub const fn shared_bytes(acc_bytes: usize) -> usize {
    let bytes = BLOCK_TILES * acc_bytes;
    assert!(
        bytes <= MOST_SHARED,
        "an accumulator of segments has too many bytes"
    );
    bytes
}

/// The memory of a launch, except for the items and the offsets.
#[derive(Clone, Copy, Debug)]
pub struct Storage<A> {
    /// The accumulator of each segment.
    pub output: Global<A>,
    /// As many elements as [`places_of`] says.
    pub partials: Global<A>,
    /// As many words.
    pub arrivals: Global<u64>,
    /// Where bad offsets are told.
    pub reports: Reports,
}

/// Reduces all segments.
///
/// # Safety
///
/// The launch meets the [requirements](super), with a [`Shape::by_part`](super::Shape::by_part), [as many blocks](blocks_of), and
/// [`shared_bytes`] of dynamic shared memory. The upper byte of each word of [`Storage::arrivals`] is at most the shape's epoch;
/// where it is the epoch itself, the others are 0.
#[inline(always)]
pub unsafe fn by_part<I: Items, O: Op<I>, const N: usize, const K: usize>(
    op: O,
    arrays: I::Arrays,
    offsets: Offsets,
    storage: Storage<O::Acc>,
) {
    let (block, warp) = (block_idx_x() as usize, thread_idx_x() / WARP_SIZE);
    // SAFETY: the caller's contract. All warps of a block have the same team, or each is one.
    unsafe {
        match offsets.shape.team {
            1 => {
                let team = block * WARPS + warp as usize;
                of_team::<I, O, N, K, 1>(op, arrays, offsets, storage, team, 0);
            }
            _ => of_team::<I, O, N, K, WARPS>(op, arrays, offsets, storage, block, warp),
        }
    }
}

/// Reduces the part of team number `team` of `W` warps, of which this one is number `own`.
///
/// # Safety
///
/// That of [`by_part`]; all lanes of the team arrive here, with the same arguments but for `own`.
#[inline(always)]
unsafe fn of_team<I: Items, O: Op<I>, const N: usize, const K: usize, const W: usize>(
    op: O,
    arrays: I::Arrays,
    offsets: Offsets,
    storage: Storage<O::Acc>,
    team: usize,
    own: u32,
) {
    let chunks = offsets.shape.windows as usize;
    if team >= offsets.segments() + chunks {
        return;
    }
    // The number of teams of chunks among the first `teams`.
    let of_chunks = |teams: usize| ((teams as u64 * offsets.shape.per_team) >> 32) as usize;
    let (chunk, next) = (of_chunks(team), of_chunks(team + 1));
    let found = match next > chunk {
        // SAFETY: all lanes of the warp get here.
        true => unsafe { part_of_chunk::<I, W>(offsets, chunk + 1) },
        false => first_part(offsets, team - chunk, storage.reports),
    };
    if let Some(part) = found {
        let reducer = Reducer::<I, O, W> {
            op,
            arrays,
            offsets,
            storage,
            part,
            own,
        };
        // SAFETY: all lanes of the team get here, because all have found the same.
        unsafe { reducer.reduce::<N, K>() };
    }
}

/// A part of a segment.
#[derive(Clone, Copy)]
struct Part {
    segment: usize,
    /// The segment's first item, and the number of its items.
    start: usize,
    len: usize,
    /// The number of the part in the segment.
    number: usize,
}

/// The first part of a segment. None if its offsets are bad.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
fn first_part(offsets: Offsets, segment: usize, reports: Reports) -> Option<Part> {
    let n = offsets.shape.items as usize;
    let (start, end) = (offsets.get(segment), offsets.get(segment + 1));
    if !(start <= end && end <= n) {
        let first = segment == 0 && start > n;
        reports.report(offsets.shape, if first { 0 } else { segment + 1 });
        return None;
    }
    let (len, number) = (end - start, 0);
    Some(Part {
        segment,
        start,
        len,
        number,
    })
}

/// The part that starts in a chunk and is not a segment's first one.
///
/// # Safety
///
/// All lanes of the warp arrive here, with the same chunk.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
unsafe fn part_of_chunk<I: Items, const W: usize>(offsets: Offsets, chunk: usize) -> Option<Part> {
    let begin = chunk * items_of_part::<I>(W);
    let guess = (chunk as u64 * offsets.shape.per_chunk) >> 32;
    // SAFETY: the caller guarantees that all lanes arrive, with the same arguments.
    let segment = unsafe { started_before(offsets, begin, guess as usize) }.checked_sub(1)?;
    let (start, end) = (offsets.get(segment), offsets.get(segment + 1));
    // Also if offsets are bad.
    if !(start < begin && begin < end && end <= offsets.shape.items as usize) {
        return None;
    }
    let (len, number) = (end - start, (begin - start).div_ceil(items_of_part::<I>(W)));
    let part = Part {
        segment,
        start,
        len,
        number,
    };
    (number * items_of_part::<I>(W) < len).then_some(part)
}

/// The number of segments that start before an item, in every lane.
///
/// # Safety
///
/// All lanes of the warp arrive here, with the same arguments.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
unsafe fn started_before(offsets: Offsets, item: usize, guess: usize) -> usize {
    let lane = thread_idx_x() % WARP_SIZE;
    // The answer is in `low..=high`, if offsets do not decrease.
    let (mut low, mut high) = (0, offsets.segments());
    let mut is_first = true;
    while low < high {
        let tried = |lane: u32| match is_first {
            true => around(guess, lane).clamp(low, high - 1),
            false => {
                let step = (high - low).div_ceil(WARP_SIZE as usize);
                (low + (lane as usize + 1) * step).min(high) - 1
            }
        };
        let is_before = offsets.get(tried(lane)) < item;
        compiler_barrier();
        // The lanes try segments in ascending order.
        // SAFETY: the caller guarantees that all lanes arrive.
        let count = unsafe { warp_vote_ballot(FULL_MASK, is_before) }.trailing_ones();
        let (last, next) = (tried(count.max(1) - 1), tried(count.min(WARP_SIZE - 1)));
        if count > 0 {
            low = last + 1;
        }
        if count < WARP_SIZE {
            high = next;
        }
        is_first = false;
    }
    low
}

/// The segment that a lane tries first: less and more than the guess, by steps that double.
#[inline(always)]
fn around(guess: usize, lane: u32) -> usize {
    let middle = WARP_SIZE / 2;
    match lane < middle {
        true => guess.saturating_sub(1 << (middle - 1 - lane)),
        false => guess + (1 << (lane - middle)) - 1,
    }
}

/// A warp of a team of `W` warps, and their part.
struct Reducer<I: Items, O: Op<I>, const W: usize> {
    op: O,
    arrays: I::Arrays,
    offsets: Offsets,
    storage: Storage<O::Acc>,
    part: Part,
    /// The number of the warp in the team.
    own: u32,
}

impl<I: Items, O: Op<I>, const W: usize> Reducer<I, O, W> {
    /// The tiles of a part.
    const TILES: usize = W * WARP_TILES;

    /// Reduces the part, and stores the segment's result, or leaves a partial.
    ///
    /// # Safety
    ///
    /// All lanes of the team arrive here, with the same part, whose segment lies in the items.
    #[inline(always)]
    unsafe fn reduce<const N: usize, const K: usize>(&self) {
        let tiles = self.part.len.div_ceil(items_of_tile::<I>());
        let first = self.part.number * Self::TILES;
        // SAFETY: the caller guarantees that all lanes arrive.
        let value = unsafe {
            match O::SELECTS {
                true => self.selected::<N>(first),
                false => self.combined::<N, K>(first, (tiles - first).min(Self::TILES)),
            }
        };
        if self.own > 0 {
            return;
        }
        let parts = tiles.div_ceil(Self::TILES);
        if parts > 1 {
            // SAFETY: all lanes of the first warp get here.
            unsafe { self.leave(value, parts) };
        } else if thread_idx_x().is_multiple_of(WARP_SIZE) {
            self.storage.output.set(self.part.segment, value);
        }
    }

    /// Combines the results of the part's `len` tiles, of which the first has number `first`. **Lane 0 of the first warp holds the
    /// result.**
    ///
    /// # Safety
    ///
    /// That of [`reduce`](Self::reduce).
    #[inline(always)]
    unsafe fn combined<const N: usize, const K: usize>(&self, first: usize, len: usize) -> O::Acc {
        let lane = thread_idx_x() % WARP_SIZE;
        let items = tile::Part {
            arrays: self.arrays,
            start: self.part.start,
            len: self.part.len,
        };
        let mut value = self.op.identity();
        let (mut tile, mut number) = (self.own as usize, 0);
        while tile < len {
            // SAFETY: the caller guarantees that all lanes arrive, here and below; the segment has the tile, and it has an item.
            let of_tile =
                unsafe { reduce_tile_of_part::<I, O, N, K>(self.op, items, first + tile) };
            // SAFETY: as above.
            let of_tile = unsafe { of_tile.shuffle(FULL_MASK, Shuffle::Idx(0)) };
            if lane == number {
                value = of_tile;
            }
            tile += W;
            number += 1;
        }
        if W > 1 {
            // SAFETY: the launch provides the memory.
            let shared: Shared<O::Acc> = unsafe { Shared::dynamic_at(0) };
            // The identity, where there is no tile.
            if lane < WARP_TILES as u32 {
                shared.set(W as u32 * lane + self.own, value);
            }
            // The first warp reads what all of them wrote.
            sync_threads();
            if self.own > 0 {
                return value;
            }
            value = self
                .op
                .combine(shared.get(2 * lane), shared.get(2 * lane + 1));
        }
        // SAFETY: all lanes of the warp get here.
        unsafe { reduce_in_order::<I, O>(self.op, value) }
    }

    /// Selects an item of the part, whose first tile has number `first`. **Lane 0 of the first warp holds the result.**
    ///
    /// # Safety
    ///
    /// That of [`reduce`](Self::reduce).
    #[inline(always)]
    unsafe fn selected<const N: usize>(&self, first: usize) -> O::Acc {
        if self.part.len == 0 {
            return self.op.identity();
        }
        let before = first * items_of_tile::<I>();
        let part = tile::Part {
            arrays: self.arrays,
            start: self.part.start + before,
            len: (self.part.len - before).min(items_of_part::<I>(W)),
        };
        let lane = self.own * WARP_SIZE + thread_idx_x() % WARP_SIZE;
        // SAFETY: the caller guarantees that all lanes arrive, here and below, with the same part, which has an item.
        let value =
            unsafe { select_of_part::<I, O, N>(self.op, part, before, lane, W as u32 * WARP_SIZE) };
        match W {
            1 => value,
            // SAFETY: as above; the launch provides the memory, which nobody has used before.
            _ => unsafe { combine_warps::<I, O>(self.op, value, Shared::dynamic_at(0)) },
        }
    }

    /// Leaves the result of the part, which lane 0 has, as one of `parts` partials of its segment. The last team's first warp
    /// combines those of a run, and the last run's those of the segment.
    ///
    /// # Safety
    ///
    /// All lanes of the warp arrive here.
    #[inline(always)]
    unsafe fn leave(&self, value: O::Acc, parts: usize) {
        let (part, lane) = (self.part, thread_idx_x() % WARP_SIZE);
        // The place of the segment, and of the chunk in which it starts; the next ones are those of its other parts.
        let (own, others) = (
            part.segment,
            self.offsets.segments() + part.start / items_of_part::<I>(W),
        );
        let partials = Partials {
            global: self.storage.partials,
            first: own,
            others,
        };
        let (begin, runs) = (part.number / RUN * RUN, parts.div_ceil(RUN));
        let of_run = (parts - begin).min(RUN);
        if lane == 0 {
            partials.set(part.number, value);
        }
        let counter = if begin == 0 { own } else { others + begin };
        // SAFETY: the caller guarantees that all lanes arrive, here and below, with the same arguments.
        if !unsafe { self.is_last(counter, of_run) } {
            return;
        }
        // SAFETY: as above.
        let mut value = unsafe { partials.combined::<I, O>(self.op, begin, of_run, 1) };
        if runs > 1 {
            if lane == 0 {
                partials.set(begin, value);
            }
            // No run begins with part 1.
            // SAFETY: as above.
            if !unsafe { self.is_last(others + 1, runs) } {
                return;
            }
            // SAFETY: as above.
            value = unsafe { partials.of_runs::<I, O>(self.op, runs, RUN) };
        }
        if lane == 0 {
            self.storage.output.set(part.segment, value);
        }
    }

    /// Counts what lane 0 has stored, and whether it was the last of `all`; then what others have stored is visible. Every lane
    /// has the answer.
    ///
    /// # Safety
    ///
    /// All lanes of the warp arrive here, with the same arguments.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    unsafe fn is_last(&self, counter: usize, all: usize) -> bool {
        let mut is_last = 0u32;
        if thread_idx_x().is_multiple_of(WARP_SIZE) {
            // What was stored is visible before it is counted.
            device_fence();
            let arrivals = Arrivals {
                words: self.storage.arrivals,
                epoch: self.offsets.shape.epoch,
            };
            is_last = u32::from(arrivals.count(counter, self.part.segment, all));
            if is_last > 0 {
                // What others have stored is visible behind this fence; for the other lanes, behind the barrier.
                device_fence();
            }
        }
        // SAFETY: the caller guarantees that all lanes arrive, here and below.
        let is_last = unsafe { is_last.shuffle(FULL_MASK, Shuffle::Idx(0)) } > 0;
        // SAFETY: as above.
        unsafe { sync_warp(FULL_MASK) };
        is_last
    }
}

/// How many partials of a run, and results of a segment's runs, have been stored.
///
/// The upper byte of a word is the *epoch*, which grows from launch to launch: a count of an earlier one is 0. So nothing has to be
/// cleared, also not after bad offsets, which leave counts that never become complete.
///
/// Each partial adds `(segment + 1) << 12 | 1`. If offsets are bad, partials of other segments may be added to the same word. Then the
/// count is not complete before each partial of one segment alone is stored: a sum that is `all` times one segment's
/// number has no other segment in it, because there are `all` numbers in it.
#[derive(Clone, Copy)]
struct Arrivals {
    words: Global<u64>,
    epoch: u64,
}

impl Arrivals {
    /// The bits of the number of partials: a word has at most those of a run, and a few more if offsets are bad.
    const COUNT_BITS: u32 = 12;
    const _FITS: () = assert!(2 * RUN < 1 << Self::COUNT_BITS);

    /// The lowest bit of the epoch.
    const EPOCH_BIT: u32 = 56;

    /// Adds a partial of a segment. Whether there are `all` of them now.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn count(self, word: usize, segment: usize, all: usize) -> bool {
        let none = self.epoch << Self::EPOCH_BIT;
        let one = (segment as u64 + 1) << Self::COUNT_BITS | 1;
        self.words.combine_atomic::<u64, Max>(Max, word, none);
        let before = self.words.fetch_add(word, one);
        before.wrapping_add(one) == none.wrapping_add(one.wrapping_mul(all as u64))
    }
}
