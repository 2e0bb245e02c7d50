//! Brings the pairs of each part together.

use super::{PARTS, Pairs, Parts, key_of, pair_of, part_of};
use crate::groups::exclusive_sum;
use crate::mem::{Global, Shared, compiler_barrier, opaque};
use crate::op::unrolled;
use cuda_std::thread::{block_idx_x, sync_threads, thread_idx_x};

/// The threads of a block.
pub const THREADS: u32 = 512;

/// The warps that have a thread for each part.
pub const WARPS: usize = (PARTS / crate::warp::WARP_SIZE) as usize;

/// The pairs that a thread takes.
const ROWS: usize = 16;

/// The pairs of a tile.
pub const TILE: usize = THREADS as usize * ROWS;

/// The dynamic shared memory of a block in bytes: the pairs of a tile.
pub const SHARED_BYTES: usize = TILE * size_of::<u64>();

/// A block's shared memory.
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    /// [`PARTS`] elements: the number of each part's pairs in the tile.
    pub counts: Shared<u32>,
    /// [`PARTS`] elements: where the pairs of a part start in the tile.
    pub starts: Shared<u32>,
    /// [`PARTS`] elements: what is added to a pair's position in the tile to get its index in the result.
    pub offsets: Shared<u32>,
    /// [`WARPS`] elements.
    pub words: Shared<u32>,
    /// An element: whether a part has no room.
    pub is_lost: Shared<u32>,
    /// The pairs of a tile.
    pub pairs: Shared<u64>,
}

/// Appends the pairs of a tile to their parts, in any order.
///
/// # Safety
///
/// The launch has a block of [`THREADS`] threads for each [`TILE`] of pairs, there is a value for each key, and the launch meets
/// the [requirements](super).
#[inline(always)]
pub unsafe fn split(keys: Global<u32>, values: Global<u32>, to: Pairs, memory: Memory) {
    let start = block_idx_x() as usize * TILE;
    let in_tile = (keys.len() - start).min(TILE) as u32;
    // SAFETY: the caller's contract. All threads of the block take the same way.
    unsafe {
        if in_tile == TILE as u32 {
            split_whole(keys, values, to, memory, start);
        } else {
            split_last(keys, values, to, memory, start, in_tile);
        }
    }
}

/// [`split`] for a whole tile.
///
/// # Safety
///
/// That of [`split`]. All threads of the block arrive, and its tile is whole.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
#[allow(
    unused_assignments,
    reason = "the last step of an unrolled loop assigns for none behind it"
)]
unsafe fn split_whole(
    keys: Global<u32>,
    values: Global<u32>,
    to: Pairs,
    memory: Memory,
    start: usize,
) {
    let index = |r: usize| start + thread_idx_x() as usize + r * THREADS as usize;
    let (mut own, mut loaded) = ([0; ROWS], [0; ROWS]);
    unrolled!(|r < ROWS| own[r] = keys.get(index(r)));
    compiler_barrier();
    clear(memory);
    // Every counter is 0.
    sync_threads();
    // The number of a pair among those of its part, and above 16 bits the part.
    let mut places = [0u32; ROWS];
    unrolled!(|r < ROWS| {
        let part = part_of(own[r]);
        let place = part << 16 | memory.counts.fetch_add(part, 1);
        // One register, not one for the part and one for the number.
        places[r] = opaque(place as usize) as u32;
    });
    compiler_barrier();
    // Not earlier, because a thread has too few registers for more.
    unrolled!(|r < ROWS| loaded[r] = values.get(index(r)));
    compiler_barrier();
    // Every pair is counted.
    sync_threads();
    // SAFETY: all threads of the block arrive, between barriers.
    unsafe { reserve(to, memory) };
    // Every part has its place.
    sync_threads();
    if memory.is_lost.get(0) != 0 {
        return;
    }
    unrolled!(|r < ROWS| {
        let at = memory.starts.get(places[r] >> 16) + (places[r] & 0xFFFF);
        memory.pairs.set(at, pair_of(own[r], loaded[r]));
    });
    // The tile is sorted by parts.
    sync_threads();
    unrolled!(|r < ROWS| append(to, memory, thread_idx_x() + r as u32 * THREADS));
}

/// [`split`] for the last tile, which is not whole. Its threads load the keys twice, and need few registers.
///
/// # Safety
///
/// That of [`split`]. All threads of the block arrive, and its tile has `in_tile` pairs.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
unsafe fn split_last(
    keys: Global<u32>,
    values: Global<u32>,
    to: Pairs,
    memory: Memory,
    start: usize,
    in_tile: u32,
) {
    clear(memory);
    // Every counter is 0.
    sync_threads();
    each_of_tile(in_tile, |at| {
        let part = part_of(keys.get(start + at as usize));
        memory.counts.fetch_add(part, 1);
    });
    // Every pair is counted.
    sync_threads();
    // SAFETY: all threads of the block arrive, between barriers.
    unsafe { reserve(to, memory) };
    // Every part has its place.
    sync_threads();
    if memory.is_lost.get(0) != 0 {
        return;
    }
    each_of_tile(in_tile, |at| {
        let (key, value) = (
            keys.get(start + at as usize),
            values.get(start + at as usize),
        );
        let place = memory.starts.fetch_add(part_of(key), 1);
        memory.pairs.set(place, pair_of(key, value));
    });
    // The tile is sorted by parts.
    sync_threads();
    each_of_tile(in_tile, |at| append(to, memory, at));
}

/// Makes the counters 0.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
fn clear(memory: Memory) {
    let tid = thread_idx_x();
    if tid < PARTS {
        memory.counts.set(tid, 0);
    }
    if tid == 0 {
        memory.is_lost.set(0, 0);
    }
}

/// Calls `each` for the places of this thread in a tile of so many pairs.
#[inline(always)]
fn each_of_tile(in_tile: u32, mut each: impl FnMut(u32)) {
    let mut at = thread_idx_x();
    while at < in_tile {
        each(at);
        at += THREADS;
    }
}

/// Appends pair `at` of a sorted tile to its part.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
fn append(to: Pairs, memory: Memory, at: u32) {
    let pair = memory.pairs.get(at);
    let part = part_of(key_of(pair));
    let index = memory.offsets.get(part).wrapping_add(at);
    to.pairs.set(index as usize, pair);
}

/// A thread for each part: where its pairs are in the tile, and in the result, where there may be no room.
///
/// # Safety
///
/// All threads of the block arrive, between a barrier behind the last change of a counter and another one.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
unsafe fn reserve(to: Pairs, memory: Memory) {
    let tid = thread_idx_x();
    let count = if tid < PARTS {
        memory.counts.get(tid)
    } else {
        0
    };
    // SAFETY: all threads of the block arrive, and nothing else uses the words.
    let (before, _) = unsafe { exclusive_sum::<WARPS>(count, memory.words) };
    if tid >= PARTS {
        return;
    }
    memory.starts.set(tid, before);
    if count > 0 {
        let first = to.parts.fetch_add(tid as usize, count);
        if first + count > to.capacity {
            to.parts.set_atomic(Parts::LOST, 1);
            memory.is_lost.fetch_add(0, 1);
        }
        let index = tid * to.capacity + first;
        memory.offsets.set(tid, index.wrapping_sub(before));
    }
}
