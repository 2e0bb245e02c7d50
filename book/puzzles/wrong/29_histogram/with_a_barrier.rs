//! Refused: waits at its block barrier

use cuda_std::thread::index_1d;
use kernels_gpu::mem::Global;
use kernels_gpu::op::Sum;

pub fn histogram(keys: Global<u32>, cells: Global<u32>) {
    let i = index_1d() as usize;
    if i < keys.len() {
        let key = keys.get(i) as usize;
        let count = cells.get(key);
        cuda_std::thread::sync_threads();
        cells.set(key, count + 1);
    }
}
