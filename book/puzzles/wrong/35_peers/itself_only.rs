//! Refused: y is wrong

use cuda_std::thread::index_1d;
use cuda_std::warp::{warp_shuffle_idx, warp_vote_ballot};
use kernels_gpu::mem::Global;

pub fn peers(keys: Global<u32>, y: Global<u32>) {
    let i = index_1d() as usize;
    let key = keys.get(i);
    let mut peers = 0;
    // The lanes without a group.
    let mut left = u32::MAX;
    peers = 1 << (i % 32);
    y.set(i, peers);
}
