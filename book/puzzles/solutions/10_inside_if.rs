//! # 10 A barrier in a branch: a solution

use cuda_std::shared_array;
use cuda_std::thread::{index_1d, sync_threads, thread_idx_x};
use kernels_gpu::mem::{Global, Shared};

pub fn inside_if(x: Global<i32>, y: Global<i32>) {
    // SAFETY: the array has one element.
    let first = unsafe { Shared::<i32>::new(shared_array![i32; 1]) };
    let i = index_1d() as usize;
    let value = if i < x.len() { x.get(i) } else { 0 };
    if thread_idx_x() == 0 {
        first.set(0, value);
    }
    sync_threads();
    if i < x.len() {
        y.set(i, value - first.get(0));
    }
}
