//! Refused: not in the member mask

use cuda_std::thread::{block_dim_x, thread_idx_x};
use cuda_std::warp::{lane_id, warp_shuffle_down};
use kernels_gpu::mem::Global;

pub fn mask(x: Global<i32>, y: Global<i32>) {
    let tid = thread_idx_x();
    let warp = tid / 32;
    let mut value = x.get(tid as usize);
    let members = cuda_std::warp::activemask();
    let mut offset = 16;
    while offset > 0 {
        // SAFETY: none: the active lanes are not those that should take part.
        value += unsafe { warp_shuffle_down(members, value, offset, 32) }.0;
        offset /= 2;
    }
    if lane_id() == 0 {
        y.set(warp as usize, value);
    }
}
