//! `count_few`, `count_many`: the number of elements of each key.
//!
//! The keys are the only input, so the limit is the speed of reading: 16 keys of 8 bits per load. One atomic on
//! global memory per key would be far slower. A block therefore counts in shared memory, and adds its counts to
//! the cells at the end.
//!
//! [`count_few`] has a table with a counter for each cell. If there is room, it has up to 32 copies of it, and
//! lane `l` uses copy `l` modulo their number:
//!
//! ```text
//! word        0    1    2    3    4    5    6    7    8        four copies of the counters of three cells
//! cell        0    0    0    0    1    1    1    1    2
//! copy        0    1    2    3    0    1    2    3    0
//! ```
//!
//! With 32 copies each lane has a bank of its own, so that the additions of a warp never wait for each other, be
//! their keys equal or different. One more cell counts the keys without a cell.
//!
//! [`count_many`] has counters for some keys only: the first key of a block that selects a counter owns it for the
//! whole launch. Frequent keys are likely to be first. The other keys are counted in global memory.
//!
//! A vector whose keys are all equal is counted by one addition, in both kernels.
//!
//! | keys | why they are counted fast |
//! |---|---|
//! | random, few cells | every lane has its own copy |
//! | all equal | one addition per vector, in shared memory |
//! | some frequent, many cells | the frequent keys own counters |
//! | sorted | each block counts adjacent elements, which have few different keys |
//!
//! Source: "Voting and Shuffling to Optimize Atomic Operations" (NVIDIA) links to the post "Fast Histograms Using Shared
//! Atomics on Maxwell" (Nikolay Sakharnykh, NVIDIA, 2015), which counts in shared memory, too. Copies, owners and equal
//! keys are ours.
//!
//! # Requirements of every launch
//!
//! - A one-dimensional grid of any number of blocks, and a one-dimensional block of a multiple of 32 threads. A
//!   block counts fewer than 2^32 elements, so at least [`fewest_blocks`].
//! - `below` is at most the number of cells, and for `count_few` at most [`MOST_FEW`].
//! - Cells and `rejected` are as for [the other kernels](super).

use super::{Key, Rejected, WideKey};
use crate::mem::{B128, Global, Shared, compiler_barrier, opaque};
use crate::op::{Sum, unrolled};
use cuda_std::thread::{block_dim_x, block_idx_x, grid_dim_x, sync_threads, thread_idx_x};
use cuda_std::warp::lane_id;

/// The threads of a block for which the entry points are compiled.
pub const THREADS: u32 = 512;

/// The blocks of a multiprocessor for which the entry points are compiled.
pub const BLOCKS: u32 = 2;

/// The maximum of `below` for [`count_few`].
pub const MOST_FEW: usize = 8192;

/// The counters of a block, for [`count_few`]: for 32 copies of 257 cells, or one of 8193.
pub const COUNTERS: usize = 8224;

/// The counters of a block with an owner, for [`count_many`].
pub const OWNED: usize = 4096;

/// The loads of a thread in flight, of 16 bytes each.
const IN_FLIGHT: usize = 4;

/// The bytes of keys that a block loads at a time.
pub const TILE_BYTES: usize = THREADS as usize * IN_FLIGHT * size_of::<B128>();

/// The minimum number of blocks that count `n` elements.
pub const fn fewest_blocks(n: u64) -> u64 {
    n >> 31
}

/// The data of a launch: keys and cells.
#[derive(Clone, Copy, Debug)]
pub struct Task<K> {
    /// The keys; signed ones as unsigned ones.
    pub keys: Global<K>,
    /// The cells.
    pub cells: Global<u64>,
    /// The elements whose key has no cell.
    pub rejected: Rejected,
    /// The first key that has no cell; all later ones have none either.
    pub below: usize,
}

/// An unsigned key that is counted.
pub trait Counted: Key {
    /// The keys in 64 bits.
    const PER_HALF: usize = size_of::<u64>() / size_of::<Self>();

    /// Key number `index` of the keys in 64 bits.
    fn of_half(half: u64, index: usize) -> Self;

    /// The smaller of the key and `below`.
    fn up_to(self, below: u32) -> u32;
}

macro_rules! counted {
    ($($key:ident),*) => { $(
        impl Counted for $key {
            #[inline(always)]
            fn of_half(half: u64, index: usize) -> Self {
                (half >> (index as u32 * Self::BITS)) as Self
            }

            #[inline(always)]
            fn up_to(self, below: u32) -> u32 {
                // In 32 bits for all keys but `u64`.
                if Self::BITS <= 32 {
                    (self as u32).min(below)
                } else {
                    self.min(below as Self) as u32
                }
            }
        }
    )* };
}

