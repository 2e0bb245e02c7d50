//! Refused: not in the member mask

use cuda_std::thread::{block_dim_x, thread_idx_x};
use cuda_std::warp::{lane_id, warp_shuffle_down};
use kernels_gpu::mem::Global;

pub fn mask(x: Global<i32>, y: Global<i32>) {
    let tid = thread_idx_x();
    let warp = tid / 32;
    let mut value = x.get(tid as usize);
    let lanes = (block_dim_x() - 32 * warp).min(32);
    let members = u32::MAX >> (32 - lanes);
    let mut offset = 16;
    while offset > 0 {
        // SAFETY: the members are the lanes of the warp, and all of them arrive.
        value += unsafe { warp_shuffle_down(members, value, offset, 32) }.0;
        offset /= 2;
    }
    if lane_id() == 0 {
        y.set(warp as usize, value);
    }
}
