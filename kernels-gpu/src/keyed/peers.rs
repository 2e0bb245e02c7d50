//! Peers: the lanes of a warp with the same key.
//!
//! A group of peers is a mask, with bit `i` for lane `i`; all lanes of a group have the same mask. One step
//! finds the groups ([`get_peers`] or [`match_peers`]). Another step combines the values of all groups at once
//! ([`reduce_peers`]) and can be repeated with the same masks.
//!
//! Every function takes the member mask of its warp: the lanes that have an element. All members must arrive.
//! In the last warp of an array there may be fewer than 32.
//!
//! Source: the post "Voting and Shuffling to Optimize Atomic Operations" (NVIDIA).
//! In its `get_peers` a lane leaves the loop with its group; since Volta the others may not shuffle and vote without it, so
//! here all lanes stay. Its `reduce_peers` shifts by 32 bits in lane 0, which CUDA does not define; no shift here is by 32.

use super::WideKey;
use crate::element::{Element, Shuffle};
use crate::op::Op;
use crate::warp::WARP_SIZE;
use cuda_std::warp::{lane_id, warp_match_any, warp_shuffle_idx, warp_vote_any, warp_vote_ballot};

/// An algorithm to find peers.
pub trait FindPeers {
    /// The mask of the lanes with the calling lane's key, the calling lane included.
    ///
    /// # Safety
    ///
    /// Exactly the lanes in `members` arrive here, all with the same `members`.
    unsafe fn find<K: WideKey>(members: u32, key: K) -> u32;
}

/// By a loop of ballots: [`get_peers`].
#[derive(Clone, Copy, Debug)]
pub struct Ballot;

impl FindPeers for Ballot {
    #[inline(always)]
    unsafe fn find<K: WideKey>(members: u32, key: K) -> u32 {
        // SAFETY: the caller's contract.
        unsafe { get_peers(members, key) }
    }
}

/// By one instruction: [`match_peers`].
#[derive(Clone, Copy, Debug)]
pub struct Match;

impl FindPeers for Match {
    #[inline(always)]
    unsafe fn find<K: WideKey>(members: u32, key: K) -> u32 {
        // SAFETY: the caller's contract.
        unsafe { match_peers(members, key) }
    }
}

/// Finds the calling lane's peers by ballots. **Every member holds the mask of its own group.**
///
/// There is one round per distinct key. The last lane without a group broadcasts its key; the lanes with the
/// same key are its group:
///
/// ```text
/// lane             0   1   2   3   4   5   6   7      (eight lanes shown; a warp has 32)
/// key              a   b   a   c   b   a   c   b
/// round 1, of 7        *           *           *      peers of 1 4 7
/// round 2, of 6                *           *          peers of 3 6
/// round 3, of 5    *       *           *              peers of 0 2 5
/// ```
///
/// A warp with one key needs one round; 32 different keys need 32 rounds.
///
/// # Safety
///
/// Exactly the lanes in `members` arrive here, all with the same `members`.
#[inline(always)]
pub unsafe fn get_peers<K: WideKey>(members: u32, key: K) -> u32 {
    let mut peers = 0;
    let mut unclaimed = members;
    // No member exits before the last group is found, because each round needs all members.
    loop {
        // SAFETY: the caller guarantees that the members arrive; `unclaimed` is the same in all of them.
        let (reference, _) =
            unsafe { warp_shuffle_idx(members, key, highest(unclaimed), WARP_SIZE) };
        let is_peer = key == reference;
        // SAFETY: as above.
        let group = unsafe { warp_vote_ballot(members, is_peer) };
        if is_peer {
            peers = group;
        }
        unclaimed ^= group;
        if unclaimed == 0 {
            return peers;
        }
    }
}

/// Finds the calling lane's peers by `match.any.sync`. **Every member holds the mask of its own group.**
///
/// # Safety
///
/// As [`get_peers`].
#[inline(always)]
pub unsafe fn match_peers<K: WideKey>(members: u32, key: K) -> u32 {
    // SAFETY: the caller's contract.
    unsafe { warp_match_any(members, key) }
}

