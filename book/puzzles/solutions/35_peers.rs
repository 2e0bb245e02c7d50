//! # 35 Peers: lanes with the same key: a solution

use cuda_std::thread::index_1d;
use cuda_std::warp::{warp_shuffle_idx, warp_vote_ballot};
use kernels_gpu::mem::Global;

pub fn peers(keys: Global<u32>, y: Global<u32>) {
    let i = index_1d() as usize;
    let key = keys.get(i);
    let mut peers = 0;
    // The lanes without a group.
    let mut left = u32::MAX;
    while left != 0 {
        let first = left.trailing_zeros();
        // SAFETY: `left` is the same in all lanes, so all lanes of the warp arrive.
        let (reference, _) = unsafe { warp_shuffle_idx(u32::MAX, key, first, 32) };
        // SAFETY: as above.
        let group = unsafe { warp_vote_ballot(u32::MAX, key == reference) };
        if key == reference {
            peers = group;
        }
        left &= !group;
    }
    y.set(i, peers);
}
