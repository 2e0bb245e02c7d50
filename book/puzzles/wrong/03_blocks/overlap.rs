//! Refused: race in global memory

use cuda_std::thread::{block_dim_x, block_idx_x, thread_idx_x};
use kernels_gpu::mem::Global;

pub fn blocks(x: Global<i32>, y: Global<i32>) {
    let i = (block_idx_x() + thread_idx_x()) as usize;
    if i < x.len() {
        y.set(i, 2 * x.get(i));
    }
}
