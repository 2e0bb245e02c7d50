//! # 03 Blocks: the index in the launch (repair)
//!
//! `thread_idx_x()` is the thread's index in its block, from 0. So thread 0 of every block has the same one. `block_idx_x()`
//! is the number of the block, and `block_dim_x()` the number of threads of a block.
//!
//! The kernel works for one block only. Repair it.

use cuda_std::thread::{block_dim_x, block_idx_x, thread_idx_x};
use kernels_gpu::mem::Global;

pub fn blocks(x: Global<i32>, y: Global<i32>) {
    let i = thread_idx_x() as usize;
    if i < x.len() {
        y.set(i, 2 * x.get(i));
    }
}
