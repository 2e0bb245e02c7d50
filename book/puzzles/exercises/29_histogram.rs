//! # 29 Counts: two threads, one cell (repair)
//!
//! Count how often each key occurs: `cells[key]`. The cells hold 0 before the launch. Threads with equal keys load the same
//! count, and one of the two additions is lost. Repair it.

use cuda_std::thread::index_1d;
use kernels_gpu::mem::Global;
use kernels_gpu::op::Sum;

pub fn histogram(keys: Global<u32>, cells: Global<u32>) {
    let i = index_1d() as usize;
    if i < keys.len() {
        let key = keys.get(i) as usize;
        cells.set(key, cells.get(key) + 1);
    }
}
