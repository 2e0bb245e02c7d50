//! Refused: load instructions of global memory

use cuda_std::thread::index_1d;
use cuda_std::warp::{lane_id, warp_shuffle_down};
use kernels_gpu::mem::Global;

pub fn shuffle(x: Global<i32>, y: Global<i32>) {
    let i = index_1d() as usize;
    let mut value = x.get(i);
    if lane_id() == 0 {
        for k in 1..32 {
            value += x.get(i + k);
        }
    }
    if lane_id() == 0 {
        y.set(i / 32, value);
    }
}
