//! # 11 A tile that is used twice (repair)
//!
//! A block reverses several parts of 64 elements, one after the other, through the same tile. There is a barrier between the
//! stores to the tile and the loads from it. One more is missing. Repair it.

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
        part += grid_dim_x();
    }
}
