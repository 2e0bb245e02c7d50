//! # 05 Two dimensions: an image: a solution

use cuda_std::thread::{
    block_dim_x, block_dim_y, block_idx_x, block_idx_y, thread_idx_x, thread_idx_y,
};
use kernels_gpu::mem::Global;

pub fn two_dimensions(x: Global<i32>, y: Global<i32>, columns: u32, rows: u32) {
    let column = block_idx_x() * block_dim_x() + thread_idx_x();
    let row = block_idx_y() * block_dim_y() + thread_idx_y();
    if column < columns && row < rows {
        let i = (row * columns + column) as usize;
        y.set(i, 3 * x.get(i));
    }
}
