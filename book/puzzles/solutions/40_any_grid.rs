//! # 40 Floats: the same bits for any grid: a solution

use cuda_std::shared_array;
use cuda_std::thread::{block_dim_x, block_idx_x, grid_dim_x, sync_threads, thread_idx_x};
use kernels_gpu::mem::{Global, Shared};

pub fn any_grid(x: Global<f32>, partials: Global<f32>) {
    // SAFETY: the array has as many elements as the block has threads.
    let scratch = unsafe { Shared::<f32>::new(shared_array![f32; 128]) };
    let tid = thread_idx_x();
    let tiles = x.len().div_ceil(128);
    let mut tile = block_idx_x() as usize;
    while tile < tiles {
        let i = 128 * tile + tid as usize;
        let sum = block_sum(if i < x.len() { x.get(i) } else { 0.0 }, scratch);
        if tid == 0 {
            partials.set(tile, sum);
        }
        // All threads have the sum, before the next one is computed.
        sync_threads();
        tile += grid_dim_x() as usize;
    }
}

/// The sum of the values of the block, in every thread.
fn block_sum(value: f32, scratch: Shared<f32>) -> f32 {
    let tid = thread_idx_x();
    scratch.set(tid, value);
    sync_threads();
    let mut s = block_dim_x() / 2;
    while s > 0 {
        if tid < s {
            scratch.set(tid, scratch.get(tid) + scratch.get(tid + s));
        }
        sync_threads();
        s /= 2;
    }
    scratch.get(0)
}
