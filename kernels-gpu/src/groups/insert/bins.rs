//! The bins of a block: keys that have a value in shared memory.

use super::{Sink, Work};
use crate::groups::{GroupKey, NONE, Table};
use crate::mem::{Global, Shared};
use crate::op::unrolled;
use crate::warp::WARP_SIZE;
use cuda_std::thread::{block_dim_x, sync_threads, thread_idx_x};

/// A key is frequent if it has at least one of this number of sampled items. There are as many frequent bins.
pub const FREQUENT: u32 = 256;

/// The bytes of the copies of a frequent bin's value.
const BYTES_OF_COPIES: usize = 64;

/// The keys of the sample that each lane counts.
const SAMPLED: u32 = 8;

/// The bins that a thread combines into cells together, so that their searches are in flight together.
const TOGETHER: usize = 4;

/// The number of copies of a frequent bin's value, for values of this size.
const fn copies_of(value_bytes: usize) -> usize {
    match value_bytes {
        0 => 0,
        bytes => BYTES_OF_COPIES / bytes,
    }
}

/// The bytes of the values in shared memory: those of the bins, and behind them the copies of the frequent ones.
const fn bytes_of_values(bins: usize, value_bytes: usize) -> usize {
    (bins + FREQUENT as usize * copies_of(value_bytes)) * value_bytes
}

/// The dynamic shared memory of a block in bytes, for keys and values of these sizes; a value of no size is none.
pub const fn shared_bytes(bins: usize, key_bytes: usize, value_bytes: usize) -> usize {
    bytes_of_values(bins, value_bytes) + (bins + FREQUENT as usize) * key_bytes
}

/// The bins of a block.
#[derive(Clone, Copy, Debug)]
pub struct Bins<K> {
    /// The key of each bin, or [`EMPTY`](GroupKey::EMPTY), and behind them those of the frequent bins.
    owners: Shared<K>,
    /// The number of bins, without the frequent ones: an even number.
    len: u32,
}

impl<K: GroupKey> Bins<K> {
    /// So many bins in the block's dynamic shared memory, for values of this size. The values are at its start.
    ///
    /// # Safety
    ///
    /// The launch provides [`shared_bytes`] of dynamic shared memory, and `len` is even and not 0.
    #[inline(always)]
    pub unsafe fn new(len: u32, value_bytes: usize) -> Self {
        let at = bytes_of_values(len as usize, value_bytes) as u32;
        // SAFETY: the caller's contract. An even number of values, and the copies, have a multiple of 8 bytes.
        let owners = unsafe { Shared::dynamic_at(at) };
        Self { owners, len }
    }

    /// Calls `each` for the numbers below `end` that belong to this thread.
    #[inline(always)]
    fn of_thread(end: u32, mut each: impl FnMut(u32)) {
        let mut i = thread_idx_x();
        while i < end {
            each(i);
            i += block_dim_x();
        }
    }

    /// The counters of the sample, where the values of the bins will be.
    #[inline(always)]
    fn counts(self) -> Shared<u32> {
        // SAFETY: there are values of at least 4 bytes at the start of the dynamic memory (the contract of `new`; sinks
        // without values have no sample). Barriers separate these accesses from those to the values.
        unsafe { Shared::dynamic() }
    }

    /// The first of the two places where a key may have a bin.
    #[inline(always)]
    fn pair(self, hash: u64) -> u32 {
        // The upper half of a product is below each factor.
        let bin = (u64::from(hash as u32) * u64::from(self.len)) >> 32;
        bin as u32 & !1
    }

    /// The same among the frequent bins.
    #[inline(always)]
    fn frequent_pair(self, hash: u64) -> u32 {
        self.len + hash as u32 % FREQUENT / 2 * 2
    }

