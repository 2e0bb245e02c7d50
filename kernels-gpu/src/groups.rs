//! Groups: all items of an array with the same key, wherever they are.
//!
//! Keys are `u32` or `u64` and may have any value. A [hash table](Table) in global memory finds the keys that occur, and
//! the kernels around it number the groups and combine or sort their items:
//!
//! | kernel | does | a block takes |
//! |---|---|---|
//! | [`insert`](insert::insert) | puts every key into the table, and optionally combines its values in one pass | tiles of items, each by a warp |
//! | [`rehash`](list::rehash) | copies the keys to a larger table | slots |
//! | [`list`](list::list) | numbers the groups and stores the key of each | slots |
//! | [`number`](list::number) | stores the number of each item's group | items |
//! | [`gather`](moving::gather), [`scatter`](moving::scatter), [`invert`](moving::invert), [`fill`](moving::fill) | move values by an array of indices | items |
//! | [`sample`](parts::sample::sample), [`split`](parts::split::split), [`collect`](parts::collect::collect) | combine the values of many groups [by parts](parts) | tiles of items; parts |
//! | [`sort_count`](sort::sort_count), [`sort_scan`](sort::sort_scan), [`sort_scatter`](sort::sort_scatter) | a stable sort by 8 bits | tiles of items |
//!
//! # The table
//!
//! A slot is one word: a key, or [`GroupKey::EMPTY`]. A key is stored by one compare-and-swap, so no slot is ever half
//! written and no thread waits for another. The key that looks like an empty slot has a slot of its own, behind all
//! others:
//!
//! ```text
//! slot     0     1     2     3     4     5     6     7   | 8
//! word     .     17    .     4     12    .     .     .   | (the key EMPTY, if `Work::HAS_EMPTY` is set)
//!                            ^ 4 and 12 have hash 3
//! ```
//!
//! # Growth
//!
//! A warp that learns that more than half of the slots are in use stops after its tile. A warp that finds no slot for a key
//! stops, too, but combines none of the tile's values: it finds the slots of all keys of a tile first. The host makes a larger
//! table and copies keys and combined values. Then each warp continues with the first tile that it has not combined.

pub mod insert;
pub mod list;
pub mod moving;
pub mod parts;
pub mod sort;

use crate::element::Element;
use crate::mem::{Global, Shared};
use cuda_std::thread::{sync_threads, thread_idx_x};

/// The threads of a block, for all kernels but [`insert`](insert::insert).
pub const THREADS: u32 = 256;

/// No slot, no bin.
pub const NONE: u32 = u32::MAX;

/// The most slots of a table, so that an index and [`NONE`] fit into 32 bits.
pub const MOST_SLOTS: usize = 1 << 31;

/// A key: `u32` or `u64`. Signed keys are read as unsigned ones.
pub trait GroupKey: Element + Eq {
    /// The word of an empty slot. All its bytes are [`EMPTY_BYTE`].
    const EMPTY: Self;

    /// A hash whose highest and whose lowest 32 bits both depend on all bits of the key.
    fn hash(self) -> u64;

    /// Eight bits of the key, from bit `shift` on, after an exclusive or with `flip`.
    fn digit(self, shift: u32, flip: u64) -> u32;

    /// Loads a slot, which other threads change atomically.
    fn get(words: Global<Self>, slot: usize) -> Self;

    /// Stores `self` in a slot that is empty, and returns what the slot held.
    fn claim(self, words: Global<Self>, slot: usize) -> Self;

    /// Loads the key of a bin, which other threads change atomically.
    fn owner(owners: Shared<Self>, bin: u32) -> Self;

    /// Stores `self` as the key of a bin that has none, and returns what the bin held.
    fn own(self, owners: Shared<Self>, bin: u32) -> Self;
}

/// Every byte of an empty slot. Not 0 or 255, because 0 and -1 are frequent keys.
pub const EMPTY_BYTE: u8 = 0xA7;

macro_rules! keys {
    ($($key:ident |$k:ident| $hash:expr;)*) => { $(
        impl GroupKey for $key {
            const EMPTY: Self = Self::from_ne_bytes([EMPTY_BYTE; size_of::<Self>()]);

            #[inline(always)]
            fn hash(self) -> u64 {
                let $k = self;
                $hash
            }

            #[inline(always)]
            fn digit(self, shift: u32, flip: u64) -> u32 {
                ((self ^ flip as Self) >> shift) as u32 % RADIX
            }

            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            fn get(words: Global<Self>, slot: usize) -> Self {
                words.get_atomic(slot)
            }

            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            fn claim(self, words: Global<Self>, slot: usize) -> Self {
                words.compare_and_swap(slot, Self::EMPTY, self)
            }

            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            fn owner(owners: Shared<Self>, bin: u32) -> Self {
                owners.get_atomic(bin)
            }

            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            fn own(self, owners: Shared<Self>, bin: u32) -> Self {
                owners.compare_and_swap(bin, Self::EMPTY, self)
            }
        }
    )* };
}

