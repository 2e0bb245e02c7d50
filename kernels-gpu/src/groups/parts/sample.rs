//! Counts equal keys in a sample.

use super::Parts;
use crate::groups::GroupKey;
use crate::keyed::peers::match_peers;
use crate::mem::{Global, Shared, compiler_barrier};
use crate::op::{Sum, unrolled};
use crate::warp::{FULL_MASK, WARP_SIZE, reduce_down};
use cuda_std::thread::{sync_threads, sync_threads_or, thread_idx_x};
use cuda_std::warp::sync_warp;

/// The threads of the only block.
pub const THREADS: u32 = 1024;

/// The rows of the sample: each has as many adjacent keys as a warp has lanes, and all are equally far apart.
pub const ROWS: u32 = 256;

/// The keys of the sample.
pub const SAMPLED: u32 = WARP_SIZE * ROWS;

/// A key in so many rows is frequent.
pub const FREQUENT: u32 = 5;

/// The rows of a key that becomes frequent, before.
const FREQUENT_BEFORE: u32 = FREQUENT - 1;

/// The rows of a warp.
pub const OF_WARP: usize = (ROWS / (THREADS / WARP_SIZE)) as usize;

/// Those behind the first.
const OTHERS: usize = OF_WARP - 1;

/// The slots of a table in shared memory.
const SLOTS: u32 = 2 * SAMPLED;

/// The words that have a counter of 8 bits for each slot.
const COUNTS: u32 = SLOTS / 4;

/// The words for the numbers of the block.
const NUMBERS: u32 = 3;

/// The dynamic shared memory in bytes: a word and a counter for each slot, and the numbers.
pub const SHARED_BYTES: usize = (SLOTS + COUNTS + NUMBERS) as usize * size_of::<u32>();

/// Counts the keys of each row that differ from those before them: [`Parts::SAMPLED`]. Equal keys of a row count once, because
/// neighbours may be equal however many groups there are. [`Parts::DISTINCT`] is the number of these keys without those that
/// another row has too, and [`Parts::FREQUENT`] that of frequent keys. If one is frequent in the first row of each warp, the other
/// rows are not counted.
///
/// # Safety
///
/// The launch has one block of [`THREADS`] threads, [`SHARED_BYTES`] of dynamic shared memory, at least [`SAMPLED`] keys, and
/// meets the [requirements](super).
#[inline(always)]
pub unsafe fn sample(keys: Global<u32>, parts: Global<u32>) {
    let tid = thread_idx_x();
    let (warp, lane) = ((tid / WARP_SIZE) as usize, tid % WARP_SIZE);
    // SAFETY: the launch provides the bytes of all three (the caller's contract).
    let words = unsafe { Shared::<u32>::dynamic() };
    let table = Table {
        words,
        counts: words.behind(SLOTS),
    };
    let numbers = words.behind(SLOTS + COUNTS);
    let apart = keys.len() / ROWS as usize;
    let key_of = |row: usize| keys.get((warp * OF_WARP + row) * apart + lane as usize);
    let first = key_of(0);
    let mut others = [0; OTHERS];
    unrolled!(|r < OTHERS| others[r] = key_of(1 + r));
    compiler_barrier();
    let mut word = tid;
    while word < SLOTS + COUNTS + NUMBERS {
        words.set(word, 0);
        word += THREADS;
    }
    // The table is empty.
    sync_threads();
    let mut of_lane = [0; NUMBERS as usize];
    // SAFETY: all lanes arrive, here and below.
    unsafe { table.count([first], &mut of_lane) };
    if sync_threads_or(of_lane[2]) == 0 {
        // SAFETY: as above. The condition is the same for all threads.
        unsafe { table.count(others, &mut of_lane) };
    }
    // SAFETY: as above.
    let of_warp = of_lane.map(|number| unsafe { reduce_down::<u32, Sum>(Sum, number) });
    if lane == 0 {
        numbers.fetch_add(0, of_warp[0]);
        numbers.fetch_add(1, of_warp[1]);
        numbers.fetch_add(2, of_warp[2]);
    }
    // The numbers of all warps are added.
    sync_threads();
    if tid == 0 {
        parts.set(Parts::SAMPLED, numbers.get(0));
        parts.set(Parts::DISTINCT, numbers.get(1));
        parts.set(Parts::FREQUENT, numbers.get(2));
    }
}

/// The keys of the sample, and how many rows have each.
#[derive(Clone, Copy)]
struct Table {
    /// A word of the hash of each slot's key, or 0.
    words: Shared<u32>,
    /// Four counters of 8 bits in a word.
    counts: Shared<u32>,
}

impl Table {
    /// Counts a key of each of some rows, unless a lower lane has it. Adds the numbers of keys that are counted, that no row had
    /// before, and that become frequent.
    ///
    /// # Safety
    ///
    /// All lanes of the warp arrive.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    unsafe fn count<const R: usize>(self, keys: [u32; R], numbers: &mut [u32; NUMBERS as usize]) {
        let (mut is_first, mut slots) = ([false; R], [0; R]);
        unrolled!(|r < R| {
            // SAFETY: the caller's contract.
            is_first[r] = unsafe { match_peers(FULL_MASK, keys[r]) }.trailing_zeros()
                == thread_idx_x() % WARP_SIZE;
        });
        unrolled!(|r < R| {
            if is_first[r] {
                slots[r] = self.slot_of(keys[r]);
            }
            // Lanes that leave a search at different times would stay apart.
            // SAFETY: the caller's contract.
            unsafe { sync_warp(FULL_MASK) };
        });
        unrolled!(|r < R| {
            if is_first[r] {
                let before = self.add_row(slots[r]);
                numbers[0] += 1;
                numbers[1] += u32::from(before == 0);
                numbers[2] += u32::from(before == FREQUENT_BEFORE);
            }
        });
    }

    /// The slot of a key. Two keys have the same word, and the same slot.
    #[inline(always)]
    fn slot_of(self, key: u32) -> u32 {
        // No key has the word of an empty slot.
        let word = (key.hash() >> 32) as u32 | 1;
        let mut slot = word >> (u32::BITS - SLOTS.ilog2());
        loop {
            let before = self.words.compare_and_swap(slot, 0, word);
            if before == 0 || before == word {
                return slot;
            }
            slot = (slot + 1) % SLOTS;
        }
    }

    /// Adds a row to those of a slot. Returns their number before.
    #[inline(always)]
    fn add_row(self, slot: u32) -> u32 {
        // No counter overflows: a key of all rows is frequent in the first of each warp.
        let shift = slot % 4 * 8;
        self.counts.fetch_add(slot / 4, 1 << shift) >> shift & 0xFF
    }
}
