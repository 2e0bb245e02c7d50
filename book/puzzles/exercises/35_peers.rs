//! # 35 Peers: lanes with the same key (fill in)
//!
//! Peers are the lanes of a warp with the same key. Store in `y[i]` the mask of the peers of each lane, itself included.
//! Every thread has a key.
//!
//! One way is a loop. In each round a lane that has no group yet gives its key to all lanes, by
//! `warp_shuffle_idx(u32::MAX, key, lane, 32)`. The lanes with that key are a group, which a ballot finds.

use cuda_std::thread::index_1d;
use cuda_std::warp::{warp_shuffle_idx, warp_vote_ballot};
use kernels_gpu::mem::Global;

pub fn peers(keys: Global<u32>, y: Global<u32>) {
    let i = index_1d() as usize;
    let key = keys.get(i);
    let mut peers = 0;
    // The lanes without a group.
    let mut left = u32::MAX;
    // Your code here.
    y.set(i, peers);
}
