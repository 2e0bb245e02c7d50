//! Refused: has exited

use cuda_std::thread::index_1d;
use cuda_std::warp::{lane_id, warp_vote_ballot};
use kernels_gpu::mem::Global;

pub fn ballot(x: Global<i32>, y: Global<i32>) {
    let i = index_1d() as usize;
    let is_positive = i < x.len() && x.get(i) > 0;
    if is_positive {
        // SAFETY: none: only some lanes arrive.
        let positive = unsafe { warp_vote_ballot(u32::MAX, true) };
        if lane_id() == 0 {
            y.set(i / 32, positive.count_ones() as i32);
        }
    }
}
