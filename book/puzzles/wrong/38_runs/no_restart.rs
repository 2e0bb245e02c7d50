//! Refused: y is wrong

use cuda_std::thread::index_1d;
use cuda_std::warp::{lane_id, warp_shuffle_up, warp_vote_ballot};
use kernels_gpu::mem::Global;

pub fn runs(keys: Global<u32>, x: Global<i32>, y: Global<i32>) {
    let i = index_1d() as usize;
    let (key, lane) = (keys.get(i), lane_id());
    let mut sum = x.get(i);
    let mut distance = 1;
    while distance < 32 {
        // SAFETY: all lanes of the warp arrive.
        let (before, _) = unsafe { warp_shuffle_up(u32::MAX, sum, distance, 32) };
        if lane >= distance {
            sum += before;
        }
        distance *= 2;
    }
    y.set(i, sum);
}
