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
//! A block takes a tile of keys, a warp a part of it, row by row: lane `l` of a warp takes [`keys_of_row`] adjacent keys of a
//! row, by a vector. A bit of the lane's mask says that a key is a start, and the bits of all lanes are counted. The number of
//! starts before the tile is the only thing that a block needs from others. When it is known, each warp writes the places of
//! its starts one behind another into shared memory, so that adjacent lanes store adjacent results, and loads the keys at
//! these places again, from the caches. So registers hold few keys, a tile can be long, and a block rarely waits.
//!
//! If the keys do not start with a vector, the first tile begins a few keys before them.
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
use crate::items::Items;
use crate::mem::{Global, Shared, compiler_barrier};
use crate::op::{Sum, unrolled};
use crate::warp::{FULL_MASK, WARP_SIZE, reduce_down};
use cuda_std::thread::{sync_threads, thread_idx_x};
use cuda_std::warp::{sync_warp, warp_vote_any, warp_vote_ballot};

/// The threads of a block.
pub const THREADS: u32 = 256;

/// The blocks that a multiprocessor holds at the same time, which limits a thread to 80 registers. With 64, ptxas spills keys of
/// 32 bits.
pub const BLOCKS: u32 = 3;

const WARPS: u32 = THREADS / WARP_SIZE;

/// The bytes of keys that a thread has in flight.
const IN_FLIGHT: usize = 64;

/// The rows that a warp loads together: a group.
const MOST_ROWS: usize = 4;

/// The most keys of a lane in a group.
const MOST_KEYS: usize = 16;

/// The groups of a warp, one after another.
const GROUPS: u32 = 4;

/// Where the block's words are in shared memory: a count for each warp, the tile's number, and the starts before the tile;
/// a mask for each thread and group, and for each warp the places of a group's starts.
const TILE: u32 = WARPS;
const BEFORE_AT: u32 = 4 * (WARPS + 2);
const MASKS_AT: u32 = BEFORE_AT + 8;
const PLACES_AT: u32 = MASKS_AT + 4 * GROUPS * THREADS;

/// The dynamic shared memory of a block in bytes.
pub const SHARED_BYTES: u32 = PLACES_AT + 4 * THREADS * MOST_KEYS as u32;

/// The adjacent keys of a lane in a row.
pub const fn keys_of_row<K: Element>() -> usize {
    let most = MOST_KEYS / MOST_ROWS;
    match <K as Items>::VECTOR {
        vector if vector < most => vector,
        _ => most,
    }
}

/// The number of rows of a group.
pub const fn rows_of<K: Element>() -> usize {
    match IN_FLIGHT / (keys_of_row::<K>() * size_of::<K>()) {
        0 | 1 => 1,
        2 | 3 => 2,
        _ => MOST_ROWS,
    }
}

/// The number of keys of a thread.
pub const fn keys_of_thread<K: Element>() -> usize {
    GROUPS as usize * rows_of::<K>() * keys_of_row::<K>()
}

/// The number of keys in a tile.
pub const fn keys_of_tile<K: Element>() -> usize {
    THREADS as usize * keys_of_thread::<K>()
}

