//! # 36 Sums by key: one atomic for each group: a solution

use cuda_std::thread::index_1d;
use cuda_std::warp::{
    lane_id, warp_match_any, warp_shuffle_idx, warp_shuffle_xor, warp_vote_ballot,
};
use kernels_gpu::mem::Global;
use kernels_gpu::op::Sum;

pub fn sum_by_key(keys: Global<u32>, values: Global<i32>, cells: Global<i32>) {
    let i = index_1d() as usize;
    let (key, value) = (keys.get(i), values.get(i));
    let mut left = u32::MAX;
    while left != 0 {
        let first = left.trailing_zeros();
        // SAFETY: `left` is the same in all lanes, so all lanes of the warp arrive.
        let (reference, _) = unsafe { warp_shuffle_idx(u32::MAX, key, first, 32) };
        // SAFETY: as above.
        let group = unsafe { warp_vote_ballot(u32::MAX, key == reference) };
        let mut sum = if key == reference { value } else { 0 };
        let mut step = 16;
        while step > 0 {
            // SAFETY: as above.
            sum += unsafe { warp_shuffle_xor(u32::MAX, sum, step, 32) }.0;
            step /= 2;
        }
        if lane_id() == first {
            cells.combine_atomic::<i32, Sum>(Sum, key as usize, sum);
        }
        left &= !group;
    }
}
