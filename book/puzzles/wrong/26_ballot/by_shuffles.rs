//! Refused: shuffles

use cuda_std::thread::index_1d;
use cuda_std::warp::{lane_id, warp_vote_ballot};
use kernels_gpu::mem::Global;

pub fn ballot(x: Global<i32>, y: Global<i32>) {
    let i = index_1d() as usize;
    let is_positive = i < x.len() && x.get(i) > 0;
    let mut count = is_positive as i32;
    let mut offset = 16;
    while offset > 0 {
        // SAFETY: all lanes of the warp arrive.
        count += unsafe { cuda_std::warp::warp_shuffle_down(u32::MAX, count, offset, 32) }.0;
        offset /= 2;
    }
    if lane_id() == 0 && i / 32 < y.len() {
        y.set(i / 32, count);
    }
}
