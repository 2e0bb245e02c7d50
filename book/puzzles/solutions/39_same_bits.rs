//! # 39 Floats: the same bits in every run: a solution

use cuda_std::shared_array;
use cuda_std::thread::{block_dim_x, block_idx_x, index_1d, sync_threads, thread_idx_x};
use kernels_gpu::mem::{Global, Shared};
use kernels_gpu::op::Sum;

pub fn same_bits(x: Global<f32>, partials: Global<f32>) {
    // SAFETY: the array has as many elements as the block has threads.
    let tile = unsafe { Shared::<f32>::new(shared_array![f32; 256]) };
    let tid = thread_idx_x();
    let value = x.get(index_1d() as usize);

    tile.set(tid, value);
    sync_threads();
    let mut s = block_dim_x() / 2;
    while s > 0 {
        if tid < s {
            tile.set(tid, tile.get(tid) + tile.get(tid + s));
        }
        sync_threads();
        s /= 2;
    }
    if tid == 0 {
        partials.set(block_idx_x() as usize, tile.get(0));
    }
}
