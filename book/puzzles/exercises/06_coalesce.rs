//! # 06 Coalescing: neighbours load neighbours (make cheaper)
//!
//! A warp is a group of 32 threads that run together; a thread's index in it is its lane. If the lanes of a warp load, the
//! memory delivers sectors of 32 bytes. Lanes with neighbouring addresses share sectors.
//!
//! Each thread copies four elements. The kernel is right, but its lanes are far apart: it needs four times as many sectors
//! as necessary. Give each thread other elements, so that in every step the lanes of a warp access neighbours. Each block
//! still copies the same part of the array.

use cuda_std::thread::{block_dim_x, block_idx_x, thread_idx_x};
use kernels_gpu::mem::Global;

pub fn coalesce(x: Global<i32>, y: Global<i32>) {
    let threads = block_dim_x() as usize;
    let start = 4 * block_idx_x() as usize * threads;
    let tid = thread_idx_x() as usize;
    for k in 0..4 {
        let i = start + 4 * tid + k;
        if i < x.len() {
            y.set(i, x.get(i));
        }
    }
}
