//! Combines the pairs of each part.

use super::{PARTS, Pairs, Parts, key_of, value_of};
use crate::element::Element;
use crate::groups::{GroupKey, NONE};
use crate::mem::{Global, Shared, compiler_barrier};
use crate::op::{AtomicOp, unrolled};
use crate::warp::{FULL_MASK, WARP_SIZE, inclusive_sum};
use cuda_std::thread::{block_idx_x, sync_threads, thread_idx_x};
use cuda_std::warp::{warp_shuffle_idx, warp_vote_any};

/// The threads of a block. A multiprocessor runs two blocks.
pub const THREADS: u32 = 1024;

/// The pairs that a thread takes at a time.
const ROWS: usize = 4;

/// The bins in which a key is searched.
const MOST_PROBES: u32 = 128;

/// The dynamic shared memory of a block in bytes: a key and a value for each bin, and a value for the key that looks like the
/// owner of an empty bin.
pub const fn shared_bytes(bins: usize) -> usize {
    (2 * bins + 1) * size_of::<u32>()
}

/// The most groups of all parts.
pub const fn most_groups(bins: usize) -> usize {
    PARTS as usize * (bins + 1)
}

/// The words that the threads of a block share.
pub const WORDS: usize = 4;
/// Whether the key [`EMPTY`] occurs.
const HAS_EMPTY: u32 = 0;
/// The number of groups of the warps that have counted theirs.
const COUNTED: u32 = 1;
/// The index of the block's first group.
const FIRST: u32 = 2;
/// Whether a part was lost before this block started.
const IS_LOST: u32 = 3;

/// The owner of an empty bin.
const EMPTY: u32 = <u32 as GroupKey>::EMPTY;

/// The results.
#[derive(Clone, Copy, Debug)]
pub struct Collected<T> {
    /// The key of each group, with room for [`most_groups`].
    pub unique: Global<u32>,
    /// The combined values of each group, with as much room.
    pub results: Global<T>,
}

/// The bins of a block.
#[derive(Clone, Copy, Debug)]
struct Bins<T> {
    /// The key of each bin, or [`EMPTY`].
    owners: Shared<u32>,
    /// The value of each bin, and behind them that of the key [`EMPTY`].
    values: Shared<T>,
    /// An even number, not 0.
    len: u32,
}

/// Combines the pairs of a part, and appends a key and a value for each group to the results.
///
/// # Safety
///
/// The launch has a block of [`THREADS`] threads for each part, but needs none for parts behind the last one with pairs. A block
/// has [`shared_bytes`] of dynamic shared memory for `bins`, an even number that is not 0. `words` has [`WORDS`] elements.
/// [`split`](super::split::split) has run, and the launch meets the [requirements](super).
#[inline(always)]
pub unsafe fn collect<T: Element, O: AtomicOp<T, Acc = T>>(
    op: O,
    from: Pairs,
    to: Collected<T>,
    bins: u32,
    words: Shared<u32>,
) {
    let tid = thread_idx_x();
    // SAFETY: the launch provides the memory of both arrays (the caller's contract).
    let bins = unsafe {
        Bins {
            owners: Shared::<u32>::dynamic(),
            values: Shared::<T>::dynamic_at(bins * size_of::<u32>() as u32),
            len: bins,
        }
    };
    let mut bin = tid;
    while bin <= bins.len {
        if bin < bins.len {
            bins.owners.set(bin, EMPTY);
        }
        bins.values.set(bin, op.identity());
        bin += THREADS;
    }
    if tid < WORDS as u32 {
        let is_lost = from.parts.get_atomic(Parts::LOST);
        words.set(tid, if tid == IS_LOST { is_lost } else { 0 });
    }
    // All bins are empty.
    sync_threads();
    if words.get(IS_LOST) != 0 {
        return;
    }
    let part = block_idx_x();
    let first = part * from.capacity;
    let end = first + from.parts.get(part as usize).min(from.capacity);
    let lane = tid % WARP_SIZE;
    let mut at = first + tid;
    // The same in all lanes of a warp.
    while at - lane < end {
        let mut pairs = [0u64; ROWS];
        unrolled!(|r < ROWS| {
            let index = (at + r as u32 * THREADS).min(end - 1);
            pairs[r] = from.pairs.get(index as usize);
        });
        compiler_barrier();
        let (mut own, mut values) = ([EMPTY; ROWS], [op.identity(); ROWS]);
        unrolled!(|r < ROWS| {
            own[r] = key_of(pairs[r]);
            // Behind the last pair, a thread loads it again, with a value that changes nothing.
            if at + r as u32 * THREADS < end {
                // SAFETY: `split` has stored the bits of a value.
                let value = unsafe { value_of::<T>(pairs[r]) };
                values[r] = op.lift(value, 0);
            }
        });
        let (places, is_lost) = bins.places(own, words);
        // SAFETY: all lanes of the warp arrive, because the loop's condition is the same for all.
        if unsafe { warp_vote_any(FULL_MASK, is_lost) } {
            from.parts.set_atomic(Parts::LOST, 1);
            break;
        }
        unrolled!(|r < ROWS| bins.values.combine_atomic::<T, O>(op, places[r], values[r]));
        at += THREADS * ROWS as u32;
    }
    // Every value is in its bin.
    sync_threads();
    // SAFETY: all threads of the block arrive, after a barrier behind the last change of a bin.
    unsafe { bins.append(op, from.parts, to, words) };
}

