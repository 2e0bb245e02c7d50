//! Refused: loads of single elements

use cuda_std::shared_array;
use cuda_std::thread::{block_dim_x, block_idx_x, sync_threads, thread_idx_x};
use kernels_gpu::mem::{Global, Shared};

pub fn stencil(x: Global<i32>, y: Global<i32>) {
    // SAFETY: the array has 66 elements.
    let tile = unsafe { Shared::<i32>::new(shared_array![i32; 66]) };
    let tid = thread_idx_x();
    let i = (block_idx_x() * block_dim_x() + tid) as usize;
    let load = |i: usize| if i < x.len() { x.get(i) } else { 0 };

    tile.set(1 + tid, load(i));
    if i < x.len() {
        let left = if i > 0 { load(i - 1) } else { 0 };
        y.set(i, left + load(i) + load(i + 1));
    }
}
