//! Refused: was never stored

use cuda_std::thread::index_1d;
use kernels_gpu::mem::Global;

pub fn vector(x: Global<i32>, y: Global<i32>) {
    let first = 4 * index_1d() as usize;
    if first + 4 <= x.len() {
        y.set_vector::<4>(first, x.vector::<4>(first));
    }
}
