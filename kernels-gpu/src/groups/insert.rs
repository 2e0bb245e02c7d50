//! Puts keys into the table, and combines their values on the way.
//!
//! A block takes tiles until there are none or the table is full. For each tile it first finds the place of every key, and
//! then combines the values: a tile is combined as a whole or not at all.
//!
//! # Frequent keys
//!
//! Atomics on one cell of global memory are executed one after another. So a block has bins in shared memory. The
//! first key of the block that selects a bin owns it for the whole launch; frequent keys are likely to be first. Values of
//! these keys are combined in shared memory, in one of several copies that the lane selects, and the block combines its
//! bins into the cells at the end. If few keys of its first tiles own a bin, the block does without bins from then on. If
//! many keys of a row of 32 items are equal, the warp combines their values first.
//!
//! | keys | why they are combined fast |
//! |---|---|
//! | few | all own bins |
//! | some frequent, many others | the frequent keys own bins; the others are spread over the cells |
//! | equal keys close together | a warp combines a row |
//! | many, random | the table is in the L2 cache, and a thread's searches are all in flight |
//!
//! # Requirements of the launch
//!
//! - [`THREADS`] threads per block, and any number of blocks.
//! - At least one key. `first` and `again` name tiles of the keys, none of them twice.
//! - `words` and `state` as their types require; `left` has two elements for each block.
//! - The sink has as many values as there are keys, and a cell for each slot and one more.

mod sink;

use super::{GroupKey, NONE, State, THREADS, Table};
use crate::element::Shuffle;
use crate::mem::{Global, Shared, compiler_barrier};
use crate::op::unrolled;
use crate::warp::{FULL_MASK, WARP_SIZE};
use cuda_std::thread::{sync_threads, sync_threads_or, thread_idx_x};
use cuda_std::warp::warp_vote_ballot;
pub use sink::{Combine, Only, Sink};

/// The bins of a block.
pub const BINS: usize = 1024;

/// The lanes of a warp with one key from which on the warp combines their values first.
const MANY: u32 = 8;

/// The items of a tile that each thread takes: 8 for keys of 32 bits, 4 for keys of 64 bits.
pub const fn rows_of<K>() -> usize {
    32 / size_of::<K>()
}

/// The items of a tile.
pub const fn items_of_tile<K>() -> usize {
    THREADS as usize * rows_of::<K>()
}

/// The tiles that a block can leave: one that it has begun, and one that it has only taken.
pub const MOST_LEFT: usize = 2;

/// The blocks of a multiprocessor for which the entry points are compiled, which limits a thread to 80 registers. With 64,
/// ptxas spills keys of 32 bits.
pub const BLOCKS: u32 = 3;

/// The same for these keys and values: with 80 registers, ptxas spills values of 64 bits on sm_80.
pub const fn blocks_of<K, T>() -> u32 {
    match (size_of::<K>(), size_of::<T>()) {
        (4, 8) => 2,
        _ => BLOCKS,
    }
}

/// The number of copies of each bin, for values of this type: 16 bytes of them.
pub const fn copies_of<T>() -> usize {
    match 16 / size_of::<T>() {
        0 => 1,
        copies => copies,
    }
}

/// The number of values of all bins.
pub const fn values_of_bins<T>() -> usize {
    BINS * copies_of::<T>()
}

/// The words that the threads of a block share.
pub const WORDS: usize = 3;
const NUMBER: u32 = 0;
const CLAIMS: u32 = 1;
const BINNED: u32 = 2;

/// After this number of tiles, a block decides whether it goes on to use its bins.
const TRIED: u32 = 4;

/// It does if at least one of this number of keys already owned a bin.
const SELDOM: u32 = 8;

/// The tiles of a launch, and what the host learns of it.
#[derive(Clone, Copy, Debug)]
pub struct Work {
    /// [`State::WORDS`] words. `NEXT`, `LEFT` and `IS_FULL` are 0 before the launch.
    pub state: Global<u32>,
    /// Tiles that an earlier launch has left. They are taken first.
    pub again: Global<u32>,
    /// The tiles that this launch leaves; their number is in the state.
    pub left: Global<u32>,
    /// The first tile that has never been taken; all later ones have not been taken either.
    pub first: u32,
    /// Blocks take no more tiles if more than this number of slots are claimed.
    pub limit: u32,
    /// The slots among which a key is searched: at most as many as there are.
    pub most_probes: u32,
}

