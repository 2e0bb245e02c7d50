//! # 32 One launch: the last block adds the partials (fill in)
//!
//! Blocks do not wait for each other. But the block that arrives last can add the partials of all: each block stores its
//! partial and then counts itself in `counter`, which holds 0 before the launch. `counter.fetch_add(1, Relaxed)` returns the
//! count before. Only the last block gets the number of blocks less one.
//!
//! An atomic orders no other accesses. `device_fence()` does, for its own thread: what is stored before a fence is visible to
//! who loads after a fence and has seen the count.
//!
//! Thread 0 stores the partial; `is_last` tells the other threads of its block what it found. Fill in what thread 0 does, and
//! let thread 0 of the last block store the sum of all partials in `sum[0]`.

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
        // Your code here: the partial, the count, and `is_last`.
    }
    sync_threads();
    if is_last.get(0) == 1 && tid == 0 {
        // Your code here: the sum of the partials.
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
