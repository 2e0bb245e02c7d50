//! Refused: race in shared memory

use cuda_std::shared_array;
use cuda_std::thread::{block_dim_x, index_1d, sync_threads, thread_idx_x};
use kernels_gpu::mem::{Global, Shared};

pub fn barrier(x: Global<i32>, y: Global<i32>) {
    // SAFETY: the array has as many elements as the block has threads.
    let tile = unsafe { Shared::<i32>::new(shared_array![i32; 128]) };
    let tid = thread_idx_x();
    let i = index_1d() as usize;

    tile.set(tid, x.get(i));
    if tid < 64 {
        sync_threads();
    }
    y.set(i, tile.get((tid + 1) % block_dim_x()));
}
