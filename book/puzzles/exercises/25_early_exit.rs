//! # 25 An early exit (repair)
//!
//! Threads without an element return at once. That is fine in a map. Here the other lanes of their warp wait for them in a
//! shuffle; since Volta every thread has its own place in the program, and nothing brings them back. Repair it.

use cuda_std::thread::index_1d;
use cuda_std::warp::{lane_id, warp_shuffle_down};
use kernels_gpu::mem::Global;

pub fn early_exit(x: Global<i32>, y: Global<i32>) {
    let i = index_1d() as usize;
    if i >= x.len() {
        return;
    }
    let mut value = x.get(i);
    let mut offset = 16;
    while offset > 0 {
        // SAFETY: all lanes of the warp arrive.
        value += unsafe { warp_shuffle_down(u32::MAX, value, offset, 32) }.0;
        offset /= 2;
    }
    if lane_id() == 0 && i / 32 < y.len() {
        y.set(i / 32, value);
    }
}