impl Work {
    /// Takes the next number of a tile, and loads whether the table is full. Both are in flight when it returns.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn take(self) -> (u32, u32) {
        let number = self.state.fetch_add(State::NEXT, 1);
        (number, self.state.get_atomic(State::IS_FULL))
    }

    /// The tile with this number, or [`NONE`].
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn tile(self, number: u32, tiles: usize) -> u32 {
        let (number, again) = (number as usize, self.again.len());
        if number < again {
            return self.again.get(number);
        }
        let tile = self.first as usize + number - again;
        if tile < tiles { tile as u32 } else { NONE }
    }

    /// Leaves a tile to the next launch.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn leave(self, tile: u32) {
        if tile != NONE {
            let number = self.state.fetch_add(State::LEFT, 1);
            self.left.set(number as usize, tile);
        }
    }

    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn stop(self) {
        self.state.set_atomic(State::IS_FULL, 1);
    }
}

/// The bin that a key selects first. The other one is its neighbour.
#[inline(always)]
fn bin_of<K: GroupKey>(key: K) -> u32 {
    key.hash() as u32 % BINS as u32
}

/// Puts the keys of tiles into the table, and passes their values to the sink.
///
/// `owners` has the key of each of the [`BINS`], `words` has [`WORDS`] elements, and `ROWS` is [`rows_of`] the keys.
///
/// # Safety
///
/// The launch meets the [requirements](self).
#[inline(always)]
#[allow(
    unused_assignments,
    reason = "the last step of an unrolled loop assigns for none behind it"
)]
pub unsafe fn insert<K: GroupKey, S: Sink, const ROWS: usize>(
    keys: Global<K>,
    table: Table<K>,
    work: Work,
    sink: S,
    owners: Shared<K>,
    words: Shared<u32>,
) {
    let (tid, n) = (thread_idx_x(), keys.len());
    let of_tile = THREADS as usize * ROWS;
    let tiles = n.div_ceil(of_tile);
    let mut bin = tid;
    while bin < BINS as u32 {
        owners.set(bin, K::EMPTY);
        sink.clear(bin);
        bin += THREADS;
    }
    // The first thread takes each tile during the one before.
    let mut taken = (0, 0);
    if tid == 0 {
        words.set(CLAIMS, 0);
        words.set(BINNED, 0);
        taken = work.take();
    }
    // Whether keys select bins, and the number of tiles so far.
    let (mut has_bins, mut tried) = (true, 0);
    loop {
        if tid == 0 {
            let (number, is_full) = taken;
            let mut tile = work.tile(number, tiles);
            if is_full != 0 {
                work.leave(tile);
                tile = NONE;
            }
            words.set(NUMBER, tile);
        }
        // The tile's number is stored, and the bins before the first tile.
        sync_threads();
        let tile = words.get(NUMBER);
        if tile == NONE {
            break;
        }
        if tried == TRIED {
            has_bins = words.get(BINNED) * SELDOM >= TRIED * of_tile as u32;
        }
        tried += 1;
        if tid == 0 {
            taken = work.take();
        }
        let first = tile as usize * of_tile + tid as usize;
        // Behind the last key, lanes load it again, with a value that changes nothing.
        let last = n - 1;
        let mut own = [K::EMPTY; ROWS];
        let mut values = [sink.identity(); ROWS];
        if (tile as usize + 1) * of_tile <= n {
            unrolled!(|r < ROWS| own[r] = keys.get(first + r * THREADS as usize));
            unrolled!(|r < ROWS| values[r] = sink.load(first + r * THREADS as usize));
        } else {
            unrolled!(|r < ROWS| {
                let i = first + r * THREADS as usize;
                own[r] = keys.get(i.min(last));
                if i < n {
                    values[r] = sink.load(i);
                }
            });
        }
        compiler_barrier();
        // SAFETY: all threads of the block arrive, with the keys of one tile.
        let found = unsafe { find::<K, ROWS>(own, table, work, owners, has_bins) };
        let places = found.places;
        let met = places.in_bin & !places.is_new;
        if tried <= TRIED && met > 0 {
            words.fetch_add(BINNED, met.count_ones());
        }
        if found.claimed > 0 {
            words.fetch_add(CLAIMS, found.claimed);
        }
        // Every key of the tile has its place, or one has none.
        let is_lost = sync_threads_or(found.is_lost.into()) != 0;
        if tid == 0 {
            let claims = words.get(CLAIMS);
            if claims > 0 {
                words.set(CLAIMS, 0);
                let before = work.state.fetch_add(State::CLAIMED, claims);
                if before + claims > work.limit {
                    work.stop();
                }
            }
            if is_lost {
                work.leave(tile);
                work.leave(work.tile(taken.0, tiles));
                work.stop();
            }
        }
        if is_lost {
            // A key without a slot owns no bin.
            unrolled!(|r < ROWS| if found.unplaced >> r & 1 != 0 {
                let bin = bin_of(own[r]) ^ (places.is_other >> r & 1);
                owners.set(bin, K::EMPTY);
            });
            break;
        }
        unrolled!(|r < ROWS| {
            let mut value = values[r];
            if places.has_peers >> r & 1 != 0 {
                let is_peer = places.is_idle >> r & 1 != 0 || tid % WARP_SIZE == 0;
                let of_peer = if is_peer { value } else { sink.identity() };
                // SAFETY: all lanes of the warp have the same bit.
                let all = unsafe { sink.of_warp(of_peer) };
                value = if is_peer { all } else { value };
            }
            if places.is_idle >> r & 1 == 0 {
                if places.in_bin >> r & 1 != 0 {
                    let bin = bin_of(own[r]) ^ (places.is_other >> r & 1);
                    sink.into_bin(bin, value);
                } else {
                    sink.into_cell(found.slots[r] as usize, value);
                }
            }
        });
    }
    // Every value is in its bin or cell.
    sync_threads();
    flush(table, sink, owners);
}

