//! # 09 A missing barrier (repair)
//!
//! Every block rotates its 128 elements by one: `y[i]` is the next element of the block, and its last thread takes the
//! first. The kernel often gives the right result, because the threads of a warp mostly run together. But nothing makes a
//! warp wait for another. Repair it.

use cuda_std::shared_array;
use cuda_std::thread::{block_dim_x, index_1d, sync_threads, thread_idx_x};
use kernels_gpu::mem::{Global, Shared};

pub fn barrier(x: Global<i32>, y: Global<i32>) {
    // SAFETY: the array has as many elements as the block has threads.
    let tile = unsafe { Shared::<i32>::new(shared_array![i32; 128]) };
    let tid = thread_idx_x();
    let i = index_1d() as usize;

    tile.set(tid, x.get(i));
    y.set(i, tile.get((tid + 1) % block_dim_x()));
}
