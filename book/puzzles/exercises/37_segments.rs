//! # 37 Segments: a warp for each (fill in)
//!
//! Segment `s` of `x` is the elements from `offsets[s]` up to `offsets[s + 1]`, without the latter; it may be empty. Store
//! the sum of each segment in `y[s]`, with a warp for each: its lanes take neighbouring elements, 32 at a time, and then
//! combine their sums. The grid may have more warps than there are segments.
//!
//! `warp_sum` adds the values of a warp.

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
    // Your code here.
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