/// Combines the values of each group of peers. **The last lane of a group holds its result**; the values of the
/// other lanes are unspecified.
///
/// This is a tree over each group, for all groups at once. The position of a lane in the tree is its *rank*:
/// the number of peers above it. In every step a lane combines its value with that of the next remaining peer
/// below. Then the lanes of odd rank drop out, and the ranks of the others are halved:
///
/// ```text
/// lane             0     1     2     3     4     5     6     7
/// key              a     b     a     a     b     a     a     b
/// rank             4     2     3     2     1     1     0     0
///
/// step 1           0     1     .     2+3   .     .     5+6   4+7
/// rank left        2     1           1                 0     0
///
/// step 2           0     .           .                 2356  147
/// rank left        1                                   0     0
///
/// step 3           .                                   02356 147
/// ```
///
/// A lane of odd rank also combines a value in its last step; the lane above reads the old value in the same
/// shuffle. The number of steps is log2 of the largest group, rounded up. (The tree starts at the last lane,
/// because the hardware finds the highest bit of a mask in one instruction and the lowest in two.)
///
/// A lane may have a value of each of `N` arrays. The same steps combine all of them; the source lanes are
/// computed once.
///
/// # Safety
///
/// Exactly the lanes in `members` arrive here, all with the same `members`. `peers` is the calling lane's mask
/// from [`get_peers`] for these members.
#[inline(always)]
pub unsafe fn reduce_peers<T: Element, O: Op<T, Acc = T>, const N: usize>(
    op: O,
    members: u32,
    peers: u32,
    values: &mut [T; N],
) {
    let lane = lane_id();
    let rank = (peers & (!1 << lane)).count_ones();
    let mut below = peers & ((1 << lane) - 1);
    // SAFETY: the caller guarantees that the members arrive; all of them take part in each step.
    unsafe {
        // Five steps suffice for 32 peers; a constant lets LLVM unroll the loop.
        for step in 0..WARP_SIZE.ilog2() {
            if !warp_vote_any(members, below != 0) {
                break;
            }
            // The source must be a member even if its value is not used: then it is the lane itself, because
            // "no lane" is the greatest number.
            let next = highest(below).min(lane);
            each::<N>(|a| {
                let taken = values[a].shuffle(members, Shuffle::Idx(next));
                if below != 0 {
                    values[a] = op.combine(values[a], taken);
                }
            });
            // The lanes of even rank remain; the rank is halved in every step.
            below &= warp_vote_ballot(members, rank >> step & 1 == 0);
        }
    }
}

/// [`reduce_peers`], followed by a broadcast. **Every member holds the result of its group.**
///
/// # Safety
///
/// As [`reduce_peers`].
#[inline(always)]
pub unsafe fn all_reduce_peers<T: Element, O: Op<T, Acc = T>, const N: usize>(
    op: O,
    members: u32,
    peers: u32,
    values: &mut [T; N],
) {
    let last = highest(peers);
    // SAFETY: the caller's contract; the last lane of a group is a member.
    unsafe {
        reduce_peers::<T, O, N>(op, members, peers, values);
        each::<N>(|a| values[a] = values[a].shuffle(members, Shuffle::Idx(last)));
    }
}

/// Calls `what` for each of the first `N` elements of an array. Not a loop, because LLVM would keep the array
/// in local memory.
#[inline(always)]
pub(super) fn each<const N: usize>(mut what: impl FnMut(usize)) {
    const { assert!(1 <= N && N <= 3, "as many as are written out here") };
    what(0);
    if N > 1 {
        what(1);
    }
    if N > 2 {
        what(2);
    }
}

/// Whether the calling lane is the last of its peers, which holds the result.
#[inline(always)]
pub fn is_last(peers: u32) -> bool {
    highest(peers) == lane_id()
}

/// The highest lane of a mask; "no lane" for an empty mask.
#[inline(always)]
pub(super) fn highest(lanes: u32) -> u32 {
    31u32.wrapping_sub(lanes.leading_zeros())
}
