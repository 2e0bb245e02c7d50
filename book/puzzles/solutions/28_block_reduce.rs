//! # 28 The sum of a block by shuffles: a solution

use cuda_std::shared_array;
use cuda_std::thread::{block_idx_x, index_1d, sync_threads, thread_idx_x};
use cuda_std::warp::{lane_id, warp_shuffle_down};
use kernels_gpu::mem::{Global, Shared};

pub fn block_reduce(x: Global<i32>, partials: Global<i32>) {
    // SAFETY: the array has an element for each warp.
    let sums = unsafe { Shared::<i32>::new(shared_array![i32; 8]) };
    let (tid, lane) = (thread_idx_x(), lane_id());
    let i = index_1d() as usize;
    let value = warp_sum(if i < x.len() { x.get(i) } else { 0 });
    if lane == 0 {
        sums.set(tid / 32, value);
    }
    sync_threads();
    if tid < 32 {
        let sum = warp_sum(if tid < 8 { sums.get(tid) } else { 0 });
        if tid == 0 {
            partials.set(block_idx_x() as usize, sum);
        }
    }
}

/// The sum of the values of the warp, in lane 0. All 32 lanes must call it.
fn warp_sum(mut value: i32) -> i32 {
    let mut offset = 16;
    while offset > 0 {
        // SAFETY: all lanes of the warp arrive.
        value += unsafe { warp_shuffle_down(u32::MAX, value, offset, 32) }.0;
        offset /= 2;
    }
    value
}