counted!(u8, u16, u32, u64);

/// Counts the elements of each key, with a counter for each cell in shared memory.
///
/// `counters` has [`COUNTERS`] elements.
///
/// # Safety
///
/// The launch meets the [requirements](self).
#[inline(always)]
pub unsafe fn count_few<K: Counted>(task: Task<K>, counters: Shared<u32>) {
    let below = task.below as u32;
    // The binary logarithm of the largest number of copies, up to 32, for `below + 1` cells.
    let mut copies = 0;
    while copies < 5 && (below + 1) << (copies + 1) <= COUNTERS as u32 {
        copies += 1;
    }
    let (tid, threads) = (thread_idx_x(), block_dim_x());
    let mut c = tid;
    while c < (below + 1) << copies {
        counters.set(c, 0);
        c += threads;
    }
    // Every counter is 0.
    sync_threads();

    let mask = (1 << copies) - 1;
    task.count(&mut Few {
        counters,
        below,
        copies: 1 << copies,
        copy: lane_id() & mask,
    });
    // Every element is counted.
    sync_threads();

    // The sum of a cell's copies. Lanes start with different copies, and so in different banks.
    let sum = |cell: u32| {
        let mut sum = 0;
        let mut copy = 0;
        while copy <= mask {
            sum += counters.get((cell << copies) + ((copy + tid) & mask)) as u64;
            copy += 1;
        }
        sum
    };
    let mut cell = tid;
    while cell < below {
        let elements = sum(cell);
        if elements > 0 {
            task.cells
                .combine_atomic::<u64, Sum>(Sum, cell as usize, elements);
        }
        cell += threads;
    }
    let rejected = sum(below);
    if rejected > 0 {
        if tid == 0 {
            task.rejected.count(rejected);
        }
        task.find_rejected();
    }
}

/// Counts the elements of each key, with counters in shared memory for some keys.
///
/// `owners` and `counters` have [`OWNED`] elements each.
///
/// # Safety
///
/// The launch meets the [requirements](self).
#[inline(always)]
pub unsafe fn count_many<K: Counted>(task: Task<K>, owners: Shared<u32>, counters: Shared<u32>) {
    let (tid, threads) = (thread_idx_x(), block_dim_x());
    let mut c = tid;
    while c < OWNED as u32 {
        owners.set(c, NO_OWNER);
        counters.set(c, 0);
        c += threads;
    }
    // Every counter is 0 and has no owner.
    sync_threads();

    let mut many = Many {
        owners,
        counters,
        cells: task.cells,
        below: task.below,
        rejected: 0,
        first: usize::MAX,
    };
    task.count(&mut many);
    // Every element is counted.
    sync_threads();

    let mut c = tid;
    while c < OWNED as u32 {
        let elements = counters.get(c);
        if elements > 0 {
            let cell = owners.get(c) as usize;
            task.cells
                .combine_atomic::<u64, Sum>(Sum, cell, elements as u64);
        }
        c += threads;
    }
    if many.rejected > 0 {
        task.rejected.add(many.rejected, many.first);
    }
}

/// The counters of a thread.
trait Counters<K> {
    /// Counts `elements` elements of a key, from `index` on.
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn add(&mut self, key: K, elements: u32, index: usize);
}

/// A counter for each cell, and one for the keys without a cell, in some copies.
struct Few {
    counters: Shared<u32>,
    below: u32,
    copies: u32,
    /// This lane's copy.
    copy: u32,
}

impl<K: Counted> Counters<K> for Few {
    #[inline(always)]
    fn add(&mut self, key: K, elements: u32, _: usize) {
        // A multiplication and an addition are one instruction.
        let counter = key.up_to(self.below) * self.copies + self.copy;
        self.counters
            .combine_atomic::<u32, Sum>(Sum, counter, elements);
    }
}

/// The owner of a counter that nobody owns; the key with this number cannot own one.
const NO_OWNER: u32 = u32::MAX;

/// Counters with owners, and this thread's rejected elements.
struct Many {
    owners: Shared<u32>,
    counters: Shared<u32>,
    cells: Global<u64>,
    below: usize,
    rejected: u64,
    first: usize,
}

impl<K: Counted> Counters<K> for Many {
    #[inline(always)]
    fn add(&mut self, key: K, elements: u32, index: usize) {
        let cell = key.cell();
        if cell >= self.below {
            self.rejected += elements as u64;
            self.first = self.first.min(index);
        } else if !(cell < NO_OWNER as usize && self.add_owned(cell as u32, elements)) {
            self.cells
                .combine_atomic::<u64, Sum>(Sum, cell, elements as u64);
        }
    }
}

