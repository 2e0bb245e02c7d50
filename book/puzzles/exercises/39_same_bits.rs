//! # 39 Floats: the same bits in every run (repair)
//!
//! Each addition of floats rounds, so a sum depends on the order of the additions. With atomics the order is that in which
//! threads arrive. Every run gives other bits. Let each block add in a fixed order. The partials may differ from the present
//! ones in the last bits.

use cuda_std::shared_array;
use cuda_std::thread::{block_dim_x, block_idx_x, index_1d, sync_threads, thread_idx_x};
use kernels_gpu::mem::{Global, Shared};
use kernels_gpu::op::Sum;

pub fn same_bits(x: Global<f32>, partials: Global<f32>) {
    // SAFETY: the array has as many elements as the block has threads.
    let tile = unsafe { Shared::<f32>::new(shared_array![f32; 256]) };
    let tid = thread_idx_x();
    let value = x.get(index_1d() as usize);

    if tid == 0 {
        tile.set(0, 0.0);
    }
    sync_threads();
    tile.combine_atomic::<f32, Sum>(Sum, 0, value);
    sync_threads();
    if tid == 0 {
        partials.set(block_idx_x() as usize, tile.get(0));
    }
}
