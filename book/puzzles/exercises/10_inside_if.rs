//! # 10 A barrier in a branch (repair)
//!
//! Subtract from each element the first element of its block. All threads of the block must reach a barrier, or none. Here
//! some threads of the last block never come. Repair it.

use cuda_std::shared_array;
use cuda_std::thread::{index_1d, sync_threads, thread_idx_x};
use kernels_gpu::mem::{Global, Shared};

pub fn inside_if(x: Global<i32>, y: Global<i32>) {
    // SAFETY: the array has one element.
    let first = unsafe { Shared::<i32>::new(shared_array![i32; 1]) };
    let i = index_1d() as usize;
    if i < x.len() {
        let value = x.get(i);
        if thread_idx_x() == 0 {
            first.set(0, value);
        }
        sync_threads();
        y.set(i, value - first.get(0));
    }
}
