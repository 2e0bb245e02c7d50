//! # 40 Floats: the same bits for any grid (repair)
//!
//! A library chooses the grid by the GPU. If a block adds all of its elements, the bits depend on the number of blocks. So cut
//! the array into tiles of 128 elements, whatever the grid is, and store the sum of tile `t` in `partials[t]`: which block
//! takes which tile is then of no interest. Repair the kernel, which stores one partial for each block.

use cuda_std::shared_array;
use cuda_std::thread::{block_dim_x, block_idx_x, grid_dim_x, sync_threads, thread_idx_x};
use kernels_gpu::mem::{Global, Shared};

pub fn any_grid(x: Global<f32>, partials: Global<f32>) {
    // SAFETY: the array has as many elements as the block has threads.
    let scratch = unsafe { Shared::<f32>::new(shared_array![f32; 128]) };
    let tid = thread_idx_x();
    let tiles = x.len().div_ceil(128);
    let mut tile = block_idx_x() as usize;
    let mut sum = 0.0;
    while tile < tiles {
        let i = 128 * tile + tid as usize;
        if i < x.len() {
            sum += x.get(i);
        }
        tile += grid_dim_x() as usize;
    }
    let sum = block_sum(sum, scratch);
    if tid == 0 && (block_idx_x() as usize) < tiles {
        partials.set(block_idx_x() as usize, sum);
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
