//! # 22 Shuffles: the sum of a warp (fill in)
//!
//! A warp can reduce its 32 values without shared memory: in the step with `offset` = 16, 8, 4, 2, 1 each lane adds the value
//! of the lane `offset` further on. After five steps lane 0 has the sum.
//!
//! Store the sum of each warp in `y[warp]`. Every thread has an element. `warp_shuffle_down(u32::MAX, value, offset, 32)` returns
//! a pair: the other lane's value, and whether there is such a lane. It is `unsafe`, because all lanes of the mask must arrive.

use cuda_std::thread::index_1d;
use cuda_std::warp::{lane_id, warp_shuffle_down};
use kernels_gpu::mem::Global;

pub fn shuffle(x: Global<i32>, y: Global<i32>) {
    let i = index_1d() as usize;
    let mut value = x.get(i);
    // Your code here.
    if lane_id() == 0 {
        y.set(i / 32, value);
    }
}
