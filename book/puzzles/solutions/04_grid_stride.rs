//! # 04 Grid-stride loop: any number of threads: a solution

use cuda_std::thread::{block_dim_x, grid_dim_x, index_1d};
use kernels_gpu::mem::Global;

pub fn grid_stride(x: Global<i32>, y: Global<i32>) {
    let mut i = index_1d() as usize;
    let threads = (grid_dim_x() * block_dim_x()) as usize;
    while i < x.len() {
        y.set(i, x.get(i) * x.get(i));
        i += threads;
    }
}