/// Where the values of a thread belong.
struct Found<const ROWS: usize> {
    /// The rows that have a place in a bin, or none.
    places: Places,
    /// The slot of each key that was searched.
    slots: [u32; ROWS],
    /// The number of slots that this thread has claimed.
    claimed: u32,
    /// There was no slot for a key.
    is_lost: bool,
    /// The keys among them that own a bin.
    unplaced: u32,
}

/// Masks with a bit for each row.
#[derive(Clone, Copy)]
struct Places {
    /// Several lanes of the warp have the key of its first lane, which combines their values.
    has_peers: u32,
    /// This lane combines nothing.
    is_idle: u32,
    /// The place is a bin, not a cell.
    in_bin: u32,
    /// It is the neighbour of the first bin.
    is_other: u32,
    /// The key has come to own its bin, and must have a slot for its value in the end.
    is_new: u32,
}

/// Finds the place of each key of a tile, in a bin or in the table.
///
/// # Safety
///
/// All threads of the block arrive here with the same `has_bins`, after a barrier behind the stores to the bins.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
unsafe fn find<K: GroupKey, const ROWS: usize>(
    own: [K; ROWS],
    table: Table<K>,
    work: Work,
    owners: Shared<K>,
    has_bins: bool,
) -> Found<ROWS> {
    // SAFETY: the caller's contract.
    let mut places = unsafe { find_peers(own) };
    if has_bins {
        find_bins(own, owners, &mut places);
    }
    let (mut slots, mut words) = ([NONE; ROWS], [K::EMPTY; ROWS]);
    let skipped = places.is_idle | places.in_bin & !places.is_new;
    unrolled!(|r < ROWS| {
        slots[r] = table.first(own[r].hash()) as u32;
        if skipped >> r & 1 == 0 {
            words[r] = K::get(table.words, slots[r] as usize);
        }
    });
    compiler_barrier();
    let mut searched = 0u32;
    unrolled!(|r < ROWS| if words[r] != own[r] {
        searched |= 1 << r;
    });
    searched &= !skipped;
    unrolled!(
        |r < ROWS| if own[r] == K::EMPTY && skipped >> r & 1 == 0 {
            searched &= !(1 << r);
            slots[r] = table.slots() as u32;
            if work.state.get_atomic(State::HAS_EMPTY) == 0 {
                work.state.set_atomic(State::HAS_EMPTY, 1);
            }
        }
    );
    // The searches of all rows are in flight together.
    let (mut claimed, mut probes) = (0, 0);
    while searched != 0 && probes < work.most_probes {
        unrolled!(|r < ROWS| {
            if searched >> r & 1 != 0 {
                if words[r] == K::EMPTY {
                    words[r] = own[r].claim(table.words, slots[r] as usize);
                    if words[r] == K::EMPTY {
                        claimed += 1;
                        words[r] = own[r];
                    }
                }
                if words[r] == own[r] {
                    searched &= !(1 << r);
                } else {
                    slots[r] = table.next(slots[r] as usize) as u32;
                }
            }
        });
        unrolled!(|r < ROWS| {
            if searched >> r & 1 != 0 {
                words[r] = K::get(table.words, slots[r] as usize);
            }
        });
        compiler_barrier();
        probes += 1;
    }
    Found {
        places,
        slots,
        claimed,
        is_lost: searched != 0,
        unplaced: searched & places.is_new,
    }
}

