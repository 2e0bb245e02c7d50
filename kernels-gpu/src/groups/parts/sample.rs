//! Counts equal keys in a sample.

use super::Parts;
use crate::groups::GroupKey;
use crate::mem::{Global, Shared, compiler_barrier};
use crate::op::unrolled;
use cuda_std::thread::{sync_threads, thread_idx_x};

/// The threads of the only block.
pub const THREADS: u32 = 1024;

/// The keys that a thread samples.
const ROWS: usize = 8;

/// The keys of the sample.
pub const SAMPLED: u32 = THREADS * ROWS as u32;

/// A key with so many of the sampled items is frequent.
pub const FREQUENT: u32 = 5;

/// The items of a key that becomes frequent, before.
const FREQUENT_BEFORE: u32 = FREQUENT - 1;

/// The slots of a table in shared memory.
const SLOTS: u32 = 2 * SAMPLED;

/// The words that have a counter of 8 bits for each slot.
const COUNTS: u32 = SLOTS / 4;

/// The dynamic shared memory in bytes: a word and a counter for each slot.
pub const SHARED_BYTES: usize = (SLOTS + COUNTS) as usize * size_of::<u32>();

/// Counts the sampled keys that are equal to another one.
///
/// # Safety
///
/// The launch has one block of [`THREADS`] threads, [`SHARED_BYTES`] of dynamic shared memory, at least [`SAMPLED`] keys, and
/// meets the [requirements](super).
#[inline(always)]
pub unsafe fn sample(keys: Global<u32>, parts: Global<u32>) {
    let tid = thread_idx_x();
    // SAFETY: the launch provides both arrays (the caller's contract).
    let words = unsafe { Shared::<u32>::dynamic() };
    let counts = words.behind(SLOTS);
    let step = keys.len() / SAMPLED as usize;
    let mut own = [0; ROWS];
    unrolled!(|r < ROWS| own[r] = keys.get((tid as usize + r * THREADS as usize) * step));
    compiler_barrier();
    let mut slot = tid;
    while slot < SLOTS + COUNTS {
        words.set(slot, 0);
        slot += THREADS;
    }
    // The table is empty.
    sync_threads();
    let mut again = 0;
    unrolled!(|r < ROWS| {
        // Two keys have the same word, and count as equal. No key has the word of an empty slot.
        let word = (own[r].hash() >> 32) as u32 | 1;
        let mut slot = word >> (u32::BITS - SLOTS.ilog2());
        loop {
            let before = words.compare_and_swap(slot, 0, word);
            if before == 0 || before == word {
                break;
            }
            slot = (slot + 1) % SLOTS;
        }
        // A counter that overflows changes the next one, but then this key has long been frequent.
        let shift = slot % 4 * 8;
        let before = counts.fetch_add(slot / 4, 1 << shift) >> shift & 0xFF;
        again += match before {
            0 => 0,
            FREQUENT_BEFORE => SAMPLED,
            _ => 1,
        };
    });
    if again > 0 {
        parts.fetch_add(Parts::AGAIN, again);
    }
}
