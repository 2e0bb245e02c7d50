//! Reduces segments of more than a tile on average, by one launch: a warp for each segment, and more of them for long ones.
//!
//! A segment is cut into *parts* of [`PART_TILES`] tiles, counted from its start. The items of all segments are cut into *chunks*
//! that are as long as a part:
//!
//! - The warp of a segment reduces its first part.
//! - The warp of a chunk reduces the part that starts in it, if it is not a segment's first one. There is at most one such part,
//!   because its segment has a part before it, which is as long as a chunk.
//!
//! ```text
//! segments     0 0 0 0 0 0 0 0 0 0 1 1 2 2 3 3 3 3 3 3 3       a part is 4 items long
//! parts        0       1       2   0   0   0       1
//! chunks       |       |       |       |       |       |
//! warp         s0      c1      c2  s1  s2  s3      c5          s: of a segment, c: of a chunk
//! ```
//!
//! The warp of a chunk finds the segment that goes on there by ballots: 32 segments are tried at once, the first time around the
//! place where it would be if all segments had the same length. Warps of both kinds alternate, so that some load items while others
//! search.
//!
//! A warp reduces the tiles of a part one after another; each lane keeps the result of one, and the warp combines them. If the
//! segment has other parts, the result is left as a partial, and the warp that was the last to leave one combines the segment's,
//! or those of a [run](RUN).
//!
//! # Bad offsets
//!
//! The warp of a segment checks its two offsets. If others are bad, segments may overlap. But each partial has one place of its
//! own, that of the segment or of the chunk, and `Arrivals` says why no warp reads a partial too early.

use super::partials::{GROUP, Partials};
use super::select::select_of_tile;
use super::{Offsets, Reports, THREADS};
use crate::element::{Element, Shuffle};
use crate::items::Items;
use crate::mem::{Global, compiler_barrier};
use crate::op::{Max, Op};
use crate::tile::{self, items_of_tile, reduce_tile_of_part};
use crate::warp::{FULL_MASK, WARP_SIZE, reduce_in_order};
use cuda_std::thread::{block_idx_x, device_fence, thread_idx_x};
use cuda_std::warp::{sync_warp, warp_vote_ballot};

/// The warps of a block.
pub const WARPS: usize = (THREADS / WARP_SIZE) as usize;

/// Whether segments have so many tiles on average, five quarters, that this kernel is faster than [windows](super::window).
pub const fn is_for<I: Items>(n: usize, segments: usize) -> bool {
    n / (5 * items_of_tile::<I>()) >= segments.div_ceil(4)
}

/// The tiles of a part: a lane for each, and few enough that all warps of a large array end at about the same time.
pub const PART_TILES: usize = 16;
const _: () = assert!(PART_TILES <= WARP_SIZE as usize);

/// The parts of a run: as many partials as a warp combines at once.
pub const RUN: usize = GROUP;

/// The number of items of a part, and of a chunk.
pub const fn items_of_part<I: Items>() -> usize {
    PART_TILES * items_of_tile::<I>()
}

/// The number of chunks of `n` items in which a part can start that is not a segment's first one: all but the first.
pub const fn chunks_of<I: Items>(n: usize) -> usize {
    match n {
        0 => 0,
        _ => (n - 1) / items_of_part::<I>(),
    }
}

