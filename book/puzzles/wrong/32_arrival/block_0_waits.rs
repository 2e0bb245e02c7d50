//! Refused: livelock

use core::sync::atomic::Ordering::Relaxed;
use cuda_std::atomic::AtomicU32;
use cuda_std::shared_array;
use cuda_std::thread::{
    block_dim_x, block_idx_x, device_fence, grid_dim_x, index_1d, sync_threads, thread_idx_x,
};
use kernels_gpu::mem::{Global, Shared};

pub fn arrival(x: Global<i32>, partials: Global<i32>, sum: Global<i32>, counter: &AtomicU32) {
    // SAFETY: the array has as many elements as the block has threads.
    let tile = unsafe { Shared::<i32>::new(shared_array![i32; 256]) };
    // SAFETY: the array has one element.
    let is_last = unsafe { Shared::<u32>::new(shared_array![u32; 1]) };
    let (tid, block, blocks) = (thread_idx_x(), block_idx_x(), grid_dim_x());
    let i = index_1d() as usize;
    let partial = block_sum(if i < x.len() { x.get(i) } else { 0 }, tile);

    if tid == 0 {
        partials.set(block as usize, partial);
        device_fence();
        counter.fetch_add(1, Relaxed);
        while block == 0 && counter.load(Relaxed) != blocks {}
        device_fence();
        is_last.set(0, (block == 0).into());
    }
    sync_threads();
    if is_last.get(0) == 1 && tid == 0 {
        let mut all = 0;
        for b in 0..blocks {
            all += partials.get(b as usize);
        }
        sum.set(0, all);
    }
}

/// The sum of the values of the block, in every thread.
fn block_sum(value: i32, tile: Shared<i32>) -> i32 {
    let tid = thread_idx_x();
    tile.set(tid, value);
    sync_threads();
    let mut s = block_dim_x() / 2;
    while s > 0 {
        if tid < s {
            tile.set(tid, tile.get(tid) + tile.get(tid + s));
        }
        sync_threads();
        s /= 2;
    }
    tile.get(0)
}