impl Many {
    /// Counts elements of a key if it owns the counter that its hash selects, or can own it.
    #[inline(always)]
    fn add_owned(&self, key: u32, elements: u32) -> bool {
        let counter = key.hash() >> (u32::BITS - OWNED.ilog2());
        let mut owner = self.owners.get_atomic(counter);
        if owner == NO_OWNER {
            owner = self.owners.compare_and_swap(counter, NO_OWNER, key);
        }
        let is_owner = owner == NO_OWNER || owner == key;
        if is_owner {
            self.counters
                .combine_atomic::<u32, Sum>(Sum, counter, elements);
        }
        is_owner
    }
}

impl<K: Counted> Task<K> {
    /// The keys in a load.
    const PER_LOAD: usize = 2 * K::PER_HALF;

    /// Counts this block's share: each load whose keys are all equal by one addition, all other keys one by one.
    #[inline(always)]
    fn count(self, to: &mut impl Counters<K>) {
        let Share {
            head,
            first,
            end,
            tail,
        } = self.share();
        // SAFETY: the words are inside the array, and the first is aligned (`share`).
        let words = unsafe { self.keys.words::<B128>(head, end) };
        let (tid, threads) = (thread_idx_x() as usize, block_dim_x() as usize);
        let index = |word: usize| head + word * Self::PER_LOAD;
        let mut w = first + tid;
        while w + (IN_FLIGHT - 1) * threads < end {
            let a = words.get(w);
            let b = words.get(w + threads);
            let c = words.get(w + 2 * threads);
            let d = words.get(w + 3 * threads);
            compiler_barrier();
            Self::count_word(a, index(w), to);
            Self::count_word(b, index(w + threads), to);
            Self::count_word(c, index(w + 2 * threads), to);
            Self::count_word(d, index(w + 3 * threads), to);
            w = opaque(w + IN_FLIGHT * threads);
        }
        while w < end {
            Self::count_word(words.get(w), index(w), to);
            w += threads;
        }
        if block_idx_x() == 0 {
            if tid < head {
                to.add(self.keys.get(tid), 1, tid);
            }
            if tail + tid < self.keys.len() {
                to.add(self.keys.get(tail + tid), 1, tail + tid);
            }
        }
    }

    /// Counts the keys of one load, the first of which has this index.
    #[inline(always)]
    fn count_word(word: B128, index: usize, to: &mut impl Counters<K>) {
        let [low, high] = word.halves();
        // All keys are equal if the halves are, and if a rotation by one key changes nothing.
        if low == high && low == low.rotate_left(u64::BITS / K::PER_HALF as u32) {
            to.add(K::of_half(low, 0), Self::PER_LOAD as u32, index);
            return;
        }
        unrolled!(|e < K::PER_HALF| to.add(K::of_half(low, e), 1, index + e));
        let index = index + K::PER_HALF;
        unrolled!(|e < K::PER_HALF| to.add(K::of_half(high, e), 1, index + e));
    }

    /// The share of this block. The first block also counts the fewer than 32 elements that are in no load.
    #[inline(always)]
    fn share(self) -> Share {
        let head = self.keys.head_len::<B128>().min(self.keys.len());
        let words = (self.keys.len() - head) / Self::PER_LOAD;
        let per_block = words.div_ceil(grid_dim_x() as usize);
        let first = (block_idx_x() as usize * per_block).min(words);
        Share {
            head,
            first,
            end: (first + per_block).min(words),
            tail: head + words * Self::PER_LOAD,
        }
    }

    /// Searches the first rejected element in this block's share. Every thread of the block calls it.
    ///
    /// It loads the keys again: to note indices while counting would make counting slower.
    #[inline(always)]
    fn find_rejected(self) {
        let Share {
            head,
            first,
            end,
            tail,
        } = self.share();
        let has_no_cell = |i: usize| self.keys.get(i).cell() >= self.below;
        let (tid, threads) = (thread_idx_x() as usize, block_dim_x() as usize);
        let is_first_block = block_idx_x() == 0;
        if is_first_block && tid < head && has_no_cell(tid) {
            self.rejected.note(tid);
            return;
        }
        let mut i = head + first * Self::PER_LOAD + tid;
        while i < head + end * Self::PER_LOAD {
            if has_no_cell(i) {
                self.rejected.note(i);
                return;
            }
            i += threads;
        }
        let i = tail + tid;
        if is_first_block && i < self.keys.len() && has_no_cell(i) {
            self.rejected.note(i);
        }
    }
}

/// A block's share of the keys: the words of 16 bytes from `first` to `end`. The words of all blocks are between the
/// elements before `head` and those from `tail` on.
#[derive(Clone, Copy, Debug)]
struct Share {
    head: usize,
    first: usize,
    end: usize,
    tail: usize,
}
