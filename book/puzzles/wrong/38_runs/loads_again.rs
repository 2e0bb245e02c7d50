//! Refused: load instructions of global memory

use cuda_std::thread::index_1d;
use cuda_std::warp::{lane_id, warp_shuffle_up, warp_vote_ballot};
use kernels_gpu::mem::Global;

pub fn runs(keys: Global<u32>, x: Global<i32>, y: Global<i32>) {
    let i = index_1d() as usize;
    let (key, lane) = (keys.get(i), lane_id());
    let mut sum = x.get(i);
    let mut k = i;
    while k % 32 != 0 && keys.get(k - 1) == key {
        k -= 1;
        sum += x.get(k);
    }
    y.set(i, sum);
}
