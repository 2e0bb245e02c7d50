//! # 06 Coalescing: neighbours load neighbours: a solution

use cuda_std::thread::{block_dim_x, block_idx_x, thread_idx_x};
use kernels_gpu::mem::Global;

pub fn coalesce(x: Global<i32>, y: Global<i32>) {
    let threads = block_dim_x() as usize;
    let start = 4 * block_idx_x() as usize * threads;
    let tid = thread_idx_x() as usize;
    for k in 0..4 {
        let i = start + k * threads + tid;
        if i < x.len() {
            y.set(i, x.get(i));
        }
    }
}
