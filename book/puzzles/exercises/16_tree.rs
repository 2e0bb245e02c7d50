//! # 16 The ladder, reduce_0: a tree (fill in)
//!
//! A tree needs no atomics. Each thread stores its element in shared memory. In the step with distance `s` every `2 * s`-th
//! thread adds the element `s` further on to its own:
//!
//!     s = 1      0+1  .  2+3  .  4+5  .  6+7  .
//!     s = 2      0..3 .   .   .  4..7 .   .   .
//!     s = 4      0..7 .   .   .   .   .   .   .
//!
//! Then `tile[0]` is the sum of the block, its partial. Write the loop over `s` = 1, 2, 4, ... below the number of threads,
//! and store the partial in `partials[block]`.

use cuda_std::shared_array;
use cuda_std::thread::{block_dim_x, block_idx_x, index_1d, sync_threads, thread_idx_x};
use kernels_gpu::mem::{Global, Shared};

pub fn tree(x: Global<i32>, partials: Global<i32>) {
    // SAFETY: the array has as many elements as the block has threads.
    let tile = unsafe { Shared::<i32>::new(shared_array![i32; 256]) };
    let (tid, threads) = (thread_idx_x(), block_dim_x());
    let i = index_1d() as usize;

    tile.set(tid, if i < x.len() { x.get(i) } else { 0 });
    sync_threads();
    // Your code here.
}
