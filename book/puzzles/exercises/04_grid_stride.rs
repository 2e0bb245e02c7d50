//! # 04 Grid-stride loop: any number of threads (fill in)
//!
//! A kernel need not have a thread for each element. In a grid-stride loop a thread takes every `threads`-th element, where
//! `threads` is the number of threads of the whole grid. Then any grid is right for any length, and neighbouring threads
//! load neighbouring elements.
//!
//! Store `x[i] * x[i]` in `y[i]` for every element.

use cuda_std::thread::{block_dim_x, grid_dim_x, index_1d};
use kernels_gpu::mem::Global;

pub fn grid_stride(x: Global<i32>, y: Global<i32>) {
    let mut i = index_1d() as usize;
    let threads = (grid_dim_x() * block_dim_x()) as usize;
    // Your code here.
}
