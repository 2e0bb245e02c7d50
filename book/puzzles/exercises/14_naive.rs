//! # 14 The ladder, naive: an atomic for each element (fill in)
//!
//! Two threads that add to the same cell at the same time lose one of the additions: each loads, adds and stores. An atomic
//! does the three in one indivisible step: `sum.combine_atomic::<i32, Sum>(Sum, 0, value)` adds `value` to `sum[0]`.
//!
//! Add all elements to `sum[0]`, which holds 0 before the launch. The last block has threads without an element.

use cuda_std::thread::index_1d;
use kernels_gpu::mem::Global;
use kernels_gpu::op::Sum;

pub fn naive(x: Global<i32>, sum: Global<i32>) {
    let i = index_1d() as usize;
    // Your code here.
}