/// The number of places for partials, and of counters: one for each segment and each chunk.
pub const fn places_of<I: Items>(n: usize, segments: usize) -> usize {
    segments + chunks_of::<I>(n) + 1
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
/// The launch meets the [requirements](super), with a [`Shape::by_warp`](super::Shape::by_warp), and a warp for each segment and
/// each of the [chunks](chunks_of). The upper byte of each word of [`Storage::arrivals`] is at most the shape's epoch; where it is
/// the epoch itself, the others are 0.
#[inline(always)]
pub unsafe fn by_warp<I: Items, O: Op<I>, const N: usize, const K: usize>(
    op: O,
    arrays: I::Arrays,
    offsets: Offsets,
    storage: Storage<O::Acc>,
) {
    let warp = block_idx_x() as usize * WARPS + (thread_idx_x() / WARP_SIZE) as usize;
    let chunks = offsets.shape.windows as usize;
    if warp >= offsets.segments() + chunks {
        return;
    }
    // The number of warps of chunks among the first `warps`.
    let of_chunks = |warps: usize| ((warps as u64 * offsets.shape.per_warp) >> 32) as usize;
    let (chunk, next) = (of_chunks(warp), of_chunks(warp + 1));
    let found = match next > chunk {
        // SAFETY: all lanes of the warp get here, and below.
        true => unsafe { part_of_chunk::<I>(offsets, chunk + 1) },
        false => first_part(offsets, warp - chunk, storage.reports),
    };
    if let Some(part) = found {
        let reducer = Reducer::<I, O> {
            op,
            arrays,
            offsets,
            storage,
            part,
        };
        // SAFETY: as above.
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
unsafe fn part_of_chunk<I: Items>(offsets: Offsets, chunk: usize) -> Option<Part> {
    let begin = chunk * items_of_part::<I>();
    let guess = (chunk as u64 * offsets.shape.per_chunk) >> 32;
    // SAFETY: the caller guarantees that all lanes arrive, with the same arguments.
    let segment = unsafe { started_before(offsets, begin, guess as usize) }.checked_sub(1)?;
    let (start, end) = (offsets.get(segment), offsets.get(segment + 1));
    // Also if offsets are bad.
    if !(start < begin && begin < end && end <= offsets.shape.items as usize) {
        return None;
    }
    let (len, number) = (end - start, (begin - start).div_ceil(items_of_part::<I>()));
    let part = Part {
        segment,
        start,
        len,
        number,
    };
    (number * items_of_part::<I>() < len).then_some(part)
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

/// A warp and its part.
struct Reducer<I: Items, O: Op<I>> {
    op: O,
    arrays: I::Arrays,
    offsets: Offsets,
    storage: Storage<O::Acc>,
    part: Part,
}

impl<I: Items, O: Op<I>> Reducer<I, O> {
    /// Reduces the part, and stores the segment's result, or leaves a partial.
    ///
    /// # Safety
    ///
    /// All lanes of the warp arrive here, with the same part, whose segment lies in the items.
    #[inline(always)]
    unsafe fn reduce<const N: usize, const K: usize>(&self) {
        let (part, lane) = (self.part, thread_idx_x() % WARP_SIZE);
        let items = tile::Part {
            arrays: self.arrays,
            start: part.start,
            len: part.len,
        };
        let tiles = part.len.div_ceil(items_of_tile::<I>());
        let first = part.number * PART_TILES;
        let of_part = (tiles - first).min(PART_TILES);
        let mut value = self.op.identity();
        let mut number = 0;
        while number < of_part {
            let tile = first + number;
            // SAFETY: the caller guarantees that all lanes arrive, here and below; the segment has the tile, and it has an item.
            let of_tile = unsafe {
                match O::SELECTS {
                    true => select_of_tile::<I, O, N>(self.op, items.tile(tile), tile, lane),
                    false => reduce_tile_of_part::<I, O, N, K>(self.op, items, tile),
                }
            };
            // SAFETY: as above.
            let of_tile = unsafe { of_tile.shuffle(FULL_MASK, Shuffle::Idx(0)) };
            if lane as usize == number {
                value = of_tile;
            }
            number += 1;
        }
        // SAFETY: as above.
        let value = unsafe { reduce_in_order::<I, O>(self.op, value) };
        let parts = tiles.div_ceil(PART_TILES);
        if parts > 1 {
            // SAFETY: as above.
            unsafe { self.leave(value, parts) };
        } else if lane == 0 {
            self.storage.output.set(part.segment, value);
        }
    }

    /// Leaves the result of the part, which lane 0 has, as one of `parts` partials of its segment. The last warp combines those
    /// of a run, and the last run those of the segment.
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
            self.offsets.segments() + part.start / items_of_part::<I>(),
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
