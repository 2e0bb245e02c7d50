//! Refused: was never written

use cuda_std::shared_array;
use cuda_std::thread::{block_dim_x, block_idx_x, sync_threads, thread_idx_x};
use kernels_gpu::mem::{Global, Shared};

pub fn idle(x: Global<i32>, partials: Global<i32>) {
    // SAFETY: the array has as many elements as the block has threads.
    let tile = unsafe { Shared::<i32>::new(shared_array![i32; 256]) };
    let (tid, threads) = (thread_idx_x(), block_dim_x());
    let first = (2 * block_idx_x() * threads + tid) as usize;

    if first < x.len() {
        tile.set(tid, x.get(first));
    }
    if first + (threads as usize) < x.len() {
        tile.set(tid, tile.get(tid) + x.get(first + threads as usize));
    }
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
