//! # 01 Map: a thread for each element (fill in)
//!
//! A kernel is a function that every thread of a launch runs. The threads differ only by their index.
//!
//! The launch has as many threads as `x` has elements. Store `x[i] + 10` in `y[i]`, where `i` is the thread's index.
//! `x.get(i)` loads an element, `y.set(i, value)` stores one.

use cuda_std::thread::index_1d;
use kernels_gpu::mem::Global;

pub fn map(x: Global<i32>, y: Global<i32>) {
    // The thread's index in the whole launch.
    let i = index_1d() as usize;
    // Your code here.
}
