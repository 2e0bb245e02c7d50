//! `find_peers_ballot`, `find_peers_match`, `find_peers_hash`: the search for peers alone; and `all_reduce_peers`.
//!
//! The post leaves the search out of its figure, because its time varies and a program with several arrays of values can
//! keep the masks. The [kernels by key](super::warp) include it. These kernels store the mask of every element, and do
//! nothing else: their time is that of the search, and of reading 4 bytes and writing 4.
//!
//! | kernel | the search | rounds |
//! |---|---|---|
//! | `find_peers_ballot` | [`get_peers`](super::peers::get_peers) | one for each different key of the warp |
//! | `find_peers_match` | [`match_peers`](super::peers::match_peers), one instruction | |
//! | `find_peers_hash` | [`hash_peers`], in shared memory | one, and one more for each key that loses its slot to another |
//!
//! The post also names a way to combine peers that is not here: switching the positions of all elements, so that peers
//! are neighbours. A shuffle reads from a lane. So each lane needs the inverse of the switch, which takes a scan over the
//! warp and a detour through shared memory before the first addition; [`reduce_peers`](super::peers::reduce_peers) reads
//! the next peer from its mask instead. In the post that is faster, too.
//!
//! # Requirements of every launch
//!
//! - A one-dimensional grid of at least `ceil(n / threads)` blocks, and one-dimensional blocks of a multiple of 32
//!   threads, at most [`MOST_THREADS`].
//! - The arrays have the same length.
//!
//! Source: the post "Voting and Shuffling to Optimize Atomic Operations" (NVIDIA).

use super::peers::{FindPeers, Match, all_reduce_peers as share, highest};
use super::{WideKey, thread_in_grid};
use crate::element::Element;
use crate::mem::{Global, Shared};
use crate::op::{AtomicOp, Min, Op, Or};
use crate::warp::{FULL_MASK, WARP_SIZE};
use cuda_std::thread::thread_idx_x;
use cuda_std::warp::{lane_id, sync_warp, warp_vote_any, warp_vote_ballot};

/// The most threads of a block, each of which has a slot.
pub const MOST_THREADS: usize = 256;

/// Stores each element's peers in its warp: a mask with bit `i` for lane `i`.
///
/// # Safety
///
/// The launch meets the [requirements](self).
#[inline(always)]
pub unsafe fn find_peers<K: WideKey, P: FindPeers>(keys: Global<K>, masks: Global<u32>) {
    let i = thread_in_grid();
    // SAFETY: all lanes of the warp arrive here.
    let members = unsafe { warp_vote_ballot(FULL_MASK, i < keys.len()) };
    if i < keys.len() {
        // SAFETY: exactly the lanes with an element arrive here.
        masks.set(i, unsafe { P::find(members, keys.get(i)) });
    }
}

/// [`find_peers`] by [`hash_peers`].
///
/// # Safety
///
/// The launch meets the [requirements](self); the slots have [`MOST_THREADS`] elements each.
#[inline(always)]
pub unsafe fn find_peers_by_hash<K: WideKey>(keys: Global<K>, masks: Global<u32>, slots: Slots<K>)
where
    Min: AtomicOp<K, Acc = K>,
{
    let i = thread_in_grid();
    slots.clear(thread_idx_x());
    // SAFETY: all lanes of the warp arrive here.
    let members = unsafe {
        // Every slot of the warp is empty.
        sync_warp(FULL_MASK);
        warp_vote_ballot(FULL_MASK, i < keys.len())
    };
    if i < keys.len() {
        // SAFETY: exactly the lanes with an element arrive here.
        masks.set(i, unsafe { hash_peers(members, keys.get(i), slots) });
    }
}

/// A hash table for each warp, one slot for each lane: the key that owns the slot, and the lanes with this key.
#[derive(Clone, Copy, Debug)]
pub struct Slots<K> {
    /// The smallest key that has selected the slot; the greatest key if none has.
    pub owners: Shared<K>,
    /// The peers with the owner's key.
    pub peers: Shared<u32>,
}

impl<K: WideKey> Slots<K>
where
    Min: AtomicOp<K, Acc = K>,
{
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn clear(self, slot: u32) {
        self.owners.set(slot, <Min as Op<K>>::identity(&Min));
        self.peers.set(slot, 0);
    }
}

/// Finds the calling lane's peers by a hash table in shared memory. **Every member holds the mask of its own group.**
///
/// The hash of a key selects a slot, and the smallest key there owns it. The lanes with this key set their bits in the
/// slot, and have found each other. The others try again, in the same slot, when its owners have left.
///
/// # Safety
///
/// Exactly the lanes in `members` arrive here, all with the same `members`. The warp's slots are empty.
#[inline(always)]
pub unsafe fn hash_peers<K: WideKey>(members: u32, key: K, slots: Slots<K>) -> u32
where
    Min: AtomicOp<K, Acc = K>,
{
    let lane = lane_id();
    let slot = thread_idx_x() - lane + (key.hash() >> (32 - WARP_SIZE.ilog2()));
    let mut peers = 0;
    // SAFETY: the caller guarantees that the members arrive; all of them take part in every round.
    unsafe {
        while warp_vote_any(members, peers == 0) {
            let searches = peers == 0;
            if searches {
                slots.owners.combine_atomic::<K, Min>(Min, slot, key);
            }
            // Every slot has its owner.
            sync_warp(members);
            let owns = searches && slots.owners.get(slot) == key;
            if owns {
                slots.peers.combine_atomic::<u32, Or>(Or, slot, 1 << lane);
            }
            // Every owner has set its bit.
            sync_warp(members);
            if owns {
                peers = slots.peers.get(slot);
            }
            // Every owner has read its peers, and every other lane the owner.
            sync_warp(members);
            if owns && highest(peers) == lane {
                slots.clear(slot);
            }
            // The slots are free for the next round.
            sync_warp(members);
        }
    }
    peers
}

/// Stores in `output[i]` the combination of the values of element `i` and its peers in the warp, the same for all of
/// them.
///
/// # Safety
///
/// The launch meets the [requirements](self).
#[inline(always)]
pub unsafe fn all_reduce_peers<K: WideKey, T: Element, O: Op<T, Acc = T>>(
    op: O,
    keys: Global<K>,
    values: Global<T>,
    output: Global<T>,
) {
    let i = thread_in_grid();
    // SAFETY: all lanes of the warp arrive here.
    let members = unsafe { warp_vote_ballot(FULL_MASK, i < keys.len()) };
    if i < keys.len() {
        let mut value = [values.get(i)];
        // SAFETY: exactly the lanes with an element arrive here, with the masks of their own keys.
        unsafe {
            let peers = Match::find(members, keys.get(i));
            share::<T, O, 1>(op, members, peers, &mut value);
        }
        output.set(i, value[0]);
    }
}
