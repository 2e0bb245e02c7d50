//! # 38 Segments by keys: a scan with restarts (fill in)
//!
//! Equal keys that follow each other are a run; a run ends with its warp. Store in `y[i]` the sum of the values of the run of
//! element `i`, from its start up to element `i`. This is a segmented scan. Every thread has an element.
//!
//! First find the start of each lane's run: a lane starts a run if its key differs from that of the lane below, or if it is
//! lane 0. Then, for `distance` = 1, 2, 4, 8, 16, each lane adds the sum of the lane `distance` below, if that lane is not before
//! the start. `warp_shuffle_up(u32::MAX, value, distance, 32)` returns the value of the lane `distance` below.

use cuda_std::thread::index_1d;
use cuda_std::warp::{lane_id, warp_shuffle_up, warp_vote_ballot};
use kernels_gpu::mem::Global;

pub fn runs(keys: Global<u32>, x: Global<i32>, y: Global<i32>) {
    let i = index_1d() as usize;
    let (key, lane) = (keys.get(i), lane_id());
    let mut sum = x.get(i);
    // Your code here.
    y.set(i, sum);
}
