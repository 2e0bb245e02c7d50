//! Puts keys into the table, and combines their values on the way.
//!
//! A warp takes tiles, as far apart as there are warps, until there are none or the table is full. For each tile it first
//! finds the place of every key, and then combines the values: a tile is combined as a whole or not at all.
//!
//! # Bins
//!
//! Atomics on one cell of global memory are executed one after another, and all of them together are limited by the L2
//! cache. So a block has bins in shared memory, as many as there is room for. The first key that selects a bin owns it for
//! the whole launch, as soon as the key has a slot. Values of these keys are combined in shared memory, and the block
//! combines its bins into the cells at the end.
//!
//! Atomics on one bin are executed one after another, too. So the block counts the keys of a sample first. Those that it
//! finds in at least one of [`FREQUENT`] items own a *frequent* bin, which has one copy of the value for each of several
//! lanes. If many keys of a row of 32 items are equal, the warp combines their values first.
//!
//! | keys | why they are combined fast |
//! |---|---|
//! | few | all own bins, and those that occur often have copies |
//! | some frequent, many others | the frequent keys are among the first that select a bin; the others are spread over the cells |
//! | equal keys close together | a warp combines a row |
//! | many, random | the table is in the L2 cache, and a thread's searches are all in flight |
//!
//! # Requirements of the launch
//!
//! - At most [`threads_of`] the keys threads per block, a multiple of the warp's size, and any number of blocks.
//! - At least one key, and fewer than 2^32. `words` and `state` as their types require; `rounds` has an element for each warp
//!   of the grid. A launch that continues another one has as many warps.
//! - The sink has as many values as there are keys, and a cell for each slot and one more.
//! - [`shared_bytes`] of dynamic shared memory, for a number of bins that is even and not 0.

mod bins;
mod sink;

use super::{GroupKey, MOST_SLOTS, NONE, State, Table};
use crate::element::Shuffle;
use crate::mem::{Global, compiler_barrier};
use crate::op::{Sum, unrolled};
use crate::tile::zero;
use crate::warp::{FULL_MASK, WARP_SIZE, reduce_down};
pub use bins::{Bins, FREQUENT, shared_bytes};
use cuda_std::thread::{block_dim_x, block_idx_x, grid_dim_x, sync_threads, thread_idx_x};
use cuda_std::warp::{warp_vote_any, warp_vote_ballot};
pub use sink::{Combine, Only, Sink};

/// The most threads of a block, for keys of this size. With 1024, a thread has 64 registers, too few for keys of 64 bits.
pub const fn threads_of(key_bytes: usize) -> u32 {
    if key_bytes > 4 { 768 } else { 1024 }
}

/// The items of a tile that each lane takes.
pub const ROWS: usize = 4;

/// The items of a tile.
pub const TILE: usize = WARP_SIZE as usize * ROWS;

/// The lanes of a warp with one key from which on the warp combines their values first.
const MANY: u32 = 8;

/// The probes after which a lane learns whether the table is full, and then gives up.
const LONG: u32 = 16;

/// The tiles of a launch, and what the host learns of it.
#[derive(Clone, Copy, Debug)]
pub struct Work {
    /// [`State::WORDS`] words. `STOPPED` is 0 before the launch.
    pub state: Global<u32>,
    /// The number of tiles that each warp has combined, in this launch and in those before.
    pub rounds: Global<u32>,
    /// A warp that learns that more than this number of slots are claimed takes no more tiles.
    pub limit: u32,
    /// The slots among which a key is searched: at most as many as there are.
    pub most_probes: u32,
}

impl Work {
    /// With the limits `limit` and `most_probes`.
    #[inline(always)]
    pub fn new(state: Global<u32>, rounds: Global<u32>, [limit, most_probes]: [u32; 2]) -> Self {
        Self {
            state,
            rounds,
            limit,
            most_probes,
        }
    }

    /// Whether too many slots are known to be claimed.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn is_full(self) -> bool {
        self.state.get_atomic(State::CLAIMED) > self.limit
    }

    /// Adds the slots that the lanes have claimed. Returns whether the warp has learnt that there are too many. **Every lane
    /// holds it.**
    ///
    /// # Safety
    ///
    /// All lanes of the warp arrive here.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    unsafe fn add_claimed(self, claimed: u32) -> bool {
        // SAFETY: all lanes arrive, here and below.
        let of_warp = unsafe { reduce_down::<u32, Sum>(Sum, claimed) };
        let mut is_full = false;
        if thread_idx_x().is_multiple_of(WARP_SIZE) && of_warp > 0 {
            let before = self.state.fetch_add(State::CLAIMED, of_warp);
            is_full = before + of_warp > self.limit;
        }
        // SAFETY: as above.
        unsafe { warp_vote_any(FULL_MASK, is_full) }
    }
}

