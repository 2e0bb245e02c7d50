//! Refused: other bits

use cuda_std::shared_array;
use cuda_std::thread::{block_dim_x, block_idx_x, index_1d, sync_threads, thread_idx_x};
use kernels_gpu::mem::{Global, Shared};
use kernels_gpu::op::Sum;

pub fn same_bits(x: Global<f32>, partials: Global<f32>) {
    // SAFETY: the array has as many elements as the block has threads.
    let tile = unsafe { Shared::<f32>::new(shared_array![f32; 256]) };
    let tid = thread_idx_x();
    let value = x.get(index_1d() as usize);

    // SAFETY: all lanes of the warp arrive.
    let sum = unsafe { kernels_gpu::warp::reduce_down::<f32, Sum>(Sum, value) };
    if tid == 0 {
        tile.set(0, 0.0);
    }
    sync_threads();
    if tid % 32 == 0 {
        tile.combine_atomic::<f32, Sum>(Sum, 0, sum);
    }
    sync_threads();
    if tid == 0 {
        partials.set(block_idx_x() as usize, tile.get(0));
    }
}
