//! # 14 The ladder, naive: an atomic for each element: a solution

use cuda_std::thread::index_1d;
use kernels_gpu::mem::Global;
use kernels_gpu::op::Sum;

pub fn naive(x: Global<i32>, sum: Global<i32>) {
    let i = index_1d() as usize;
    if i < x.len() {
        sum.combine_atomic::<i32, Sum>(Sum, 0, x.get(i));
    }
}