keys! {
    // Multiplications and shifts that are bijections, so different keys have different hashes.
    u32 |k| {
        let k = (k ^ k >> 16).wrapping_mul(0x7FEB_352D);
        let k = (k ^ k >> 15).wrapping_mul(0x846C_A68B);
        let k = (k ^ k >> 16) as u64;
        k << 32 | k
    };
    u64 |k| {
        let k = (k ^ k >> 32).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        let k = (k ^ k >> 32).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        k ^ k >> 32
    };
}

/// The values of a digit of the sort.
pub const RADIX: u32 = 256;

/// The hash table of keys: a power of two of slots, at least two and at most [`MOST_SLOTS`].
#[derive(Clone, Copy, Debug)]
pub struct Table<K> {
    /// The slots.
    pub words: Global<K>,
}

impl<K: GroupKey> Table<K> {
    /// The number of slots, which is also the index of the slot of the key [`EMPTY`](GroupKey::EMPTY).
    #[inline(always)]
    pub fn slots(self) -> usize {
        self.words.len()
    }

    /// The slot where the search for a key with this hash begins.
    #[inline(always)]
    fn first(self, hash: u64) -> usize {
        // The highest bits, as many as a slot's index has: 1 to 31.
        (((hash >> 32) as u32) >> (self.slots().leading_zeros() - 31)) as usize
    }

    /// The slot behind `slot`, or the first one behind the last.
    #[inline(always)]
    fn next(self, slot: usize) -> usize {
        (slot + 1) & (self.slots() - 1)
    }

    /// Finds or claims a slot for `key`, which is not [`EMPTY`](GroupKey::EMPTY), from `slot` on, which held `word`. Adds
    /// 1 to `claimed` if no other thread had claimed it. [`NONE`] if there is none among `most` slots.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn find_or_claim(
        self,
        key: K,
        mut slot: usize,
        mut word: K,
        most: u32,
        claimed: &mut u32,
    ) -> u32 {
        let mut probes = 0;
        loop {
            if word == K::EMPTY {
                word = key.claim(self.words, slot);
                if word == K::EMPTY {
                    *claimed += 1;
                    return slot as u32;
                }
            }
            if word == key {
                return slot as u32;
            }
            probes += 1;
            if probes == most {
                return NONE;
            }
            slot = self.next(slot);
            word = K::get(self.words, slot);
        }
    }

    /// The slot of a key that is in the table, which no thread changes any more.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn find(self, key: K, mut slot: usize, mut word: K) -> usize {
        if key == K::EMPTY {
            return self.slots();
        }
        while word != key {
            slot = self.next(slot);
            word = self.words.get(slot);
        }
        slot
    }
}

/// Words that the blocks of a launch share, and the host reads.
pub struct State;

impl State {
    /// The number of slots that have been claimed.
    pub const CLAIMED: usize = 0;
    /// Not 0 if the key [`EMPTY`](GroupKey::EMPTY) occurs.
    pub const HAS_EMPTY: usize = 1;
    /// The number of warps that have left tiles.
    pub const STOPPED: usize = 2;
    /// The number of groups that [`list`](list::list) has numbered.
    pub const LISTED: usize = 3;
    /// The number of words, all 0 at first.
    pub const WORDS: usize = 4;
}

/// The words in shared memory of a sum over the threads of a block.
pub const SUM_WORDS: usize = (THREADS / crate::warp::WARP_SIZE) as usize;

/// The sum of the values of all threads below this one, and that of the block.
///
/// # Safety
///
/// All threads of the block arrive here; those behind the first `WARPS` warps with the value 0. No thread accesses `words`, of
/// which there are `WARPS`, between the last barrier and this call.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
unsafe fn exclusive_sum<const WARPS: usize>(value: u32, words: Shared<u32>) -> (u32, u32) {
    use crate::warp::{WARP_SIZE, inclusive_sum};
    let (warp, lane) = (thread_idx_x() / WARP_SIZE, thread_idx_x() % WARP_SIZE);
    // SAFETY: all lanes arrive.
    let sum = unsafe { inclusive_sum(value) };
    if lane == WARP_SIZE - 1 && warp < WARPS as u32 {
        words.set(warp, sum);
    }
    // The sum of every warp is stored.
    sync_threads();
    let (mut before, mut all) = (0, 0);
    let mut w = 0;
    while w < WARPS as u32 {
        let of_warp = words.get(w);
        before += if w < warp { of_warp } else { 0 };
        all += of_warp;
        w += 1;
    }
    // Every thread has read the sums.
    sync_threads();
    (before + sum - value, all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_of_different_keys_differ() {
        extern crate std;
        use std::collections::BTreeSet;
        let narrow: BTreeSet<u64> = (0..10_000u32).map(|k| (k << 16).hash()).collect();
        let wide: BTreeSet<u64> = (0..10_000u64).map(|k| (k << 32 | k).hash()).collect();
        assert_eq!((narrow.len(), wide.len()), (10_000, 10_000));
    }

    #[test]
    fn digits_are_bytes_of_the_key() {
        assert_eq!(0x1234_5678u32.digit(8, 0), 0x56);
        assert_eq!((-1i32 as u32).digit(24, 1 << 31), 0x7F);
        assert_eq!((i64::MIN as u64).digit(56, 1 << 63), 0);
    }
}
