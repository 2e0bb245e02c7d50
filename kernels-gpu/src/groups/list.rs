//! Kernels on the slots of a complete table, and on the items that are searched in it.
//!
//! # Requirements of every launch
//!
//! [`THREADS`] threads per block, and any number of blocks. No thread changes the table, except the new one of
//! [`rehash`].

use super::{GroupKey, NONE, SUM_WORDS, State, THREADS, Table, exclusive_sum};
use crate::mem::{Global, Shared, compiler_barrier};
use crate::op::unrolled;
use cuda_std::thread::{block_idx_x, grid_dim_x, sync_threads, thread_idx_x};

/// The slots, or items, that each thread takes at a time.
pub const ROWS: usize = 8;

/// The slots, or items, that a block takes at a time.
pub const TILE: usize = THREADS as usize * ROWS;

/// The words that the threads of a block share: for a sum over them, and the number of the block's first group.
pub const WORDS: usize = SUM_WORDS + 1;
const FIRST: u32 = SUM_WORDS as u32;

/// Claims slots of a new table, which is empty and large enough, for all keys of a table. `moved` receives the new slot of
/// each old one, [`NONE`] for an empty one; it has an element more than the old table has slots.
///
/// # Safety
///
/// The launch meets the [requirements](self).
#[inline(always)]
pub unsafe fn rehash<K: GroupKey>(from: Table<K>, to: Table<K>, moved: Global<u32>) {
    let slots = from.slots();
    let mut at = block_idx_x() as usize * THREADS as usize + thread_idx_x() as usize;
    while at <= slots {
        let mut new = NONE;
        if at == slots {
            new = to.slots() as u32;
        } else {
            let key = from.words.get(at);
            if key != K::EMPTY {
                let first = to.first(key.hash());
                let word = K::get(to.words, first);
                new = to.find_or_claim(key, first, word, to.slots() as u32, &mut 0);
            }
        }
        moved.set(at, new);
        at += grid_dim_x() as usize * THREADS as usize;
    }
}

/// Numbers the groups, in any order: stores the key and the slot of each, and the number of each slot's group.
///
/// `numbers` has an element for each slot and one more, or none if nobody needs them. `words` has [`WORDS`] elements.
///
/// # Safety
///
/// The launch meets the [requirements](self). `LISTED` is 0 before the launch; `unique` and `slots` have an element for
/// each group.
#[inline(always)]
#[allow(
    unused_assignments,
    reason = "the last step of an unrolled loop assigns for none behind it"
)]
pub unsafe fn list<K: GroupKey>(
    table: Table<K>,
    state: Global<u32>,
    unique: Global<K>,
    slots: Global<u32>,
    numbers: Global<u32>,
    words: Shared<u32>,
) {
    let end = table.slots();
    let mut tile = block_idx_x() as usize;
    // The slot behind the table is one more.
    while tile * TILE <= end {
        let first = tile * TILE + thread_idx_x() as usize;
        let mut keys = [K::EMPTY; ROWS];
        unrolled!(|r < ROWS| {
            let at = first + r * THREADS as usize;
            if at < end {
                keys[r] = table.words.get(at);
            }
        });
        compiler_barrier();
        // A bit for each row: the slot has a key.
        let mut has = 0u32;
        unrolled!(|r < ROWS| {
            let at = first + r * THREADS as usize;
            let is_used = keys[r] != K::EMPTY || (at == end && state.get(State::HAS_EMPTY) != 0);
            has |= u32::from(is_used) << r;
        });
        // SAFETY: all threads arrive, because the loop's condition is the same for all. A barrier follows each use of
        // the words.
        let (before, all) = unsafe { exclusive_sum::<SUM_WORDS>(has.count_ones(), words) };
        if thread_idx_x() == 0 && all > 0 {
            words.set(FIRST, state.fetch_add(State::LISTED, all));
        }
        // The number of the first group is stored.
        sync_threads();
        if has != 0 {
            let mut number = words.get(FIRST) + before;
            unrolled!(|r < ROWS| {
                if has >> r & 1 != 0 {
                    let at = first + r * THREADS as usize;
                    unique.set(number as usize, keys[r]);
                    slots.set(number as usize, at as u32);
                    if numbers.len() > 0 {
                        numbers.set(at, number);
                    }
                    number += 1;
                }
            });
        }
        // Every thread has read the number.
        sync_threads();
        tile += grid_dim_x() as usize;
    }
}

/// Stores the number of each item's group.
///
/// # Safety
///
/// The launch meets the [requirements](self). Every key is in the table.
#[inline(always)]
pub unsafe fn number<K: GroupKey>(
    keys: Global<K>,
    table: Table<K>,
    numbers: Global<u32>,
    indices: Global<u32>,
) {
    let n = keys.len();
    let mut tile = block_idx_x() as usize;
    while tile * TILE < n {
        let first = tile * TILE + thread_idx_x() as usize;
        let mut own = [K::EMPTY; ROWS];
        let mut words = [K::EMPTY; ROWS];
        let mut found = [0u32; ROWS];
        unrolled!(|r < ROWS| {
            let i = first + r * THREADS as usize;
            if i < n {
                own[r] = keys.get(i);
            }
        });
        compiler_barrier();
        unrolled!(|r < ROWS| {
            if first + r * (THREADS as usize) < n {
                words[r] = table.words.get(table.first(own[r].hash()));
            }
        });
        compiler_barrier();
        unrolled!(|r < ROWS| {
            if first + r * (THREADS as usize) < n {
                let slot = table.find(own[r], table.first(own[r].hash()), words[r]);
                found[r] = numbers.get(slot);
            }
        });
        compiler_barrier();
        unrolled!(|r < ROWS| {
            let i = first + r * THREADS as usize;
            if i < n {
                indices.set(i, found[r]);
            }
        });
        tile += grid_dim_x() as usize;
    }
}
