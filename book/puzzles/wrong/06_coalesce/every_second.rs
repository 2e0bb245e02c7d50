//! Refused: sectors of global memory

use cuda_std::thread::{block_dim_x, block_idx_x, thread_idx_x};
use kernels_gpu::mem::Global;

pub fn coalesce(x: Global<i32>, y: Global<i32>) {
    let threads = block_dim_x() as usize;
    let start = 4 * block_idx_x() as usize * threads;
    let tid = thread_idx_x() as usize;
    for k in 0..4 {
        let i = start + (k / 2) * 2 * threads + 2 * tid + k % 2;
        if i < x.len() {
            y.set(i, x.get(i));
        }
    }
}
