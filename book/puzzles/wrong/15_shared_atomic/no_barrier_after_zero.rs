//! Refused: race in shared memory

use cuda_std::shared_array;
use cuda_std::thread::{index_1d, sync_threads, thread_idx_x};
use kernels_gpu::mem::{Global, Shared};
use kernels_gpu::op::Sum;

pub fn shared_atomic(x: Global<i32>, sum: Global<i32>) {
    // SAFETY: the array has one element.
    let cell = unsafe { Shared::<i32>::new(shared_array![i32; 1]) };
    let i = index_1d() as usize;
    if thread_idx_x() == 0 {
        cell.set(0, 0);
    }
    if i < x.len() {
        cell.combine_atomic::<i32, Sum>(Sum, 0, x.get(i));
    }
    sync_threads();
    if thread_idx_x() == 0 {
        sum.combine_atomic::<i32, Sum>(Sum, 0, cell.get(0));
    }
}
