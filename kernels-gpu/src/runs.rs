//! Runs: the parts of an array of keys in which all keys are equal.
//!
//! [`find_runs`] finds the starts of all runs in one launch, and stores the key of each. Two starts are the
//! [offsets](crate::segments) of a run's values, so the kernels of segmented reductions do the rest.
//!
//! Keys are equal if [`PartialEq`] says so, each compared with the one before it. A key that differs from itself, such as
//! NaN, is a run alone.
//!
//! # Tiles
//!
//! A block takes a tile of keys, a warp a part of it, row by row: lane `l` of a warp takes key `l` of a row of 32. The
//! ballots of the rows say which lanes have a start, and their bits are counted. So the starts of a tile are in order, and
//! the number of starts before the tile is the only thing that a block needs from others.
//!
//! ```text
//! keys      a a a b | b b c c | c d d d | d d d d      tiles of 4
//! starts    0     3       6       9
//! counts    2       | 1       | 1       | 0            per tile
//! before    0       | 2       | 3       | 4            starts in front of the tile
//! ```
//!
//! # Looking back
//!
//! This is the scan with *decoupled look-back* (Merrill and Garland, "Single-pass parallel prefix scan with decoupled
//! look-back", 2016). A block stores the count of its tile first, and then the sum of all counts up to its tile. To find
//! the sum before its tile, it adds the counts of the tiles in front, the nearest first, up to one that already has a sum.
//!
//! A block waits only for tiles in front of its own. The tiles are numbered in the order in which the blocks start, by an
//! arrival counter, so these tiles belong to blocks that run or have finished: no block waits for one that cannot start.
//!
//! No fence is needed, because a tile's count or sum is one word of 64 bits together with its state ([`Work`]).
//!
//! # Requirements of the launch
//!
//! - [`THREADS`] threads per block, a block for each of [`tiles_of`] tiles, at least one, and [`SHARED_BYTES`] of dynamic
//!   shared memory.
//! - [`Starts`] and [`Work`] as they require.

use crate::element::{Element, Shuffle};
use crate::mem::{Global, Shared, compiler_barrier};
use crate::op::{Sum, unrolled};
use crate::warp::{FULL_MASK, WARP_SIZE, reduce_down};
use cuda_std::thread::{sync_threads, thread_idx_x};
use cuda_std::warp::{warp_vote_any, warp_vote_ballot};

/// The threads of a block.
pub const THREADS: u32 = 256;

/// The blocks that a multiprocessor holds at the same time, which limits a thread to 80 registers. With 64, ptxas spills keys of
/// 32 bits on sm_75 and sm_80.
pub const BLOCKS: u32 = 3;

const WARPS: u32 = THREADS / WARP_SIZE;

/// The bytes of keys that a thread has in flight.
const IN_FLIGHT: usize = 64;

/// Where the block's words are in shared memory: a count for each warp, the tile's number, and the starts before the tile.
const TILE: u32 = WARPS;
const BEFORE_AT: u32 = 4 * (WARPS + 2);

/// The dynamic shared memory of a block in bytes.
pub const SHARED_BYTES: u32 = BEFORE_AT + 8;

/// The rows of 32 keys that a warp takes.
pub const fn rows_of<K>() -> usize {
    match IN_FLIGHT / size_of::<K>() {
        0 | 1 => 1,
        2 | 3 => 2,
        4..=7 => 4,
        8..=15 => 8,
        _ => 16,
    }
}

/// The number of keys in a tile.
pub const fn keys_of_tile<K>() -> usize {
    THREADS as usize * rows_of::<K>()
}

/// The number of tiles of `n` keys.
pub const fn tiles_of<K>(n: usize) -> usize {
    n.div_ceil(keys_of_tile::<K>())
}

/// The results: the key and the start of each run, in order.
#[derive(Clone, Copy, Debug)]
pub struct Starts<K> {
    /// The first key of each run: room for as many as there are keys.
    pub unique: Global<K>,
    /// The starts as numbers of 32 bits, and behind them the number of keys: room for one more than there are keys. Empty
    /// if the starts have 64 bits.
    pub narrow: Global<u32>,
    /// The same as numbers of 64 bits; empty if they have 32 bits.
    pub wide: Global<u64>,
}

