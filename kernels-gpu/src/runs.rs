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
//! the number of starts before the tile is the only thing that a block needs from others. When it is known, the keys of the
//! starts are loaded again, from the caches: registers hold only the ballots, so a tile can be long, and a block waits for
//! others once in a long time.
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

/// The blocks that a multiprocessor holds at the same time, which limits a thread to 64 registers.
pub const BLOCKS: u32 = 4;

const WARPS: u32 = THREADS / WARP_SIZE;

/// The bytes of keys that a thread has in flight.
const IN_FLIGHT: usize = 64;

/// Where the block's words are in shared memory: a count for each warp, the tile's number, and the starts before the tile.
const TILE: u32 = WARPS;
const BEFORE_AT: u32 = 4 * (WARPS + 2);

/// The dynamic shared memory of a block in bytes.
pub const SHARED_BYTES: u32 = BEFORE_AT + 8;

/// The groups of rows of a warp, one after another.
const GROUPS: usize = 4;

/// The rows of 32 keys that a warp loads together: a group.
pub const fn rows_of<K>() -> usize {
    match IN_FLIGHT / size_of::<K>() {
        0 | 1 => 1,
        2 | 3 => 2,
        4..=7 => 4,
        8..=15 => 8,
        _ => 16,
    }
}

/// The number of keys of a thread.
pub const fn keys_of_thread<K>() -> usize {
    GROUPS * rows_of::<K>()
}

/// The number of keys in a tile.
pub const fn keys_of_tile<K>() -> usize {
    THREADS as usize * keys_of_thread::<K>()
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
    let rows = Rows::<K, ROWS> {
        keys,
        first: tile * keys_of_tile::<K>() + warp as usize * Rows::<K, ROWS>::KEYS,
    };
    // SAFETY: all lanes of the warp arrive.
    let (ballots, count) = unsafe { rows.ballots() };
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
    let run = before.get(0) as usize + of_warps as usize;
    // SAFETY: all lanes of the warp arrive.
    unsafe { rows.store(ballots, run, starts) };
}

/// The rows of a warp.
#[derive(Clone, Copy)]
struct Rows<K, const ROWS: usize> {
    keys: Global<K>,
    /// The index of the first key.
    first: usize,
}

/// The ballots of up to 64 rows: lane `l` has those of rows `l` and `32 + l`.
type Ballots = [u32; 2];

impl<K: Element, const ROWS: usize> Rows<K, ROWS> {
    /// The number of keys.
    const KEYS: usize = WARP_SIZE as usize * ROWS * GROUPS;

    /// The index of the lane's key in the first row of a group.
    #[inline(always)]
    fn at(&self, group: usize) -> usize {
        let lane = thread_idx_x() % WARP_SIZE;
        self.first + group * ROWS * WARP_SIZE as usize + lane as usize
    }

    /// Finds the lanes with starts in all rows, and their number.
    ///
    /// # Safety
    ///
    /// All lanes of the warp arrive here.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    unsafe fn ballots(self) -> (Ballots, u32) {
        let (n, lane) = (self.keys.len(), thread_idx_x() % WARP_SIZE);
        // Behind the last key, lanes load it again.
        let last = n - 1;
        let in_front = self.keys.get(self.first.saturating_sub(1).min(last));
        // The last key of the row before, in lane 0.
        let mut row_before = in_front;
        let (mut ballots, mut count, mut group) = ([0; 2], 0, 0);
        while group < GROUPS {
            let at = self.at(group);
            let mut own = [in_front; ROWS];
            if self.first + Self::KEYS <= n {
                unrolled!(|r < ROWS| own[r] = self.keys.get(at + r * WARP_SIZE as usize));
                compiler_barrier();
            } else {
                unrolled!(|r < ROWS| own[r] = self.keys.get((at + r * WARP_SIZE as usize).min(last)));
                compiler_barrier();
            }
            let mut of_group = 0;
            unrolled!(|r < ROWS| {
                // SAFETY: the caller guarantees that all lanes arrive.
                let turned =
                    unsafe { own[r].shuffle(FULL_MASK, Shuffle::Idx((lane + 31) % WARP_SIZE)) };
                let previous = if lane == 0 { row_before } else { turned };
                row_before = turned;
                let i = at + r * WARP_SIZE as usize;
                let is_start = i < n && (i == 0 || own[r] != previous);
                // SAFETY: as above.
                let ballot = unsafe { warp_vote_ballot(FULL_MASK, is_start) };
                if lane as usize == (group * ROWS + r) % WARP_SIZE as usize {
                    of_group = ballot;
                }
                count += ballot.count_ones();
            });
            // Other lanes have 0. A group has at most 32 rows.
            if group * ROWS < WARP_SIZE as usize {
                ballots[0] |= of_group;
            } else {
                ballots[1] |= of_group;
            }
            group += 1;
        }
        (ballots, count)
    }

    /// Stores the starts, of which the first has number `run`, and their keys.
    ///
    /// # Safety
    ///
    /// All lanes of the warp arrive here.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    unsafe fn store(self, ballots: Ballots, mut run: usize, starts: Starts<K>) {
        let lane = thread_idx_x() % WARP_SIZE;
        let lanes_below = (1u32 << lane) - 1;
        let mut group = 0;
        while group < GROUPS {
            let at = self.at(group);
            let of_group = match group * ROWS < WARP_SIZE as usize {
                true => ballots[0],
                false => ballots[1],
            };
            let (mut own, mut of_rows) = ([None; ROWS], [0; ROWS]);
            unrolled!(|r < ROWS| {
                let from = Shuffle::Idx((group * ROWS + r) as u32 % WARP_SIZE);
                // SAFETY: the caller guarantees that all lanes arrive.
                of_rows[r] = unsafe { of_group.shuffle(FULL_MASK, from) };
                if of_rows[r] >> lane & 1 != 0 {
                    own[r] = Some(self.keys.get(at + r * WARP_SIZE as usize));
                }
            });
            compiler_barrier();
            unrolled!(|r < ROWS| {
                if let Some(key) = own[r] {
                    let run = run + (of_rows[r] & lanes_below).count_ones() as usize;
                    starts.unique.set(run, key);
                    starts.set(run, at + r * WARP_SIZE as usize);
                }
                run += of_rows[r].count_ones() as usize;
            });
            group += 1;
        }
    }
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
