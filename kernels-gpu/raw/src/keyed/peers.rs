//! The lanes that hold the same key: `kernels_gpu::keyed::peers`.

use crate::sum::{Element, WARP_SIZE};
use cuda_std::warp::{lane_id, warp_match_any, warp_shuffle_idx, warp_vote_any, warp_vote_ballot};

/// A way to find peers.
pub(crate) trait FindPeers {
    /// # Safety
    ///
    /// The lanes in `members` arrive here, with the same `members`, and no others.
    unsafe fn find(members: u32, key: u32) -> u32;
}

/// By a loop of ballots.
pub(crate) struct Ballot;

impl FindPeers for Ballot {
    #[inline(always)]
    unsafe fn find(members: u32, key: u32) -> u32 {
        let mut peers = 0;
        let mut unclaimed = members;
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
}

/// By the instruction made for it.
pub(crate) struct Match;

impl FindPeers for Match {
    #[inline(always)]
    unsafe fn find(members: u32, key: u32) -> u32 {
        // SAFETY: the caller's contract.
        unsafe { warp_match_any(members, key) }
    }
}

/// # Safety
///
/// The lanes in `members` arrive here, with the same `members`, and no others; `peers` is the
/// calling lane's own mask.
#[inline(always)]
pub(crate) unsafe fn reduce_peers<T: Element, const N: usize>(
    members: u32,
    peers: u32,
    values: &mut [T; N],
) {
    let lane = lane_id();
    let rank = (peers & (!1 << lane)).count_ones();
    let mut below = peers & ((1 << lane) - 1);
    // SAFETY: the caller brings the members, in each step all of them.
    unsafe {
        for step in 0..WARP_SIZE.ilog2() {
            if !warp_vote_any(members, below != 0) {
                break;
            }
            let next = highest(below).min(lane);
            each::<N>(|a| {
                let (taken, _) = warp_shuffle_idx(members, values[a], next, WARP_SIZE);
                if below != 0 {
                    values[a] = T::combine(values[a], taken);
                }
            });
            below &= warp_vote_ballot(members, rank >> step & 1 == 0);
        }
    }
}

/// Does the same for each of the first `N` elements of an array.
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

/// Whether the calling lane is the last of its peers.
#[inline(always)]
pub(super) fn is_last(peers: u32) -> bool {
    highest(peers) == lane_id()
}

/// The highest lane of a mask.
#[inline(always)]
fn highest(lanes: u32) -> u32 {
    31u32.wrapping_sub(lanes.leading_zeros())
}