    /// Makes all bins empty.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub(super) fn clear<S: Sink>(self, sink: S) {
        Self::of_thread(self.len + FREQUENT, |bin| self.owners.set(bin, K::EMPTY));
        if S::BYTES > 0 {
            // The values of the bins are counters first.
            Self::of_thread(self.len, |bin| self.counts().set(bin, 0));
            let copies = FREQUENT * copies_of(S::BYTES) as u32;
            Self::of_thread(copies, |copy| sink.clear(self.len + copy));
        }
    }

    /// Counts the keys of a sample. Those that are frequent, and have a slot, own frequent bins. All other bins are empty again.
    ///
    /// # Safety
    ///
    /// All threads of the block arrive here, after a barrier behind [`clear`](Self::clear).
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub(super) unsafe fn find_frequent<S: Sink>(
        self,
        keys: Global<K>,
        warp: u32,
        table: Table<K>,
        work: Work,
        sink: S,
        claimed: &mut u32,
    ) {
        let lane = thread_idx_x() % WARP_SIZE;
        let mut row = 0;
        while row < SAMPLED {
            let index = (warp as usize * SAMPLED as usize + row as usize) * WARP_SIZE as usize;
            let index = index + lane as usize;
            if index < keys.len() {
                let key = keys.get(index);
                let bin = if key == K::EMPTY { NONE } else { self.own(key) };
                if bin != NONE {
                    self.counts().fetch_add(bin, 1);
                }
            }
            row += 1;
        }
        // All keys of the sample are counted.
        sync_threads();
        let many = block_dim_x() * SAMPLED / FREQUENT;
        Self::of_thread(self.len, |bin| {
            let (key, count) = (self.owners.get(bin), self.counts().get(bin));
            if key != K::EMPTY && count >= many {
                let slot = table.first(key.hash());
                let word = K::get(table.words, slot);
                let slot = table.find_or_claim(key, slot, word, work.most_probes, claimed);
                if slot != NONE {
                    self.own_one_of(key, self.frequent_pair(key.hash()));
                }
            }
            self.owners.set(bin, K::EMPTY);
        });
        // All counters have been read.
        sync_threads();
        Self::of_thread(self.len, |bin| sink.clear(bin));
        // The values are those of empty bins.
        sync_threads();
    }

    /// The owners of the bins that a key may own: two frequent ones, which sinks without values do not have, and two others.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub(super) fn owners<S: Sink>(self, key: K) -> [K; 4] {
        let hash = key.hash();
        let mut owners = [K::EMPTY; 4];
        if S::BYTES > 0 {
            // The same during the search for places.
            let pair = self.frequent_pair(hash);
            owners[0] = self.owners.get(pair);
            owners[1] = self.owners.get(pair + 1);
        }
        let pair = self.pair(hash);
        owners[2] = K::owner(self.owners, pair);
        owners[3] = K::owner(self.owners, pair + 1);
        owners
    }

    /// The place of a key's value if the key is one of the [`owners`](Self::owners), otherwise [`NONE`]. No conditions that
    /// lanes would have to wait for.
    #[inline(always)]
    pub(super) fn place<S: Sink>(self, key: K, owners: [K; 4]) -> u32 {
        let hash = key.hash();
        let (is_one, is_other) = (owners[2] == key, owners[3] == key);
        let bin = self.pair(hash) + u32::from(is_other);
        let place = if is_one | is_other { bin } else { NONE };
        let copies = copies_of(S::BYTES) as u32;
        if copies == 0 {
            return place;
        }
        let (is_one, is_other) = (owners[0] == key, owners[1] == key);
        let number = self.frequent_pair(hash) + u32::from(is_other) - self.len;
        let copy = self.len + number * copies + thread_idx_x() % copies;
        if is_one | is_other { copy } else { place }
    }

    /// Makes the key own a bin, if one of its two is empty or its own. Returns the bin, or [`NONE`].
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub(super) fn own(self, key: K) -> u32 {
        self.own_one_of(key, self.pair(key.hash()))
    }

    /// Makes the key own one of two bins, if one is empty or its own. Returns the bin, or [`NONE`].
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn own_one_of(self, key: K, pair: u32) -> u32 {
        let mut bin = pair;
        while bin < pair + 2 {
            let mut before = K::owner(self.owners, bin);
            if before == K::EMPTY {
                before = key.own(self.owners, bin);
            }
            if before == K::EMPTY || before == key {
                return bin;
            }
            bin += 1;
        }
        NONE
    }

    /// Combines the bins into the cells of their keys, which are in the table.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub(super) fn flush<S: Sink>(self, table: Table<K>, sink: S) {
        if S::BYTES == 0 {
            return;
        }
        let all = self.len + FREQUENT;
        let mut first = thread_idx_x();
        while first < all {
            let bin = |i: usize| first + i as u32 * block_dim_x();
            let (mut own, mut words) = ([K::EMPTY; TOGETHER], [K::EMPTY; TOGETHER]);
            unrolled!(|i < TOGETHER| if bin(i) < all {
                own[i] = self.owners.get(bin(i));
            });
            unrolled!(|i < TOGETHER| if own[i] != K::EMPTY {
                words[i] = K::get(table.words, table.first(own[i].hash()));
            });
            unrolled!(|i < TOGETHER| if own[i] != K::EMPTY {
                let slot = table.first(own[i].hash());
                // Other blocks may still claim slots, but this key has one.
                let slot = table.find_or_claim(own[i], slot, words[i], u32::MAX, &mut 0);
                let copies = copies_of(S::BYTES) as u32;
                let (place, copies) = match bin(i) < self.len {
                    true => (bin(i), 1),
                    false => (self.len + (bin(i) - self.len) * copies, copies),
                };
                sink.flush(place, copies, slot as usize);
            });
            first += TOGETHER as u32 * block_dim_x();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frequent_bin_has_64_bytes_of_copies() {
        assert_eq!([0, 4, 8].map(copies_of), [0, 16, 8]);
        assert_eq!(shared_bytes(1000, 4, 0), 1256 * 4);
        assert_eq!(shared_bytes(1000, 8, 4), 1000 * 12 + 256 * (64 + 8));
    }
}
