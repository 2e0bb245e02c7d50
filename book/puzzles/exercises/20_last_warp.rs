//! # 20 The ladder, reduce_4: the last warp uses shuffles (make cheaper)
//!
//! When 32 values are left, one warp finishes alone, but the whole block still waits at every barrier. A shuffle lets a lane
//! read a register of another lane, without memory and without a barrier:
//! `warp_shuffle_down(u32::MAX, value, offset, 32)` returns the value of the lane `offset` further on, and whether there is one.
//!
//! Stop the tree when 32 values are left, and let the first warp finish by shuffles with the offsets 16, 8, 4, 2 and 1. All
//! 32 lanes of the warp must call each shuffle, which is why it is `unsafe`. The budget is four barriers for each block.

use cuda_std::shared_array;
use cuda_std::thread::{block_dim_x, block_idx_x, index_1d, sync_threads, thread_idx_x};
use cuda_std::warp::warp_shuffle_down;
use kernels_gpu::mem::{Global, Shared};

pub fn last_warp(x: Global<i32>, partials: Global<i32>) {
    // SAFETY: the array has as many elements as the block has threads.
    let tile = unsafe { Shared::<i32>::new(shared_array![i32; 256]) };
    let (tid, threads) = (thread_idx_x(), block_dim_x());
    let i = index_1d() as usize;

    tile.set(tid, if i < x.len() { x.get(i) } else { 0 });
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