/// The number of tiles of `n` keys, wherever they start.
pub const fn tiles_of<K: Element>(n: usize) -> usize {
    (n + keys_of_row::<K>() - 1).div_ceil(keys_of_tile::<K>())
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
/// runs. `N` is [`keys_of_row`] and `ROWS` is [`rows_of`] the keys.
///
/// # Safety
///
/// The launch meets the [requirements](self).
#[inline(always)]
pub unsafe fn find_runs<K: Element, const N: usize, const ROWS: usize>(
    keys: Global<K>,
    starts: Starts<K>,
    work: Work,
) {
    let (tid, n) = (thread_idx_x(), keys.len());
    let (warp, lane) = (tid / WARP_SIZE, tid % WARP_SIZE);
    // SAFETY: the launch provides this shared memory, and barriers separate the stores below from the loads.
    let (words, before, masks, places) = unsafe {
        (
            Shared::<u32>::dynamic(),
            Shared::<u64>::dynamic_at(BEFORE_AT),
            Shared::<u32>::dynamic_at(MASKS_AT),
            Shared::<u32>::dynamic_at(PLACES_AT),
        )
    };
    let tiles = work.tiles();
    if tid == 0 {
        words.set(TILE, work.arrivals.fetch_increment(0, tiles as u32));
    }
    sync_threads();
    let tile = words.get(TILE) as usize;
    let skew = keys.skew::<N>();
    let first = tile * keys_of_tile::<K>() + warp as usize * Part::<K, N, ROWS>::KEYS;
    let part = Part::<K, N, ROWS> {
        keys,
        first: first.wrapping_sub(skew.unwrap_or(0)),
        has_vectors: skew.is_some(),
        masks,
        places: places.behind(warp * WARP_SIZE * MOST_KEYS as u32),
    };
    // SAFETY: all lanes of the warp arrive.
    let count = unsafe { part.find() };
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
    unsafe { part.store(run, starts) };
}

/// The part of a tile that belongs to a warp: groups of rows.
#[derive(Clone, Copy)]
struct Part<K, const N: usize, const ROWS: usize> {
    keys: Global<K>,
    /// The index of the first key; wraps if that is before the keys.
    first: usize,
    /// Whether the rows consist of aligned vectors.
    has_vectors: bool,
    /// The masks of all threads of the block, for each group. Bit `N * r + e` stands for key `e` of the lane in row `r`.
    masks: Shared<u32>,
    /// The places of the warp's starts in a group, counted from its first key.
    places: Shared<u32>,
}

impl<K: Element, const N: usize, const ROWS: usize> Part<K, N, ROWS> {
    /// The number of keys of a row.
    const ROW: usize = WARP_SIZE as usize * N;

    /// The number of keys of a group.
    const GROUP: usize = ROWS * Self::ROW;

    /// The number of keys.
    const KEYS: usize = GROUPS as usize * Self::GROUP;

    /// The bit of a mask for a key. The steps of an unrolled loop behind its end, which never run, have one too.
    #[inline(always)]
    const fn bit(r: usize, e: usize) -> u32 {
        1 << ((N * r + e) % MOST_KEYS)
    }

    /// The index of the first key of a group.
    #[inline(always)]
    fn first_of(&self, group: u32) -> usize {
        self.first.wrapping_add(group as usize * Self::GROUP)
    }

    /// Finds the starts, leaves them in the masks, and returns their number. **Lane 0 holds it.**
    ///
    /// # Safety
    ///
    /// All lanes of the warp arrive here.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    #[allow(
        unused_assignments,
        reason = "the last step of an unrolled loop assigns for none behind it"
    )]
    unsafe fn find(self) -> u32 {
        let (n, lane) = (self.keys.len(), thread_idx_x() % WARP_SIZE);
        let in_front = self.keys.get(self.first.wrapping_sub(1).min(n - 1));
        let is_whole = self.has_vectors && self.first < n && Self::KEYS <= n - self.first;
        // In lane 0, the last key of the row before.
        let mut row_before = in_front;
        let (mut count, mut group) = (0, 0);
        while group < GROUPS {
            let at = self.first_of(group).wrapping_add(lane as usize * N);
            let index = |r: usize, e: usize| at.wrapping_add(r * Self::ROW + e);
            let mut own = [[in_front; N]; ROWS];
            if is_whole {
                unrolled!(|r < ROWS| own[r] = self.keys.vector(index(r, 0)));
                compiler_barrier();
            } else {
                unrolled!(|r < ROWS, e < N| if index(r, e) < n {
                    own[r][e] = self.keys.get(index(r, e));
                });
                compiler_barrier();
            }
            let mut mask = 0u32;
            unrolled!(|r < ROWS| {
                let below = Shuffle::Idx((lane + 31) % WARP_SIZE);
                // SAFETY: the caller guarantees that all lanes arrive.
                let turned = unsafe { own[r][N - 1].shuffle(FULL_MASK, below) };
                let mut previous = if lane == 0 { row_before } else { turned };
                row_before = turned;
                unrolled!(|e < N| {
                    if own[r][e] != previous {
                        mask |= Self::bit(r, e);
                    }
                    previous = own[r][e];
                });
            });
            if !is_whole {
                unrolled!(|r < ROWS, e < N| if index(r, e) >= n {
                    mask &= !Self::bit(r, e);
                } else if index(r, e) == 0 {
                    mask |= Self::bit(r, e);
                });
            } else if at == 0 {
                mask |= 1;
            }
            self.masks.set(group * THREADS + thread_idx_x(), mask);
            count += mask.count_ones();
            group += 1;
        }
        // SAFETY: as above.
        unsafe { reduce_down::<u32, Sum>(Sum, count) }
    }

    /// Stores the starts, of which the first has number `run`, and their keys.
    ///
    /// # Safety
    ///
    /// All lanes of the warp arrive here, after [`find`](Self::find).
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    unsafe fn store(self, mut run: usize, starts: Starts<K>) {
        let lane = thread_idx_x() % WARP_SIZE;
        let mut group = 0;
        while group < GROUPS {
            let mask = self.masks.get(group * THREADS + thread_idx_x());
            // SAFETY: the caller guarantees that all lanes arrive, here and below; the mask is the lane's own.
            let of_group = unsafe { self.place(mask) };
            // SAFETY: as above.
            unsafe { sync_warp(FULL_MASK) };
            let mut own = lane;
            while own < of_group {
                let start = self
                    .first_of(group)
                    .wrapping_add(self.places.get(own) as usize);
                let run = run + own as usize;
                starts.unique.set(run, self.keys.get(start));
                starts.set(run, start);
                own += WARP_SIZE;
            }
            // SAFETY: as above.
            unsafe { sync_warp(FULL_MASK) };
            run += of_group as usize;
            group += 1;
        }
    }

    /// Writes the places of the warp's starts in a group, in ascending order, and returns their number. **Every lane holds
    /// it.**
    ///
    /// # Safety
    ///
    /// All lanes of the warp arrive here, each with its mask.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    #[allow(
        unused_assignments,
        reason = "the last step of an unrolled loop assigns for none behind it"
    )]
    unsafe fn place(&self, mask: u32) -> u32 {
        // A byte for each row: a row has at most 128 starts.
        const BYTE: u32 = 0xff;
        let lane = thread_idx_x() % WARP_SIZE;
        let of_row = |r: usize| mask >> (N * r % MOST_KEYS) & ((1 << N) - 1);
        let byte = |r: usize| 8 * (r % MOST_ROWS);
        let mut counts = 0;
        unrolled!(|r < ROWS| counts |= of_row(r).count_ones() << byte(r));
        let (mut sums, mut step) = (counts, 1);
        while step < WARP_SIZE {
            // SAFETY: the caller guarantees that all lanes arrive.
            let below = unsafe { sums.shuffle(FULL_MASK, Shuffle::Up(step)) };
            sums += if lane >= step { below } else { 0 };
            step *= 2;
        }
        // SAFETY: as above.
        let all = unsafe { sums.shuffle(FULL_MASK, Shuffle::Idx(WARP_SIZE - 1)) };
        let lanes_below = sums - counts;
        let mut rows = 0;
        unrolled!(|r < ROWS| {
            let mut number = rows + (lanes_below >> byte(r) & BYTE);
            unrolled!(|e < N| if mask & Self::bit(r, e) != 0 {
                self.places.set(number, (r * Self::ROW + e) as u32 + lane * N as u32);
                number += 1;
            });
            rows += all >> byte(r) & BYTE;
        });
        rows
    }
}

/// The number of warps, for a loop.
const ALL_WARPS: usize = WARPS as usize;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lane_has_up_to_64_bytes_and_16_keys_in_flight() {
        const fn shape<K: Element>() -> (usize, usize) {
            (keys_of_row::<K>(), rows_of::<K>())
        }
        assert_eq!(shape::<u8>(), (4, 4));
        assert_eq!(shape::<u32>(), (4, 4));
        assert_eq!(shape::<u64>(), (2, 4));
        assert_eq!(shape::<[u32; 3]>(), (4, 1));
        assert_eq!(shape::<[u64; 9]>(), (1, 1));
    }

    #[test]
    fn the_last_tile_has_the_rest() {
        let tile = keys_of_tile::<u32>();
        // The first tile may begin three keys before the array.
        let tiles = [1, tile - 3, tile - 2, 2 * tile - 3].map(tiles_of::<u32>);
        assert_eq!(tiles, [1, 1, 2, 2]);
        assert_eq!(Work::words(2), 3);
    }

    #[test]
    fn a_number_has_its_own_bits() {
        assert_eq!(Work::NUMBER & (Work::COUNT | Work::SUM), 0);
    }
}
