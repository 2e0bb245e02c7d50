//! # 12 Memory that nobody wrote (repair)
//!
//! The sum of each block by a tree: in every step half as many threads add. Shared memory holds nothing at the start, not
//! even zeros. The last block has threads without an element, and the tree reads what they did not store. Repair it.

use cuda_std::shared_array;
use cuda_std::thread::{block_dim_x, block_idx_x, index_1d, sync_threads, thread_idx_x};
use kernels_gpu::mem::{Global, Shared};

pub fn uninitialised(x: Global<i32>, partials: Global<i32>) {
    // SAFETY: the array has as many elements as the block has threads.
    let tile = unsafe { Shared::<i32>::new(shared_array![i32; 256]) };
    let tid = thread_idx_x();
    let i = index_1d() as usize;

    if i < x.len() {
        tile.set(tid, x.get(i));
    }
    sync_threads();

    let mut s = block_dim_x() / 2;
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
