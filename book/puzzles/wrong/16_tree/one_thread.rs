//! Refused: instructions on shared memory

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
    if tid == 0 {
        let mut sum = 0;
        for k in 0..threads {
            sum += tile.get(k);
        }
        partials.set(block_idx_x() as usize, sum);
    }
}
