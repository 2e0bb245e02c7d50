//! A stable sort of pairs by eight bits of a key. Several such sorts, from the lowest bits on, sort by the whole key.
//!
//! ```text
//! sort_count      each tile: how many keys have each digit           counts[digit][tile]
//! sort_scan       each digit: how many such keys are before a tile   counts[digit][tile], totals[digit]
//! sort_scatter    each tile: stores its pairs behind those           keys, payloads
//! ```
//!
//! A warp takes adjacent rows of 32 pairs, one after another. Ballots find the lanes of a row with the same digit, and so
//! each pair's rank among those of its warp. The pairs of a tile are sorted in shared memory first, so that pairs with the
//! same digit are stored to adjacent addresses.
//!
//! # Requirements of every launch
//!
//! [`THREADS`] threads per block; [`sort_count`] and [`sort_scatter`] have a block for each of [`tiles_of`] tiles, and
//! [`sort_scan`] one for each of [`RADIX`] digits. `counts` has `RADIX` elements for each tile, and `totals` has `RADIX`.
//! There are fewer than 2^32 pairs.

use super::{GroupKey, RADIX, SUM_WORDS, THREADS, exclusive_sum};
use crate::mem::{Global, Shared, compiler_barrier};
use crate::op::unrolled;
use crate::warp::{FULL_MASK, WARP_SIZE};
use cuda_std::thread::{block_idx_x, grid_dim_x, sync_threads, thread_idx_x};
use cuda_std::warp::{sync_warp, warp_vote_ballot};

const WARPS: u32 = THREADS / WARP_SIZE;

// A thread for each digit.
const _: () = assert!(THREADS == RADIX);

/// The rows of 32 pairs that a warp takes: 16 for keys of 32 bits, 8 for keys of 64 bits.
pub const fn rows_of<K>() -> usize {
    64 / size_of::<K>()
}

/// The pairs of a tile.
pub const fn pairs_of_tile<K>() -> usize {
    THREADS as usize * rows_of::<K>()
}

/// The tiles of `n` pairs.
pub const fn tiles_of<K>(n: usize) -> usize {
    n.div_ceil(pairs_of_tile::<K>())
}

/// The bits by which a launch sorts.
#[derive(Clone, Copy, Debug)]
pub struct Digit {
    /// The lowest of the eight bits.
    pub shift: u32,
    /// Bits of the key that are inverted first: the sign, for signed keys.
    pub flip: u64,
}

/// Counts the keys of each digit in each tile. `table` has [`RADIX`] elements.
///
/// # Safety
///
/// The launch meets the [requirements](self).
#[inline(always)]
pub unsafe fn sort_count<K: GroupKey, const ROWS: usize>(
    keys: Global<K>,
    counts: Global<u32>,
    digit: Digit,
    table: Shared<u32>,
) {
    let (tid, n) = (thread_idx_x(), keys.len());
    let tile = block_idx_x() as usize;
    let first = tile * THREADS as usize * ROWS + tid as usize;
    let mut own = [K::EMPTY; ROWS];
    unrolled!(|r < ROWS| {
        let i = first + r * THREADS as usize;
        if i < n {
            own[r] = keys.get(i);
        }
    });
    compiler_barrier();
    table.set(tid, 0);
    // Every counter is 0.
    sync_threads();
    unrolled!(|r < ROWS| {
        if first + r * (THREADS as usize) < n {
            table.fetch_add(own[r].digit(digit.shift, digit.flip), 1);
        }
    });
    // Every key is counted.
    sync_threads();
    counts.set(tid as usize * grid_dim_x() as usize + tile, table.get(tid));
}

/// The counts of a digit that a thread takes at a time.
const SCANNED: usize = 8;

/// Replaces the counts of each digit by the sums of those before, and stores their sum. `words` has
/// [`SUM_WORDS`] elements.
///
/// # Safety
///
/// The launch meets the [requirements](self).
#[inline(always)]
#[allow(
    unused_assignments,
    reason = "the last step of an unrolled loop assigns for none behind it"
)]
pub unsafe fn sort_scan(counts: Global<u32>, totals: Global<u32>, words: Shared<u32>) {
    let tiles = counts.len() / RADIX as usize;
    let digit = block_idx_x() as usize;
    let mut total = 0;
    let mut first = 0;
    while first < tiles {
        let at = first + thread_idx_x() as usize * SCANNED;
        let mut own = [0u32; SCANNED];
        let mut sum = 0;
        unrolled!(|e < SCANNED| {
            if at + e < tiles {
                own[e] = counts.get(digit * tiles + at + e);
            }
            sum += own[e];
        });
        // SAFETY: all threads arrive, because the loop's condition is the same for all. Nothing else uses the words.
        let (before, all) = unsafe { exclusive_sum::<SUM_WORDS>(sum, words) };
        let mut before = total + before;
        unrolled!(|e < SCANNED| {
            if at + e < tiles {
                counts.set(digit * tiles + at + e, before);
            }
            before += own[e];
        });
        total += all;
        first += THREADS as usize * SCANNED;
    }
    if thread_idx_x() == 0 {
        totals.set(digit, total);
    }
}

/// The pairs of a launch.
#[derive(Clone, Copy, Debug)]
pub struct Pairs<K> {
    /// The keys.
    pub keys: Global<K>,
    /// A payload for each key; if there are none, the payload of a key is its index.
    pub payloads: Global<u32>,
    /// The sorted keys.
    pub keys_out: Global<K>,
    /// The sorted payloads.
    pub payloads_out: Global<u32>,
}

