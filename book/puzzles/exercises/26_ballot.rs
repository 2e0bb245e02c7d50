//! # 26 Ballots: count by a vote (fill in)
//!
//! `warp_vote_ballot(u32::MAX, condition)` asks all lanes at once. Every lane gets a mask with a bit for each lane whose
//! condition holds. `count_ones()` counts the bits of a mask.
//!
//! Store in `y[warp]` how many elements of the warp are positive. A thread without an element has none. The budget is one
//! vote for each warp, and no shuffle.

use cuda_std::thread::index_1d;
use cuda_std::warp::{lane_id, warp_vote_ballot};
use kernels_gpu::mem::Global;

pub fn ballot(x: Global<i32>, y: Global<i32>) {
    let i = index_1d() as usize;
    let is_positive = i < x.len() && x.get(i) > 0;
    // Your code here.
}
