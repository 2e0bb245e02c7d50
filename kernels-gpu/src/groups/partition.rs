//! Brings pairs into parts by the highest bits of their keys' hashes, so that the keys of adjacent pairs are few: they fit into
//! a block's bins, and their slots are close together.
//!
//! ```text
//! count        how many pairs each part has                                  totals[part]
//! partition    stores the pairs of a block in their parts, in any order      keys, values
//! ```
//!
//! A block sorts its pairs by their parts in shared memory first, so that pairs of the same part are stored to adjacent addresses.
//! It takes the next places of each part by an atomic addition.
//!
//! # Requirements of every launch
//!
//! [`THREADS`] threads per block. The tiles are different ones of the keys. `totals` and `taken` have [`PARTS`] elements, which
//! are 0 before the launch of [`count`] and of [`partition`].

use super::insert::{items_of_tile, rows_of};
use super::{GroupKey, NONE, THREADS, Tiles, exclusive_sum};
use crate::element::Element;
use crate::mem::{Global, Shared, compiler_barrier};
use crate::op::unrolled;
use cuda_std::thread::{block_idx_x, grid_dim_x, sync_threads, thread_idx_x};

/// The number of parts.
pub const PARTS: u32 = 256;

// A thread for each part.
const _: () = assert!(THREADS == PARTS);

/// The tiles of a block of [`partition`], whose pairs have room in its shared memory.
pub const fn tiles_of_block<K, W>() -> usize {
    if size_of::<W>() > size_of::<K>() {
        1
    } else {
        2
    }
}

/// The pairs of a block of [`partition`].
pub const fn pairs_of_block<K, W>() -> usize {
    tiles_of_block::<K, W>() * items_of_tile::<K>()
}

/// The part of a key.
#[inline(always)]
fn part_of<K: GroupKey>(key: K) -> u32 {
    (key.hash() >> (u64::BITS - PARTS.ilog2())) as u32
}

/// Counts the keys of each part. `table` has [`PARTS`] elements, and `ROWS` is [`rows_of`] the keys.
///
/// # Safety
///
/// The launch meets the [requirements](self), with any number of blocks.
#[inline(always)]
pub unsafe fn count<K: GroupKey, const ROWS: usize>(
    keys: Global<K>,
    tiles: Tiles,
    totals: Global<u32>,
    table: Shared<u32>,
) {
    let (tid, n) = (thread_idx_x(), keys.len());
    table.set(tid, 0);
    // Every counter is 0.
    sync_threads();
    let mut number = block_idx_x();
    while number < tiles.count() {
        let first = tiles.tile(number) as usize * items_of_tile::<K>() + tid as usize;
        let mut own = [K::EMPTY; ROWS];
        unrolled!(|r < ROWS| if first + r * (THREADS as usize) < n {
            own[r] = keys.get(first + r * THREADS as usize);
        });
        compiler_barrier();
        unrolled!(|r < ROWS| if first + r * (THREADS as usize) < n {
            table.fetch_add(part_of(own[r]), 1);
        });
        number += grid_dim_x();
    }
    // Every key is counted.
    sync_threads();
    totals.fetch_add(tid as usize, table.get(tid));
}

/// The pairs of a launch.
#[derive(Clone, Copy, Debug)]
pub struct Pairs<K, W> {
    /// The keys.
    pub keys: Global<K>,
    /// The word of each key.
    pub values: Global<W>,
    /// The keys by parts: as many as the tiles have.
    pub keys_out: Global<K>,
    /// The word of each of them.
    pub values_out: Global<W>,
}

/// A block's shared memory.
#[derive(Clone, Copy, Debug)]
pub struct Memory<K, W> {
    /// [`PARTS`] elements: the pairs of the block in each part.
    pub counters: Shared<u32>,
    /// [`PARTS`] elements: where the pairs of a part start in the block.
    pub starts: Shared<u32>,
    /// [`PARTS`] elements: what is added to a pair's position in the block to get its position in the result.
    pub offsets: Shared<u32>,
    /// [`SUM_WORDS`](super::SUM_WORDS) elements.
    pub words: Shared<u32>,
    /// [`pairs_of_block`] keys.
    pub keys: Shared<K>,
    /// [`pairs_of_block`] words.
    pub values: Shared<W>,
}

/// Stores the pairs of the tiles in their parts.
///
/// `ROWS` is the number of pairs of a thread: [`pairs_of_block`] of the block.
///
/// # Safety
///
/// The launch meets the [requirements](self), with a block for each [`tiles_of_block`] tiles. `totals` has the counts of the
/// same tiles.
#[inline(always)]
pub unsafe fn partition<K: GroupKey, W: Element + Default, const ROWS: usize>(
    pairs: Pairs<K, W>,
    tiles: Tiles,
    totals: Global<u32>,
    taken: Global<u32>,
    memory: Memory<K, W>,
) {
    let (tid, n) = (thread_idx_x(), pairs.keys.len());
    let mut keys = [K::EMPTY; ROWS];
    let mut values = [W::default(); ROWS];
    // A bit for each pair that exists.
    let mut has = 0u32;
    unrolled!(|r < ROWS| {
        let number = block_idx_x() * tiles_of_block::<K, W>() as u32 + (r / rows_of::<K>()) as u32;
        let tile = tiles.tile(number);
        let row = r % rows_of::<K>() * THREADS as usize;
        let i = tile as usize * items_of_tile::<K>() + row + tid as usize;
        if tile != NONE && i < n {
            keys[r] = pairs.keys.get(i);
            values[r] = pairs.values.get(i);
            has |= 1 << (r % 32);
        }
    });
    compiler_barrier();
    memory.counters.set(tid, 0);
    // Every counter is 0.
    sync_threads();
    let mut ranks = [0u32; ROWS];
    unrolled!(|r < ROWS| if has >> (r % 32) & 1 != 0 {
        ranks[r] = memory.counters.fetch_add(part_of(keys[r]), 1);
    });
    // Every pair is counted.
    sync_threads();
    // A thread for each part: the pairs of the parts before, and of the blocks before.
    let in_part = memory.counters.get(tid);
    let mut before = 0;
    if in_part > 0 {
        before = taken.fetch_add(tid as usize, in_part);
    }
    // SAFETY: all threads arrive. Nothing else uses the words.
    let (start, in_block) = unsafe { exclusive_sum(in_part, memory.words) };
    // SAFETY: as above.
    let (of_part, _) = unsafe { exclusive_sum(totals.get(tid as usize), memory.words) };
    memory.starts.set(tid, start);
    let position = of_part + before;
    memory.offsets.set(tid, position.wrapping_sub(start));
    // Every part has its place.
    sync_threads();
    unrolled!(|r < ROWS| if has >> (r % 32) & 1 != 0 {
        let at = memory.starts.get(part_of(keys[r])) + ranks[r];
        memory.keys.set(at, keys[r]);
        memory.values.set(at, values[r]);
    });
    // The block is sorted.
    sync_threads();
    unrolled!(|r < ROWS| {
        let at = tid + r as u32 * THREADS;
        if at < in_block {
            let key = memory.keys.get(at);
            let to = memory.offsets.get(part_of(key)).wrapping_add(at) as usize;
            pairs.keys_out.set(to, key);
            pairs.values_out.set(to, memory.values.get(at));
        }
    });
}
