//! # 36 Sums by key: one atomic for each group (make cheaper)
//!
//! Add each value to the cell of its key. Lanes with the same key wait for each other at its cell. Add the values of each
//! group of peers first, and let one lane of the group add the sum. The budget is one atomic for each group.

use cuda_std::thread::index_1d;
use cuda_std::warp::{
    lane_id, warp_match_any, warp_shuffle_idx, warp_shuffle_xor, warp_vote_ballot,
};
use kernels_gpu::mem::Global;
use kernels_gpu::op::Sum;

pub fn sum_by_key(keys: Global<u32>, values: Global<i32>, cells: Global<i32>) {
    let i = index_1d() as usize;
    let (key, value) = (keys.get(i), values.get(i));
    cells.combine_atomic::<i32, Sum>(Sum, key as usize, value);
}
