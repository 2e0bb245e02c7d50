//! # 01 Map: a thread for each element: a solution

use cuda_std::thread::index_1d;
use kernels_gpu::mem::Global;

pub fn map(x: Global<i32>, y: Global<i32>) {
    // The thread's index in the whole launch.
    let i = index_1d() as usize;
    y.set(i, x.get(i) + 10);
}
