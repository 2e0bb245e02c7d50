//! # 02 Guard: more threads than elements (repair)
//!
//! A launch consists of blocks of equal size, here 64 threads. If the length is not a multiple of 64, the last block has
//! threads without an element.
//!
//! The kernel below loads and stores outside the arrays. Repair it.

use cuda_std::thread::index_1d;
use kernels_gpu::mem::Global;

pub fn guard(x: Global<i32>, y: Global<i32>) {
    let i = index_1d() as usize;
    y.set(i, 2 * x.get(i));
}
