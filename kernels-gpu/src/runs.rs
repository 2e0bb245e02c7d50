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
//! A block takes a tile of keys, a warp a part of it, group by group: lane `l` of a warp takes [`keys_of_row`] adjacent keys of
//! a row, by a vector, and a group has [`rows_of`] rows. A bit of the lane's mask says that a key is a start, and the bits of
//! all lanes are counted. The number of starts before the tile is the only thing that a block needs from others.
//!
//! To store adjacent results by adjacent lanes, a warp *places* its starts first: it writes their places, one behind another,
//! into shared memory.
//!
//! - If most lanes of a group have a start, they are placed at once, with their keys.
//! - Otherwise starts are rare, and placing them would only delay the next loads. They are placed while the block waits for the
//!   number of starts before its tile, all groups together, and their keys are loaded again, from the caches.
//! - So are those of further groups, if there is no more room. But the keys of the last group are still in registers.
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
//! The counts also say whether a whole group of keys has no start. If none is so, all runs are [short](most_of_short), and the
//! host, which learns that with their number, need not enqueue what only long segments need.
//!
//! No fence is needed, because a tile's count or sum is one word of 64 bits together with its state ([`Work`]). The number of
//! runs is stored as early as the last tile knows it, so that a host that waits for it can enqueue work behind the launch
//! before it ends.
//!
//! # Requirements of the launch
//!
//! - [`THREADS`] threads per block, a block for each of [`tiles_of`] tiles, at least one, and [`shared_bytes`] of dynamic
//!   shared memory.
//! - [`Starts`] and [`Work`] as they require.

mod look_back;
mod part;

pub use look_back::{Count, Work};

use crate::element::Element;
use crate::items::Items;
use crate::mem::{Global, Shared};
use crate::op::unrolled;
use crate::warp::WARP_SIZE;
use cuda_std::thread::{block_idx_x, sync_threads, thread_idx_x};
use part::{Later, Part};

/// The threads of a block: as many as have room for their starts in 48 KiB of shared memory, because a block waits for those in
/// front of it, and few large ones wait less.
pub const THREADS: u32 = 480;

/// The blocks that a multiprocessor holds at the same time, which limits a thread to 64 registers.
pub const BLOCKS: u32 = 2;

const WARPS: u32 = THREADS / WARP_SIZE;

/// The bytes of keys that a thread has in flight.
const IN_FLIGHT: usize = 64;

/// The rows that a warp loads together: a group.
const MOST_ROWS: usize = 4;

/// The most keys of a lane in a group.
const MOST_KEYS: usize = 16;

/// The groups of a warp, one after another.
const GROUPS: u32 = 4;

/// The bits of a warp's word for its number of starts, which also have room for a tile's; and the bit behind them that says that a
/// whole group has none.
const COUNT: u32 = (1 << IS_SPARSE) - 1;
const IS_SPARSE: u32 = 16;
const _: () = assert!(THREADS * GROUPS * MOST_KEYS as u32 <= COUNT);

// A lane's masks of all groups are one word, and a place in a part is a number of 16 bits.
const _: () = {
    assert!(GROUPS as usize * MOST_KEYS <= u64::BITS as usize);
    assert!(GROUPS as usize * MOST_KEYS * WARP_SIZE as usize <= 1 << u16::BITS);
};

/// Where the block's words are in shared memory: a count for each warp, the tile's number, and the starts before the tile;
/// then for each warp the keys and the places of its first starts.
const TILE: u32 = WARPS;
const BEFORE_AT: u32 = 4 * (WARPS + 1).next_multiple_of(2);
const KEYS_AT: u32 = (BEFORE_AT + 8).next_multiple_of(16);

/// The most starts of a warp in shared memory: more than those of a group of which every key is a start, so that all starts
/// of a part fit if runs have four keys on average.
const fn most_places<K: Element>() -> u32 {
    let of_group = WARP_SIZE as usize * rows_of::<K>() * keys_of_row::<K>();
    (of_group + of_group / 16) as u32
}

/// Whether the keys of placed starts stay in shared memory. Longer ones are loaded again.
const fn keeps<K: Element>() -> bool {
    size_of::<K>() <= 16
}

