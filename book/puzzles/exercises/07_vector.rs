//! # 07 Vectors: 16 bytes for each thread (make cheaper)
//!
//! A thread can load 16 bytes, four `i32`, by one instruction, if the address is a multiple of 16. A copy then needs a
//! quarter of the instructions.
//!
//! `x.vector::<4>(i)` loads the elements `i` to `i + 3`, and `y.set_vector::<4>(i, four)` stores them. Both arrays begin at a
//! multiple of 16 bytes. Copy with them; copy the last elements, if they are no whole vector, one by one.

use cuda_std::thread::index_1d;
use kernels_gpu::mem::Global;

pub fn vector(x: Global<i32>, y: Global<i32>) {
    let first = 4 * index_1d() as usize;
    for i in first..(first + 4).min(x.len()) {
        y.set(i, x.get(i));
    }
}