/// Finds the rows in which many lanes of a warp have the key of its first lane.
///
/// # Safety
///
/// All lanes of the warp arrive here.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
unsafe fn find_peers<K: GroupKey, const ROWS: usize>(own: [K; ROWS]) -> Places {
    let lane = thread_idx_x() % WARP_SIZE;
    let (mut has_peers, mut is_idle) = (0u32, 0u32);
    unrolled!(|r < ROWS| {
        // SAFETY: all lanes of the warp arrive, here and below.
        let of_first = unsafe { own[r].shuffle(FULL_MASK, Shuffle::Idx(0)) };
        let is_peer = own[r] == of_first;
        // SAFETY: as above.
        let peers = unsafe { warp_vote_ballot(FULL_MASK, is_peer) };
        if peers.count_ones() >= MANY {
            has_peers |= 1 << r;
            if is_peer && lane != 0 {
                is_idle |= 1 << r;
            }
        }
    });
    Places {
        has_peers,
        is_idle,
        in_bin: 0,
        is_other: 0,
        is_new: 0,
    }
}

/// Finds the bins of the keys that own one, or come to own one.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
fn find_bins<K: GroupKey, const ROWS: usize>(
    own: [K; ROWS],
    owners: Shared<K>,
    places: &mut Places,
) {
    let (mut in_bin, mut is_other, mut is_new) = (0u32, 0u32, 0u32);
    unrolled!(|r < ROWS| {
        let key = own[r];
        if places.is_idle >> r & 1 == 0 && key != K::EMPTY {
            let bin = bin_of(key);
            let (one, other) = (K::owner(owners, bin), K::owner(owners, bin ^ 1));
            if one == key {
                in_bin |= 1 << r;
            } else if other == key {
                in_bin |= 1 << r;
                is_other |= 1 << r;
            } else if one == K::EMPTY || other == K::EMPTY {
                let neighbour = u32::from(one != K::EMPTY);
                let before = key.own(owners, bin ^ neighbour);
                if before == K::EMPTY || before == key {
                    in_bin |= 1 << r;
                    is_other |= neighbour << r;
                }
                if before == K::EMPTY {
                    is_new |= 1 << r;
                }
            }
        }
    });
    (places.in_bin, places.is_other, places.is_new) = (in_bin, is_other, is_new);
}

/// The bins that each thread combines into cells, whose searches are in flight together.
const PER_THREAD: usize = BINS / THREADS as usize;

const _: () = assert!(BINS == PER_THREAD * THREADS as usize);

/// Combines the bins into the cells of their keys, which are in the table.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
fn flush<K: GroupKey, S: Sink>(table: Table<K>, sink: S, owners: Shared<K>) {
    let bin = |i: usize| thread_idx_x() + i as u32 * THREADS;
    let (mut own, mut words) = ([K::EMPTY; PER_THREAD], [K::EMPTY; PER_THREAD]);
    unrolled!(|i < PER_THREAD| own[i] = owners.get(bin(i)));
    unrolled!(|i < PER_THREAD| if own[i] != K::EMPTY {
        words[i] = K::get(table.words, table.first(own[i].hash()));
    });
    unrolled!(|i < PER_THREAD| if own[i] != K::EMPTY {
        let first = table.first(own[i].hash());
        // Other blocks may still claim slots, but this key has one.
        let slot = table.find_or_claim(own[i], first, words[i], u32::MAX, &mut 0);
        sink.flush(bin(i), slot as usize);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bin_has_16_bytes_of_copies() {
        assert_eq!((copies_of::<f32>(), copies_of::<u64>()), (4, 2));
        assert_eq!(items_of_tile::<u32>(), 2048);
        assert_eq!(values_of_bins::<[u64; 4]>(), BINS);
    }
}
