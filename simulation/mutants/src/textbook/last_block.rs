//! The sum in one launch: the last block to arrive adds all partials.

use core::sync::atomic::Ordering::Relaxed;
use cuda_std::atomic::AtomicU32;
use cuda_std::thread::{
    block_dim_x, block_idx_x, device_fence, grid_dim_x, sync_threads, thread_idx_x,
};
use kernels_gpu::mem::{Global, Shared};

/// Stores the sum in `output[0]`, and after it a partial of each block. Uses one counter.
///
/// # Safety
///
/// As [`Textbook`](super::Textbook).
pub unsafe fn kernel(input: Global<i32>, output: Global<i32>, counters: &[AtomicU32]) {
    // SAFETY: the launch provides `threads + 2` elements.
    let scratch = unsafe { Shared::<i32>::dynamic() };
    let (tid, threads) = (thread_idx_x(), block_dim_x());
    let (block, blocks) = (block_idx_x(), grid_dim_x());
    let i = block as usize * threads as usize + tid as usize;

    let loaded = if i < input.len() { input.get(i) } else { 0 };
    let sum = block_sum(loaded, scratch);
    if tid == 0 {
        output.set(1 + block as usize, sum);
        // The count must not be visible before the partial.
        device_fence();
        let before = counters[0].fetch_add(1, Relaxed);
        // Orders the loads of the partials after the count.
        device_fence();
        scratch.set(threads, (before + 1 == blocks).into());
    }
    sync_threads();
    if scratch.get(threads) == 0 {
        return;
    }

    let mut sum = 0i32;
    let mut b = tid;
    while b < blocks {
        sum = sum.wrapping_add(output.get(1 + b as usize));
        b += threads;
    }
    let sum = block_sum(sum, scratch);
    if tid == 0 {
        output.set(0, sum);
    }
}

/// The sum of the block's values, in thread 0.
fn block_sum(value: i32, scratch: Shared<i32>) -> i32 {
    let tid = thread_idx_x();
    scratch.set(tid, value);
    sync_threads();
    let mut s = block_dim_x() / 2;
    while s > 0 {
        if tid < s {
            scratch.set(tid, scratch.get(tid).wrapping_add(scratch.get(tid + s)));
        }
        sync_threads();
        s /= 2;
    }
    scratch.get(0)
}
