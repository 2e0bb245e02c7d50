//! # 18 The ladder, reduce_2: neighbouring addresses (make cheaper)
//!
//! Now adjacent threads work, but their addresses are `2 * s` apart: for `s` = 16 all lanes of a warp need one bank.
//!
//! Halve the tile in each step instead: with `s` = 128, 64, ..., 1 the first `s` threads add the element `s` further on. The
//! lanes then access neighbouring words.

use cuda_std::shared_array;
use cuda_std::thread::{block_dim_x, block_idx_x, index_1d, sync_threads, thread_idx_x};
use kernels_gpu::mem::{Global, Shared};

pub fn conflicts(x: Global<i32>, partials: Global<i32>) {
    // SAFETY: the array has as many elements as the block has threads.
    let tile = unsafe { Shared::<i32>::new(shared_array![i32; 256]) };
    let (tid, threads) = (thread_idx_x(), block_dim_x());
    let i = index_1d() as usize;

    tile.set(tid, if i < x.len() { x.get(i) } else { 0 });
    sync_threads();

    let mut s = 1;
    while s < threads {
        let at = 2 * s * tid;
        if at < threads {
            tile.set(at, tile.get(at) + tile.get(at + s));
        }
        sync_threads();
        s *= 2;
    }
    if tid == 0 {
        partials.set(block_idx_x() as usize, tile.get(0));
    }
}
