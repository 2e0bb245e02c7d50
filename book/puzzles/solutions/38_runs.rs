//! # 38 Segments by keys: a scan with restarts: a solution

use cuda_std::thread::index_1d;
use cuda_std::warp::{lane_id, warp_shuffle_up, warp_vote_ballot};
use kernels_gpu::mem::Global;

pub fn runs(keys: Global<u32>, x: Global<i32>, y: Global<i32>) {
    let i = index_1d() as usize;
    let (key, lane) = (keys.get(i), lane_id());
    let mut sum = x.get(i);
    // SAFETY: all lanes of the warp arrive.
    let (below, _) = unsafe { warp_shuffle_up(u32::MAX, key, 1, 32) };
    // SAFETY: as above.
    let starts = unsafe { warp_vote_ballot(u32::MAX, lane == 0 || key != below) };
    // The last start up to this lane.
    let start = 31 - (starts & (u32::MAX >> (31 - lane))).leading_zeros();
    let mut distance = 1;
    while distance < 32 {
        // SAFETY: as above.
        let (before, _) = unsafe { warp_shuffle_up(u32::MAX, sum, distance, 32) };
        if lane >= start + distance {
            sum += before;
        }
        distance *= 2;
    }
    y.set(i, sum);
}