impl<T: Element> Bins<T> {
    /// The bin of each key, which comes to own one if it has none. Whether there is none for a key.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    #[allow(
        unused_assignments,
        reason = "the last step of an unrolled loop assigns for none behind it"
    )]
    fn places(self, own: [u32; ROWS], words: Shared<u32>) -> ([u32; ROWS], bool) {
        // The loads of all rows are in flight together. Most keys own one of their first two bins.
        let mut places = [0u32; ROWS];
        let (mut one, mut other) = ([EMPTY; ROWS], [EMPTY; ROWS]);
        unrolled!(|r < ROWS| {
            // The upper half of a product is below each factor.
            let bin = (u64::from(own[r].hash() as u32) * u64::from(self.len)) >> 32;
            places[r] = bin as u32 & !1;
            one[r] = self.owners.get_atomic(places[r]);
            other[r] = self.owners.get_atomic(places[r] + 1);
        });
        let mut is_lost = false;
        unrolled!(|r < ROWS| {
            let (is_one, is_other) = (one[r] == own[r], other[r] == own[r]);
            let bin = places[r];
            places[r] = bin + u32::from(is_other & !is_one);
            // The key of empty bins looks like the owner of one.
            if !(is_one | is_other) | (own[r] == EMPTY) {
                let taken = u32::from(one[r] != EMPTY) * (1 + u32::from(other[r] != EMPTY));
                places[r] = self.find_or_own(own[r], bin + taken, words);
                is_lost |= places[r] == NONE;
            }
        });
        (places, is_lost)
    }

    /// The bin of a key, which comes to own one if it has none, from `bin` on. [`NONE`] if there is none.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn find_or_own(self, key: u32, mut bin: u32, words: Shared<u32>) -> u32 {
        if key == EMPTY {
            words.fetch_add(HAS_EMPTY, 1);
            return self.len;
        }
        let mut probes = 0;
        while probes < MOST_PROBES {
            bin = if bin < self.len { bin } else { 0 };
            let mut owner = self.owners.get_atomic(bin);
            if owner == EMPTY {
                owner = self.owners.compare_and_swap(bin, EMPTY, key);
            }
            if owner == EMPTY || owner == key {
                return bin;
            }
            bin += 1;
            probes += 1;
        }
        NONE
    }

    /// Appends the keys of all bins, and their values, to the results.
    ///
    /// # Safety
    ///
    /// All threads of the block arrive here, and no thread changes a bin any more.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    unsafe fn append<O: AtomicOp<T, Acc = T>>(
        self,
        op: O,
        parts: Global<u32>,
        to: Collected<T>,
        words: Shared<u32>,
    ) {
        let tid = thread_idx_x();
        let has_empty = tid == 0 && words.get(HAS_EMPTY) != 0;
        let mut count = u32::from(has_empty);
        let mut bin = tid;
        while bin < self.len {
            count += u32::from(self.owners.get(bin) != EMPTY);
            bin += THREADS;
        }
        // SAFETY: all lanes of the warp arrive, here and below.
        let sum = unsafe { inclusive_sum(count) };
        let mut before = 0;
        if tid % WARP_SIZE == WARP_SIZE - 1 {
            before = words.fetch_add(COUNTED, sum);
        }
        // SAFETY: as above.
        (before, _) = unsafe { warp_shuffle_idx(FULL_MASK, before, WARP_SIZE - 1, WARP_SIZE) };
        // The groups of all warps are counted.
        sync_threads();
        if tid == 0 {
            let groups = words.get(COUNTED);
            words.set(FIRST, parts.fetch_add(Parts::GROUPS, groups));
        }
        // The index of the first group is stored.
        sync_threads();
        let mut index = (words.get(FIRST) + before + sum - count) as usize;
        let mut append = |key: u32, bin: u32| {
            to.unique.set(index, key);
            to.results
                .set(index, op.combine(op.initial(), self.values.get(bin)));
            index += 1;
        };
        if has_empty {
            append(EMPTY, self.len);
        }
        let mut bin = tid;
        while bin < self.len {
            let key = self.owners.get(bin);
            if key != EMPTY {
                append(key, bin);
            }
            bin += THREADS;
        }
    }
}
