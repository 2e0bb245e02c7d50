//! # 19 The ladder, reduce_3: two elements for each thread (fill in)
//!
//! In the first step of the tree half of the threads have nothing to do. So let a block take twice as many elements: each
//! thread adds two of them while it loads, and the tree stays as it is. The grid has half as many blocks now.
//!
//! Block `b` takes the elements from `2 * b * threads` on. Load the two elements of each thread so that the lanes of a warp
//! load neighbours: the second one is `threads` further on. (The kernel of the book takes it from another place.) Either of the
//! two may be past the end.

use cuda_std::shared_array;
use cuda_std::thread::{block_dim_x, block_idx_x, sync_threads, thread_idx_x};
use kernels_gpu::mem::{Global, Shared};

pub fn idle(x: Global<i32>, partials: Global<i32>) {
    // SAFETY: the array has as many elements as the block has threads.
    let tile = unsafe { Shared::<i32>::new(shared_array![i32; 256]) };
    let (tid, threads) = (thread_idx_x(), block_dim_x());
    let first = (2 * block_idx_x() * threads + tid) as usize;

    // The second element is missing.
    tile.set(tid, if first < x.len() { x.get(first) } else { 0 });
    sync_threads();

    let mut s = threads / 2;
    while s > 0 {
        if tid < s {
            tile.set(tid, tile.get(tid) + tile.get(tid + s));
        }
        sync_threads();
        s /= 2;
    }
    if tid == 0 {
        partials.set(block_idx_x() as usize, tile.get(0));
    }
}
