//! The peers of a lane: the lanes of its warp that hold the same key.
//!
//! A group of peers is a mask, bit `i` for lane `i`, the same in each of its lanes. To find the
//! groups is one step ([`get_peers`] or [`match_peers`]); to combine the values of all groups at
//! once is another ([`reduce_peers`]), which may be done several times with the same masks.
//!
//! Every function here takes the member mask of its warp: the lanes that have an element. All of
//! them arrive together; in the last warp of an array they are fewer than 32.

use super::Key;
use crate::element::Element;
use crate::op::Op;
use crate::warp::WARP_SIZE;
use cuda_std::warp::{lane_id, warp_match_any, warp_shuffle_idx, warp_vote_any, warp_vote_ballot};

/// A way to find peers.
pub trait FindPeers {
    /// The mask of the lanes that hold the calling lane's key, itself included.
    ///
    /// # Safety
    ///
    /// The lanes in `members` arrive here, with the same `members`, and no others.
    unsafe fn find<K: Key>(members: u32, key: K) -> u32;
}

/// By a loop of ballots: [`get_peers`].
#[derive(Clone, Copy, Debug)]
pub struct Ballot;

impl FindPeers for Ballot {
    #[inline(always)]
    unsafe fn find<K: Key>(members: u32, key: K) -> u32 {
        // SAFETY: the caller's contract.
        unsafe { get_peers(members, key) }
    }
}

/// By the instruction made for it: [`match_peers`].
#[derive(Clone, Copy, Debug)]
pub struct Match;

impl FindPeers for Match {
    #[inline(always)]
    unsafe fn find<K: Key>(members: u32, key: K) -> u32 {
        // SAFETY: the caller's contract.
        unsafe { match_peers(members, key) }
    }
}

/// The calling lane's peers, by ballots. **Every member has the mask of its own group.**
///
/// One round per different key. The first lane that belongs to no group yet shows its key to all;
/// those that hold the same one are its group:
///
/// ```text
/// lane             0   1   2   3   4   5   6   7      (eight lanes drawn; a warp has 32)
/// key              a   b   a   c   b   a   c   b
/// round 1, of 0    *       *           *              peers of 0 2 5
/// round 2, of 1        *           *           *      peers of 1 4 7
/// round 3, of 3                *           *          peers of 3 6
/// ```
///
/// A warp of one key needs one round; 32 different keys need 32.
///
/// # Safety
///
/// The lanes in `members` arrive here, with the same `members`, and no others.
#[inline(always)]
pub unsafe fn get_peers<K: Key>(members: u32, key: K) -> u32 {
    let mut peers = 0;
    let mut unclaimed = members;
    // All members stay until the last group is found: each round needs all of them.
    while unclaimed != 0 {
        let first = unclaimed.trailing_zeros();
        // SAFETY: the caller brings the members; `unclaimed` is the same in all of them.
        let group = unsafe {
            let (reference, _) = warp_shuffle_idx(members, key, first, WARP_SIZE);
            warp_vote_ballot(members, key == reference)
        };
        if group & (1 << lane_id()) != 0 {
            peers = group;
        }
        unclaimed ^= group;
    }
    peers
}

/// The calling lane's peers, by `match.any.sync`. **Every member has the mask of its own group.**
///
/// # Safety
///
/// As [`get_peers`].
#[inline(always)]
pub unsafe fn match_peers<K: Key>(members: u32, key: K) -> u32 {
    // SAFETY: the caller's contract.
    unsafe { warp_match_any(members, key) }
}

/// The values of each group of peers as one. **The first lane of a group holds its result**; what
/// the others get is a combination of some of the values and of no use.
///
/// A tree over each group, all groups at once. What counts is not the lane but the *rank* in the
/// group: how many peers stand below. In every step a lane takes in the next peer above that is
/// left; then the lanes of odd rank leave, and the rank of the others is halved:
///
/// ```text
/// lane             0     1     2     3     4     5     6     7
/// key              a     b     a     a     b     a     a     b
/// rank             0     0     1     2     1     3     4     2
///
/// step 1           0+2   1+4   .     3+5   .     .     6     7
/// rank left        0     0           1                 2     1
///
/// step 2           0235  147         .                 6     .
/// rank left        0     0                             1
///
/// step 3           02356 147                           .
/// ```
///
/// A lane of odd rank takes something in, too, in the step in which it leaves: the lane below has
/// read its value at the same time, before that. Steps: log2 of the largest group, rounded up.
///
/// A lane may have a value of each of `N` arrays, which the same steps combine: who takes in whom
/// is found out once for all of them.
///
/// # Safety
///
/// The lanes in `members` arrive here, with the same `members`, and no others; `peers` is the
/// calling lane's own mask as [`get_peers`] gives it for these members.
#[inline(always)]
pub unsafe fn reduce_peers<T: Element, O: Op<T, Acc = T>, const N: usize>(
    members: u32,
    peers: u32,
    values: &mut [T; N],
) {
    let lane = lane_id();
    let mut rank = (peers & ((1 << lane) - 1)).count_ones();
    let mut above = peers & (!1 << lane);
    // SAFETY: the caller brings the members, in each step all of them; a peer is one of them, and
    // so is the lane itself.
    unsafe {
        while warp_vote_any(members, above != 0) {
            let next = if above == 0 {
                lane
            } else {
                above.trailing_zeros()
            };
            each::<N>(|a| {
                let (taken, _) = warp_shuffle_idx(members, values[a], next, WARP_SIZE);
                if above != 0 {
                    values[a] = O::combine(values[a], taken);
                }
            });
            above &= !warp_vote_ballot(members, rank % 2 == 1);
            rank /= 2;
        }
    }
}

/// [`reduce_peers`], and the results to all peers. **Every member holds those of its group.**
///
/// # Safety
///
/// As [`reduce_peers`].
#[inline(always)]
pub unsafe fn all_reduce_peers<T: Element, O: Op<T, Acc = T>, const N: usize>(
    members: u32,
    peers: u32,
    values: &mut [T; N],
) {
    let first = peers.trailing_zeros();
    // SAFETY: the caller's contract; a group has a first lane, which is a member.
    unsafe {
        reduce_peers::<T, O, N>(members, peers, values);
        each::<N>(|a| values[a] = warp_shuffle_idx(members, values[a], first, WARP_SIZE).0);
    }
}

/// Does the same for each of the first `N` elements of an array. Not a loop: LLVM would keep the
/// array in local memory.
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

/// Whether the calling lane is the first of its peers, which holds their result.
#[inline(always)]
pub fn is_first(peers: u32) -> bool {
    peers.trailing_zeros() == lane_id()
}
