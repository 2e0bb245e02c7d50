//! # 05 Two dimensions: an image (fill in)
//!
//! A block may have two dimensions. Here it has 16 by 8 threads, and the grid covers an image of `columns` by `rows` pixels,
//! which are stored row by row. The last blocks of a row and of a column may reach past the image.
//!
//! Store three times each pixel of `x` in `y`.

use cuda_std::thread::{
    block_dim_x, block_dim_y, block_idx_x, block_idx_y, thread_idx_x, thread_idx_y,
};
use kernels_gpu::mem::Global;

pub fn two_dimensions(x: Global<i32>, y: Global<i32>, columns: u32, rows: u32) {
    let column = block_idx_x() * block_dim_x() + thread_idx_x();
    let row = block_idx_y() * block_dim_y() + thread_idx_y();
    // Your code here.
}