/// The first byte of the places in shared memory.
const fn places_at<K: Element>() -> u32 {
    let kept = if keeps::<K>() {
        WARPS * most_places::<K>()
    } else {
        0
    };
    let keys = kept as usize * size_of::<K>();
    (KEYS_AT as usize + keys).next_multiple_of(4) as u32
}

/// The dynamic shared memory of a block in bytes.
pub const fn shared_bytes<K: Element>() -> u32 {
    places_at::<K>() + 2 * WARPS * most_places::<K>()
}

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

/// The most keys of a run if each whole group has a start.
pub const fn most_of_short<K: Element>() -> usize {
    2 * WARP_SIZE as usize * rows_of::<K>() * keys_of_row::<K>() - 1
}

/// The number of keys of a thread.
pub const fn keys_of_thread<K: Element>() -> usize {
    GROUPS as usize * rows_of::<K>() * keys_of_row::<K>()
}

/// The number of keys in a tile.
pub const fn keys_of_tile<K: Element>() -> usize {
    THREADS as usize * keys_of_thread::<K>()
}

/// The number of keys in a line of the caches, at least one.
const fn keys_of_line<K: Element>() -> usize {
    match 128 / size_of::<K>() {
        0 => 1,
        keys => keys,
    }
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
    let (words, before, kept, places) = unsafe {
        (
            Shared::<u32>::dynamic(),
            Shared::<u64>::dynamic_at(BEFORE_AT),
            Shared::<K>::dynamic_at(KEYS_AT),
            Shared::<u16>::dynamic_at(places_at::<K>()),
        )
    };
    let tiles = work.tiles.len();
    // The tile's number is not known yet, but it will be about that of the block. If it differs, another block has the keys.
    let likely = block_idx_x() as usize * keys_of_tile::<K>()
        + warp as usize * Part::<K, N, ROWS>::KEYS
        + lane as usize * keys_of_line::<K>();
    if likely < n {
        keys.prefetch_to_l2(likely);
    }
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
        kept: kept.behind(warp * most_places::<K>()),
        places: places.behind(warp * most_places::<K>()),
    };
    // SAFETY: all lanes of the warp arrive.
    let found = unsafe { part.find() };
    if lane == 0 {
        words.set(warp, found.count | u32::from(found.is_sparse) << IS_SPARSE);
    }
    sync_threads();
    let (mut of_tile, mut of_warps) = (0, 0);
    unrolled!(|w < ALL_WARPS| {
        let count = words.get(w as u32);
        of_warps += if (w as u32) < warp { count } else { 0 };
        of_tile += count;
    });
    let of_tile = Count::of_tile(of_tile & COUNT, of_tile >> IS_SPARSE > 0);
    if tid == 0 {
        work.publish(tile, of_tile);
    }
    let mut later = Later::none(found.groups);
    if found.placed == 0 {
        // SAFETY: all lanes of the warp arrive.
        later = unsafe { part.later(&found, 0) };
    }
    if warp == 0 {
        // SAFETY: all lanes of this warp arrive, and no other warp does.
        let in_front = unsafe { work.look_back(tile, of_tile) };
        if lane == 0 {
            before.set(0, in_front.number());
            if tile + 1 == tiles {
                let all = in_front.and(of_tile);
                starts.set(all.number() as usize, n);
                work.tell(all);
            }
        }
    }
    sync_threads();
    let run = before.get(0) as usize + (of_warps & COUNT) as usize;
    // SAFETY: all lanes of the warp arrive.
    unsafe { part.store(run, starts, &found, later) };
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
    fn a_launch_needs_no_permission_for_its_shared_memory() {
        let bytes = [
            shared_bytes::<u8>(),
            shared_bytes::<u16>(),
            shared_bytes::<u32>(),
            shared_bytes::<u64>(),
            shared_bytes::<[u32; 3]>(),
            shared_bytes::<[u64; 2]>(),
            shared_bytes::<[u64; 9]>(),
        ];
        assert!(
            bytes.into_iter().all(|bytes| bytes <= 48 << 10),
            "{bytes:?}"
        );
    }

    #[test]
    fn the_last_tile_has_the_rest() {
        let tile = keys_of_tile::<u32>();
        // The first tile may begin three keys before the array.
        let tiles = [1, tile - 3, tile - 2, 2 * tile - 3].map(tiles_of::<u32>);
        assert_eq!(tiles, [1, 1, 2, 2]);
    }
}