impl<K: Element> Starts<K> {
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn set(self, run: usize, start: usize) {
        if self.wide.len() > 0 {
            self.wide.set(run, start as u64);
        } else {
            self.narrow.set(run, start as u32);
        }
    }
}

/// What blocks leave for each other, and the number of runs.
///
/// The words are 0 before the launch: the number of runs, then a word for each tile. The counter is 0 before and after it.
#[derive(Clone, Copy, Debug)]
pub struct Work {
    /// The number of runs, then the state of each tile.
    pub words: Global<u64>,
    /// The arrival counter, which numbers the tiles.
    pub arrivals: Global<u32>,
}

impl Work {
    /// The word with the number of runs.
    pub const RUNS: usize = 0;

    /// The first word of the tiles.
    pub const TILES: usize = 1;

    /// A tile's word contains the number of starts in this tile.
    pub const COUNT: u64 = 1 << 62;

    /// A tile's word contains the number of starts in this tile and in all before it.
    pub const SUM: u64 = 1 << 63;

    /// The bits of the number.
    const NUMBER: u64 = Self::COUNT - 1;

    /// The number of words for this number of tiles.
    pub const fn words(tiles: usize) -> usize {
        Self::TILES + tiles
    }

    #[inline(always)]
    fn tiles(self) -> usize {
        self.words.len() - Self::TILES
    }

    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn get(self, tile: usize) -> u64 {
        self.words.get_atomic(Self::TILES + tile)
    }

    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn set(self, tile: usize, state: u64, number: u64) {
        self.words.set_atomic(Self::TILES + tile, state | number);
    }

    /// Stores the tile's `count`, and returns the number of starts before the tile. **Lane 0 holds it.**
    ///
    /// # Safety
    ///
    /// All lanes of one warp arrive here, and no other warp for this tile.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    unsafe fn look_back(self, tile: usize, count: u64) -> u64 {
        let lane = thread_idx_x() % WARP_SIZE;
        if tile == 0 {
            if lane == 0 {
                self.set(tile, Self::SUM, count);
            }
            return 0;
        }
        if lane == 0 {
            self.set(tile, Self::COUNT, count);
        }
        let mut before = 0;
        // The tiles from here on have been added.
        let mut end = tile;
        loop {
            let has = (lane as usize) < end;
            let mut word = Self::SUM;
            loop {
                if has {
                    word = self.get(end - 1 - lane as usize);
                }
                // SAFETY: all lanes arrive, because the condition of each loop is the same for all of them.
                if !unsafe { warp_vote_any(FULL_MASK, word == 0) } {
                    break;
                }
            }
            // SAFETY: as above.
            let sums = unsafe { warp_vote_ballot(FULL_MASK, word & Self::SUM != 0) };
            // The nearest tile with a sum, and the tiles between it and this one.
            let needed = lane <= sums.trailing_zeros();
            let number = if needed { word & Self::NUMBER } else { 0 };
            // SAFETY: as above.
            before += unsafe { reduce_down::<u64, Sum>(Sum, number) };
            if sums != 0 {
                break;
            }
            end -= WARP_SIZE as usize;
        }
        if lane == 0 {
            self.set(tile, Self::SUM, before + count);
        }
        before
    }
}

