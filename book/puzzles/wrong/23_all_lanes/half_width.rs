//! Refused: y is wrong

use cuda_std::thread::index_1d;
use cuda_std::warp::{warp_shuffle_down, warp_shuffle_xor};
use kernels_gpu::mem::Global;

pub fn all_lanes(x: Global<i32>, y: Global<i32>) {
    let i = index_1d() as usize;
    let mut largest = x.get(i);
    let mut step = 16;
    while step > 0 {
        // SAFETY: all lanes of the warp arrive.
        let (other, _) = unsafe { warp_shuffle_xor(u32::MAX, largest, step / 2, 32) };
        largest = largest.max(other);
        step /= 2;
    }
    y.set(i, x.get(i) - largest);
}
