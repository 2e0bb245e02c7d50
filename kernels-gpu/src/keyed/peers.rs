//! The peers of a lane: the lanes of its warp that hold the same key.
//!
//! A group of peers is a mask, bit `i` for lane `i`, the same in each of its lanes. To find the
//! groups is one step ([`get_peers`] or [`match_peers`]); to combine the values of all groups at
//! once is another ([`reduce_peers`]), which may be done several times with the same masks.
//!
//! Every function here takes the member mask of its warp: the lanes that have an element. All of
//! them arrive together; in the last warp of an array they are fewer than 32.

use super::Key;
use crate::element::{Element, Shuffle};
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
/// One round per different key. The last lane that belongs to no group yet shows its key to all;
/// those that hold the same one are its group:
///
/// ```text
/// lane             0   1   2   3   4   5   6   7      (eight lanes drawn; a warp has 32)
/// key              a   b   a   c   b   a   c   b
/// round 1, of 7        *           *           *      peers of 1 4 7
/// round 2, of 6                *           *          peers of 3 6
/// round 3, of 5    *       *           *              peers of 0 2 5
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
    loop {
        // SAFETY: the caller brings the members; `unclaimed` is the same in all of them.
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

/// The values of each group of peers as one. **The last lane of a group holds its result**; what
/// the others get is a combination of some of the values and of no use.
///
/// A tree over each group, all groups at once. What counts is not the lane but the *rank* in the
/// group: how many peers stand above. In every step a lane takes in the next peer below that is
/// left; then the lanes of odd rank leave, and the rank of the others is halved:
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
/// A lane of odd rank takes something in, too, in the step in which it leaves: the lane above has
/// read its value at the same time, before that. Steps: log2 of the largest group, rounded up. (From
/// the last lane down, not from the first up, since the hardware finds the highest bit of a mask in
/// one instruction and the lowest in two.)
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
    op: O,
    members: u32,
    peers: u32,
    values: &mut [T; N],
) {
    let lane = lane_id();
    let rank = (peers & (!1 << lane)).count_ones();
    let mut below = peers & ((1 << lane) - 1);
    // SAFETY: the caller brings the members, in each step all of them.
    unsafe {
        // Five steps are enough for 32 peers: a number that lets LLVM unroll the loop.
        for step in 0..WARP_SIZE.ilog2() {
            if !warp_vote_any(members, below != 0) {
                break;
            }
            // A source must be a member, also where its value is not used: the lane itself, as
            // "no lane" is the greatest number.
            let next = highest(below).min(lane);
            each::<N>(|a| {
                let taken = values[a].shuffle(members, Shuffle::Idx(next));
                if below != 0 {
                    values[a] = op.combine(values[a], taken);
                }
            });
            // Those stay whose rank, halved in every step, is even.
            below &= warp_vote_ballot(members, rank >> step & 1 == 0);
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
    op: O,
    members: u32,
    peers: u32,
    values: &mut [T; N],
) {
    let last = highest(peers);
    // SAFETY: the caller's contract; a group has a last lane, which is a member.
    unsafe {
        reduce_peers::<T, O, N>(op, members, peers, values);
        each::<N>(|a| values[a] = values[a].shuffle(members, Shuffle::Idx(last)));
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

/// Whether the calling lane is the last of its peers, which holds their result.
#[inline(always)]
pub fn is_last(peers: u32) -> bool {
    highest(peers) == lane_id()
}

/// The highest lane of a mask; of an empty one, no lane.
#[inline(always)]
fn highest(lanes: u32) -> u32 {
    31u32.wrapping_sub(lanes.leading_zeros())
}