/// Stores the key and the start of each run of equal keys, the number of keys behind the last start, and the number of
/// runs. `ROWS` is [`rows_of`] the keys.
///
/// # Safety
///
/// The launch meets the [requirements](self).
#[inline(always)]
#[allow(
    unused_assignments,
    reason = "the last step of an unrolled loop assigns for none behind it"
)]
pub unsafe fn find_runs<K: Element, const ROWS: usize>(
    keys: Global<K>,
    starts: Starts<K>,
    work: Work,
) {
    let (tid, n) = (thread_idx_x(), keys.len());
    let (warp, lane) = (tid / WARP_SIZE, tid % WARP_SIZE);
    // SAFETY: the launch provides this shared memory, and barriers separate the stores below from the loads.
    let (words, before) = unsafe {
        (
            Shared::<u32>::dynamic(),
            Shared::<u64>::dynamic_at(BEFORE_AT),
        )
    };
    let tiles = work.tiles();
    if tid == 0 {
        words.set(TILE, work.arrivals.fetch_increment(0, tiles as u32));
    }
    sync_threads();
    let tile = words.get(TILE) as usize;
    let of_warp = WARP_SIZE as usize * ROWS;
    let first = tile * keys_of_tile::<K>() + warp as usize * of_warp;
    let at = first + lane as usize;
    // Behind the last key, lanes load it again.
    let last = n - 1;
    let in_front = keys.get(first.saturating_sub(1).min(last));
    let mut own = [in_front; ROWS];
    if first + of_warp <= n {
        unrolled!(|r < ROWS| own[r] = keys.get(at + r * WARP_SIZE as usize));
        compiler_barrier();
    } else {
        unrolled!(|r < ROWS| own[r] = keys.get((at + r * WARP_SIZE as usize).min(last)));
        compiler_barrier();
    }
    let mut ballots = [0; ROWS];
    let mut count = 0;
    // The last key of the row before.
    let mut row_before = in_front;
    unrolled!(|r < ROWS| {
        // SAFETY: all lanes of the warp arrive.
        let turned = unsafe { own[r].shuffle(FULL_MASK, Shuffle::Idx((lane + 31) % WARP_SIZE)) };
        let previous = if lane == 0 { row_before } else { turned };
        row_before = turned;
        let i = at + r * WARP_SIZE as usize;
        let is_start = i < n && (i == 0 || own[r] != previous);
        // SAFETY: as above.
        ballots[r] = unsafe { warp_vote_ballot(FULL_MASK, is_start) };
        count += ballots[r].count_ones();
    });
    if lane == 0 {
        words.set(warp, count);
    }
    sync_threads();
    let (mut of_tile, mut of_warps) = (0, 0);
    unrolled!(|w < ALL_WARPS| {
        let count = words.get(w as u32);
        of_warps += if (w as u32) < warp { count } else { 0 };
        of_tile += count;
    });
    if warp == 0 {
        // SAFETY: all lanes of this warp arrive, and no other warp does.
        let found = unsafe { work.look_back(tile, of_tile.into()) };
        if lane == 0 {
            before.set(0, found);
            if tile + 1 == tiles {
                let runs = found as usize + of_tile as usize;
                starts.set(runs, n);
                work.words.set(Work::RUNS, runs as u64);
            }
        }
    }
    sync_threads();
    let mut run = before.get(0) as usize + of_warps as usize;
    let lanes_below = (1u32 << lane) - 1;
    unrolled!(|r < ROWS| {
        if ballots[r] >> lane & 1 != 0 {
            let run = run + (ballots[r] & lanes_below).count_ones() as usize;
            starts.unique.set(run, own[r]);
            starts.set(run, at + r * WARP_SIZE as usize);
        }
        run += ballots[r].count_ones() as usize;
    });
}

/// The number of warps, for a loop.
const ALL_WARPS: usize = WARPS as usize;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_has_64_bytes_of_keys_in_flight_at_most() {
        assert_eq!(rows_of::<u8>(), 16);
        assert_eq!(rows_of::<u32>(), 16);
        assert_eq!(rows_of::<u64>(), 8);
        assert_eq!(rows_of::<[u32; 3]>(), 4);
        assert_eq!(rows_of::<[u64; 2]>(), 4);
        assert_eq!(rows_of::<[u64; 9]>(), 1);
    }

    #[test]
    fn the_last_tile_has_the_rest() {
        let tile = keys_of_tile::<u32>();
        let tiles = [0, 1, tile, tile + 1].map(tiles_of::<u32>);
        assert_eq!(tiles, [0, 1, 1, 2]);
        assert_eq!(Work::words(2), 3);
    }

    #[test]
    fn a_number_has_its_own_bits() {
        assert_eq!(Work::NUMBER & (Work::COUNT | Work::SUM), 0);
    }
}
