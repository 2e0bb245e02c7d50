//! # 27 Ranks: positions from a mask: a solution

use cuda_std::thread::index_1d;
use cuda_std::warp::{lane_id, warp_vote_ballot};
use kernels_gpu::mem::Global;

pub fn compact(x: Global<i32>, y: Global<i32>) {
    let i = index_1d() as usize;
    let value = x.get(i);
    // SAFETY: all lanes of the warp arrive.
    let positive = unsafe { warp_vote_ballot(u32::MAX, value > 0) };
    let below = (1 << lane_id()) - 1;
    let rank = (positive & below).count_ones();
    if value > 0 {
        y.set(i / 32 * 32 + rank as usize, value);
    }
}