/// A block's shared memory.
#[derive(Clone, Copy, Debug)]
pub struct Memory<K> {
    /// [`COUNTERS`] elements: the pairs of each warp with each digit.
    pub counters: Shared<u32>,
    /// [`RADIX`] elements: where the pairs of a digit start in the tile.
    pub starts: Shared<u32>,
    /// [`RADIX`] elements: what is added to a pair's position in the tile to get its position in the result.
    pub offsets: Shared<u32>,
    /// [`SUM_WORDS`] elements.
    pub words: Shared<u32>,
    /// The keys of a tile.
    pub keys: Shared<K>,
    /// The payloads of a tile.
    pub payloads: Shared<u32>,
}

/// The counters of all warps of a block.
pub const COUNTERS: usize = (WARPS * RADIX) as usize;

/// Stores the pairs in the order of their digits; pairs of the same digit stay in order.
///
/// # Safety
///
/// The launch meets the [requirements](self). The results have as many elements as there are keys.
#[inline(always)]
pub unsafe fn sort_scatter<K: GroupKey, const ROWS: usize>(
    pairs: Pairs<K>,
    counts: Global<u32>,
    totals: Global<u32>,
    digit: Digit,
    memory: Memory<K>,
) {
    let (tid, n) = (thread_idx_x(), pairs.keys.len());
    let (warp, lane) = (tid / WARP_SIZE, tid % WARP_SIZE);
    let (tile, tiles) = (block_idx_x() as usize, grid_dim_x() as usize);
    let start = tile * THREADS as usize * ROWS;
    let in_tile = (n - start).min(THREADS as usize * ROWS) as u32;
    let of_warp = warp as usize * WARP_SIZE as usize * ROWS + lane as usize;
    let mut keys = [K::EMPTY; ROWS];
    let mut payloads = [0u32; ROWS];
    unrolled!(|r < ROWS| {
        let i = start + of_warp + r * WARP_SIZE as usize;
        if i < n {
            keys[r] = pairs.keys.get(i);
            payloads[r] = if pairs.payloads.len() > 0 {
                pairs.payloads.get(i)
            } else {
                i as u32
            };
        }
    });
    compiler_barrier();
    let mut c = lane;
    while c < RADIX {
        memory.counters.set(warp * RADIX + c, 0);
        c += WARP_SIZE;
    }
    // SAFETY: all lanes of the warp arrive, here and below.
    unsafe { sync_warp(FULL_MASK) };
    // The rank of each pair among those of its warp with the same digit.
    let mut ranks = [0u32; ROWS];
    let lanes_below = (1u32 << lane) - 1;
    unrolled!(|r < ROWS| {
        let has = start + of_warp + r * (WARP_SIZE as usize) < n;
        let own = keys[r].digit(digit.shift, digit.flip);
        // SAFETY: as above.
        let mut peers = unsafe { warp_vote_ballot(FULL_MASK, has) };
        let mut bit = 0;
        while bit < RADIX.ilog2() {
            let is_set = own >> bit & 1 != 0;
            // SAFETY: as above.
            let set = unsafe { warp_vote_ballot(FULL_MASK, is_set) };
            peers &= if is_set { set } else { !set };
            bit += 1;
        }
        let counter = warp * RADIX + own;
        let before = memory.counters.get(counter);
        ranks[r] = before + (peers & lanes_below).count_ones();
        // SAFETY: as above. Every lane has read its counter.
        unsafe { sync_warp(FULL_MASK) };
        if has && peers >> lane == 1 {
            memory.counters.set(counter, before + peers.count_ones());
        }
        // SAFETY: as above. The counters are stored.
        unsafe { sync_warp(FULL_MASK) };
    });
    // All counters are complete.
    sync_threads();
    // A thread for each digit: the pairs of the warps before, of the digits before, and of the tiles before.
    let mut in_digit = 0;
    let mut w = 0;
    while w < WARPS {
        let count = memory.counters.get(w * RADIX + tid);
        memory.counters.set(w * RADIX + tid, in_digit);
        in_digit += count;
        w += 1;
    }
    // SAFETY: all threads arrive. Nothing else uses the words.
    let (before_in_tile, _) = unsafe { exclusive_sum::<SUM_WORDS>(in_digit, memory.words) };
    // SAFETY: as above.
    let (before, _) = unsafe { exclusive_sum::<SUM_WORDS>(totals.get(tid as usize), memory.words) };
    let position = before + counts.get(tid as usize * tiles + tile);
    memory.starts.set(tid, before_in_tile);
    memory
        .offsets
        .set(tid, position.wrapping_sub(before_in_tile));
    // Every digit has its place.
    sync_threads();
    unrolled!(|r < ROWS| {
        if start + of_warp + r * (WARP_SIZE as usize) < n {
            let own = keys[r].digit(digit.shift, digit.flip);
            let at = memory.starts.get(own) + memory.counters.get(warp * RADIX + own) + ranks[r];
            memory.keys.set(at, keys[r]);
            memory.payloads.set(at, payloads[r]);
        }
    });
    // The tile is sorted.
    sync_threads();
    unrolled!(|r < ROWS| {
        let at = tid + r as u32 * THREADS;
        if at < in_tile {
            let key = memory.keys.get(at);
            let own = key.digit(digit.shift, digit.flip);
            let to = memory.offsets.get(own).wrapping_add(at) as usize;
            pairs.keys_out.set(to, key);
            pairs.payloads_out.set(to, memory.payloads.get(at));
        }
    });
}
