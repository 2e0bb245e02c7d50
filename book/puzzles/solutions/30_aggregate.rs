//! # 30 One atomic for each warp: a solution

use cuda_std::thread::index_1d;
use cuda_std::warp::{lane_id, warp_vote_ballot};
use kernels_gpu::mem::Global;
use kernels_gpu::op::Sum;

pub fn aggregate(x: Global<i32>, count: Global<i32>) {
    let i = index_1d() as usize;
    let is_positive = i < x.len() && x.get(i) > 0;
    // SAFETY: all lanes of the warp arrive.
    let positive = unsafe { warp_vote_ballot(u32::MAX, is_positive) };
    if lane_id() == 0 && positive != 0 {
        count.combine_atomic::<i32, Sum>(Sum, 0, positive.count_ones() as i32);
    }
}
