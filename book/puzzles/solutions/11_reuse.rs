//! # 11 A tile that is used twice: a solution

use cuda_std::shared_array;
use cuda_std::thread::{block_dim_x, block_idx_x, grid_dim_x, sync_threads, thread_idx_x};
use kernels_gpu::mem::{Global, Shared};

pub fn reuse(x: Global<i32>, y: Global<i32>) {
    // SAFETY: the array has as many elements as the block has threads.
    let tile = unsafe { Shared::<i32>::new(shared_array![i32; 64]) };
    let (tid, threads) = (thread_idx_x(), block_dim_x());
    let parts = x.len() as u32 / threads;

    let mut part = block_idx_x();
    while part < parts {
        let i = (part * threads + tid) as usize;
        tile.set(tid, x.get(i));
        sync_threads();
        y.set(i, tile.get(threads - 1 - tid));
        // All threads have loaded, before the next part is stored.
        sync_threads();
        part += grid_dim_x();
    }
}
