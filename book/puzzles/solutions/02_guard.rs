//! # 02 Guard: more threads than elements: a solution

use cuda_std::thread::index_1d;
use kernels_gpu::mem::Global;

pub fn guard(x: Global<i32>, y: Global<i32>) {
    let i = index_1d() as usize;
    if i < x.len() {
        y.set(i, 2 * x.get(i));
    }
}
