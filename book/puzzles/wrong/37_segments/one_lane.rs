//! Refused: load instructions of global memory

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
    if lane == 0 {
        let mut sum = 0;
        for i in offsets.get(segment)..offsets.get(segment + 1) {
            sum += x.get(i as usize);
        }
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
