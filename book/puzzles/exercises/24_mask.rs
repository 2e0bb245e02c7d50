//! # 24 Member masks: a warp that is not full (repair)
//!
//! The block is one whose last warp has fewer than 32 lanes: 16, 8 or 1. The first parameter of a shuffle is its member mask:
//! bit `i` stands for lane `i`. All lanes of the mask must call the shuffle. A lane that does not exist never does.
//!
//! Store the sum of each warp in `y[warp]`. Repair the mask, and the steps: a lane must not read a lane outside the mask. The
//! number of lanes is a power of two, so `width`, the last parameter, can be that number.

use cuda_std::thread::{block_dim_x, thread_idx_x};
use cuda_std::warp::{lane_id, warp_shuffle_down};
use kernels_gpu::mem::Global;

pub fn mask(x: Global<i32>, y: Global<i32>) {
    let tid = thread_idx_x();
    let warp = tid / 32;
    let mut value = x.get(tid as usize);
    let mut offset = 16;
    while offset > 0 {
        // SAFETY: none: the last warp has no 32 lanes.
        value += unsafe { warp_shuffle_down(u32::MAX, value, offset, 32) }.0;
        offset /= 2;
    }
    if lane_id() == 0 {
        y.set(warp as usize, value);
    }
}
