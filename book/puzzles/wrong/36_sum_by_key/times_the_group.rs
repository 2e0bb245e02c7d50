//! Refused: cells is wrong

use cuda_std::thread::index_1d;
use cuda_std::warp::{
    lane_id, warp_match_any, warp_shuffle_idx, warp_shuffle_xor, warp_vote_ballot,
};
use kernels_gpu::mem::Global;
use kernels_gpu::op::Sum;

pub fn sum_by_key(keys: Global<u32>, values: Global<i32>, cells: Global<i32>) {
    let i = index_1d() as usize;
    let (key, value) = (keys.get(i), values.get(i));
    // SAFETY: all lanes of the warp arrive.
    let peers = unsafe { warp_match_any(u32::MAX, key) };
    if lane_id() == peers.trailing_zeros() {
        cells.combine_atomic::<i32, Sum>(Sum, key as usize, value * peers.count_ones() as i32);
    }
}