/// Puts the keys of tiles into the table, and passes their values to the sink.
///
/// # Safety
///
/// The launch meets the [requirements](self).
#[inline(always)]
pub unsafe fn insert<K: GroupKey, S: Sink>(
    keys: Global<K>,
    table: Table<K>,
    work: Work,
    sink: S,
    bins: Bins<K>,
) {
    let lane = thread_idx_x() % WARP_SIZE;
    let warps_of_block = block_dim_x() / WARP_SIZE;
    let warps = grid_dim_x() * warps_of_block;
    let warp = block_idx_x() * warps_of_block + thread_idx_x() / WARP_SIZE;
    let tiles = keys.len().div_ceil(TILE);
    // So many claims of a lane are told to the others, so that a quarter of the limit remains untold.
    let few = (work.limit / (warps * WARP_SIZE).saturating_mul(4)).max(1);
    let mut claimed = 0;
    bins.clear(sink);
    // All bins are empty.
    sync_threads();
    if S::BYTES > 0 {
        // SAFETY: all threads of the block arrive, after a barrier behind the stores to the bins.
        unsafe { bins.find_frequent(keys, warp, table, work, sink, &mut claimed) };
    }
    let mut round = work.rounds.get(warp as usize);
    let tile_of = |round: u32| warp as usize + round as usize * warps as usize;
    while tile_of(round) < tiles {
        let first = tile_of(round) * TILE + lane as usize;
        let (own, mut values) = load(keys, sink, first);
        // SAFETY: all lanes of the warp arrive, here and below: the numbers of rounds and of claims are the same in all.
        let idle = unsafe { merge_peers(sink, own, &mut values) };
        let found = find::<K, S>(own, idle, table, work, bins);
        claimed += found.claimed;
        // SAFETY: as above.
        if unsafe { warp_vote_any(FULL_MASK, found.is_lost) } {
            break;
        }
        unrolled!(|r < ROWS| found.places[r].combine(sink, values[r]));
        round += 1;
        // SAFETY: as above.
        if unsafe { warp_vote_any(FULL_MASK, claimed >= few) } {
            // SAFETY: as above.
            let is_full = unsafe { work.add_claimed(claimed) };
            claimed = 0;
            if is_full {
                break;
            }
        }
    }
    // SAFETY: as above.
    unsafe { work.add_claimed(claimed) };
    // Every value is in its bin or cell, and every lane has read the number of rounds.
    sync_threads();
    if lane == 0 {
        work.rounds.set(warp as usize, round);
        if tile_of(round) < tiles {
            work.state.fetch_add(State::STOPPED, 1);
        }
    }
    bins.flush(table, sink);
}

/// Loads the keys and the values of a tile. Behind the last key, lanes load it again, with a value that changes nothing.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
fn load<K: GroupKey, S: Sink>(
    keys: Global<K>,
    sink: S,
    first: usize,
) -> ([K; ROWS], [S::Value; ROWS]) {
    const STEP: usize = WARP_SIZE as usize;
    let last = keys.len() - 1;
    let mut own = [K::EMPTY; ROWS];
    let mut values = [sink.identity(); ROWS];
    // The same in all lanes.
    if first - first % STEP + TILE <= keys.len() {
        unrolled!(|r < ROWS| own[r] = keys.get(first + r * STEP));
        unrolled!(|r < ROWS| values[r] = sink.load(first + r * STEP));
    } else {
        unrolled!(|r < ROWS| {
            let i = first + r * STEP;
            own[r] = keys.get(i.min(last));
            if i <= last {
                values[r] = sink.load(i);
            }
        });
    }
    compiler_barrier();
    (own, values)
}

/// Combines the values of each row in which many lanes have the key of the first lane, which holds the result. Does nothing if
/// that is not so in the first row. Returns a mask with a bit for each row whose value another lane than this one has.
///
/// # Safety
///
/// All lanes of the warp arrive here.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
#[allow(
    unused_assignments,
    reason = "the last step of an unrolled loop assigns for none behind it"
)]
unsafe fn merge_peers<K: GroupKey, S: Sink>(
    sink: S,
    own: [K; ROWS],
    values: &mut [S::Value; ROWS],
) -> u32 {
    let lane = thread_idx_x() % WARP_SIZE;
    let (mut idle, mut has_peers) = (0u32, true);
    unrolled!(|r < ROWS| if has_peers {
        // SAFETY: all lanes of the warp arrive, here and below: they agree on `has_peers` and on `are_many`.
        let of_first = unsafe { own[r].shuffle(FULL_MASK, Shuffle::Idx(0)) };
        let is_peer = own[r] == of_first;
        // SAFETY: as above.
        let peers = unsafe { warp_vote_ballot(FULL_MASK, is_peer) };
        let are_many = peers.count_ones() >= MANY;
        if are_many {
            let of_peer = if is_peer { values[r] } else { sink.identity() };
            // SAFETY: as above.
            let all = unsafe { sink.of_warp(of_peer) };
            values[r] = if is_peer { all } else { values[r] };
            idle |= u32::from(is_peer && lane != 0) << r;
        }
        has_peers = r > 0 || are_many;
    });
    idle
}

