//! Refused: sectors of global memory

use cuda_std::thread::{block_dim_x, grid_dim_x, index_1d};
use kernels_gpu::mem::Global;

pub fn grid_stride(x: Global<i32>, y: Global<i32>) {
    let mut i = index_1d() as usize;
    let threads = (grid_dim_x() * block_dim_x()) as usize;
    let part = x.len().div_ceil(threads);
    i *= part;
    let end = (i + part).min(x.len());
    while i < end {
        let value = x.get(i);
        y.set(i, value * value);
        i += 1;
    }
}
