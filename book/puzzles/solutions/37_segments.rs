//! # 37 Segments: a warp for each: a solution

use cuda_std::thread::index_1d;
use cuda_std::warp::{lane_id, warp_shuffle_down};
use kernels_gpu::mem::Global;

pub fn segments(offsets: Global<u32>, x: Global<i32>, y: Global<i32>) {
    let segment = (index_1d() / 32) as usize;
    let lane = lane_id();
    if segment >= y.len() {
        // The whole warp leaves.
        return;
    }
    let (first, end) = (offsets.get(segment), offsets.get(segment + 1));
    let mut sum = 0;
    let mut i = first + lane;
    while i < end {
        sum += x.get(i as usize);
        i += 32;
    }
    let sum = warp_sum(sum);
    if lane == 0 {
        y.set(segment, sum);
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
