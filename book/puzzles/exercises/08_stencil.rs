//! # 08 Shared memory: load once, use three times (fill in)
//!
//! The threads of a block share a small, fast memory. `tile` below is an array in it, with an element for each of the 64
//! threads and one more on each side.
//!
//! Store `x[i - 1] + x[i] + x[i + 1]` in `y[i]`; elements outside of `x` count as 0. The budget is one load for each element,
//! and two more for each block: so load `x` into the tile first. `tile[1 + tid]` is already stored. `sync_threads()` waits for
//! all threads of the block.

use cuda_std::shared_array;
use cuda_std::thread::{block_dim_x, block_idx_x, sync_threads, thread_idx_x};
use kernels_gpu::mem::{Global, Shared};

pub fn stencil(x: Global<i32>, y: Global<i32>) {
    // SAFETY: the array has 66 elements.
    let tile = unsafe { Shared::<i32>::new(shared_array![i32; 66]) };
    let tid = thread_idx_x();
    let i = (block_idx_x() * block_dim_x() + tid) as usize;
    let load = |i: usize| if i < x.len() { x.get(i) } else { 0 };

    tile.set(1 + tid, load(i));
    // Your code here: the two ends of the tile, a barrier, and the sum.
}
