//! # 20 The ladder, reduce_4: the last warp uses shuffles: a solution

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
    while s >= 32 {
        if tid < s {
            tile.set(tid, tile.get(tid) + tile.get(tid + s));
        }
        sync_threads();
        s /= 2;
    }
    if tid < 32 {
        let mut sum = tile.get(tid);
        let mut offset = 16;
        while offset > 0 {
            // SAFETY: all lanes of the first warp arrive.
            sum += unsafe { warp_shuffle_down(u32::MAX, sum, offset, 32) }.0;
            offset /= 2;
        }
        if tid == 0 {
            partials.set(block_idx_x() as usize, sum);
        }
    }
}