/// The place of a value: nowhere, because another lane has it; or a slot, up to [`MOST_SLOTS`]; or a bin, as a number behind
/// all slots.
#[derive(Clone, Copy)]
struct Place(u32);

impl Place {
    const NOWHERE: Self = Self(NONE);

    #[inline(always)]
    fn of_bin(bin: u32) -> Self {
        Self(NONE - 1 - bin)
    }

    /// Combines a value into the bin, or into the slot's cell.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn combine<S: Sink>(self, sink: S, value: S::Value) {
        let Self(place) = self;
        if place <= MOST_SLOTS as u32 {
            sink.into_cell(place as usize, value);
        } else if place != NONE {
            sink.into_bin(NONE - 1 - place, value);
        }
    }
}

/// Where the values of a lane belong.
struct Found {
    places: [Place; ROWS],
    /// The number of slots that this lane has claimed.
    claimed: u32,
    /// There was no slot for a key.
    is_lost: bool,
}

/// Finds the place of each key of a tile, in a bin or in the table. `idle` has a bit for each row without a value.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
#[allow(
    unused_assignments,
    reason = "the last step of an unrolled loop assigns for none behind it"
)]
fn find<K: GroupKey, S: Sink>(
    mut own: [K; ROWS],
    idle: u32,
    table: Table<K>,
    work: Work,
    bins: Bins<K>,
) -> Found {
    let mut has_empty = false;
    unrolled!(|r < ROWS| has_empty |= own[r] == K::EMPTY);
    if has_empty && work.state.get_atomic(State::HAS_EMPTY) == 0 {
        work.state.set_atomic(State::HAS_EMPTY, 1);
    }
    // The loads of all rows are in flight together, here and below.
    let mut owners = [[K::EMPTY; 4]; ROWS];
    unrolled!(|r < ROWS| owners[r] = bins.owners::<S>(own[r]));
    let (mut slots, mut words, mut places) = ([0; ROWS], own, [Place::NOWHERE; ROWS]);
    let (mut searched, mut has_room) = (0u32, 0u32);
    unrolled!(|r < ROWS| {
        let bin = bins.place::<S>(own[r], owners[r]);
        slots[r] = table.first(own[r].hash()) as u32;
        if idle >> r & 1 == 0 {
            if bin != NONE {
                places[r] = Place::of_bin(bin);
            } else {
                searched |= 1 << r;
            }
            if (owners[r][2] == K::EMPTY) | (owners[r][3] == K::EMPTY) {
                has_room |= 1 << r;
            }
        }
    });
    // The key of empty slots has one without a search. It looks like the owner of an empty bin.
    if has_empty {
        unrolled!(|r < ROWS| if own[r] == K::EMPTY {
            searched &= !(1 << r);
            has_room &= !(1 << r);
            if idle >> r & 1 == 0 {
                places[r] = Place(table.slots() as u32);
            }
            (own[r], words[r]) = (zero(), zero());
        });
    }
    has_room &= searched;
    unrolled!(|r < ROWS| if searched >> r & 1 != 0 {
        words[r] = K::get(table.words, slots[r] as usize);
    });
    compiler_barrier();
    // A search has ended if the word is the key.
    let (mut claimed, mut probes) = (0, 0);
    let mut is_lost = is_any_open(own, words);
    while is_lost && probes < work.most_probes {
        // Long searches are rare, unless the table is full.
        if probes == LONG && work.is_full() {
            break;
        }
        unrolled!(|r < ROWS| if words[r] == K::EMPTY {
            words[r] = own[r].claim(table.words, slots[r] as usize);
        });
        compiler_barrier();
        unrolled!(|r < ROWS| {
            if words[r] == K::EMPTY {
                claimed += 1;
                words[r] = own[r];
            }
            if words[r] != own[r] {
                slots[r] = table.next(slots[r] as usize) as u32;
                words[r] = K::get(table.words, slots[r] as usize);
            }
        });
        compiler_barrier();
        is_lost = is_any_open(own, words);
        probes += 1;
    }
    unrolled!(|r < ROWS| if searched >> r & 1 != 0 {
        places[r] = Place(slots[r]);
    });
    // A key that owns a bin has a slot.
    if has_room != 0 && !is_lost {
        unrolled!(|r < ROWS| if has_room >> r & 1 != 0 {
            let bin = bins.own(own[r]);
            if bin != NONE {
                places[r] = Place::of_bin(bin);
            }
        });
    }
    Found {
        places,
        claimed,
        is_lost,
    }
}

/// Whether a search has not ended.
#[inline(always)]
fn is_any_open<K: GroupKey>(own: [K; ROWS], words: [K; ROWS]) -> bool {
    let mut is_open = false;
    unrolled!(|r < ROWS| is_open |= words[r] != own[r]);
    is_open
}
