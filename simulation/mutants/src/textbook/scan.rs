//! The prefix sum of all elements in one launch: each block waits for the previous one.

use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use cuda_std::atomic::AtomicU32;
use cuda_std::thread::{block_dim_x, sync_threads, thread_idx_x};
use kernels_gpu::mem::{Global, Shared};

/// Stores the sum of `input[0..=i]` in `output[i]`. The first counter numbers the blocks in the order in
/// which they start, so that a block only waits for a block that has started. It is followed by a flag for
/// each block, which is set when the block's sums are stored.
///
/// # Safety
///
/// As [`Textbook`](super::Textbook).
pub unsafe fn kernel(input: Global<i32>, output: Global<i32>, counters: &[AtomicU32]) {
    // SAFETY: the launch provides `threads + 2` elements.
    let scratch = unsafe { Shared::<i32>::dynamic() };
    let (tid, threads) = (thread_idx_x(), block_dim_x());
    let (number, before) = (threads, threads + 1);

    if tid == 0 {
        scratch.set(number, counters[0].fetch_add(1, Relaxed) as i32);
    }
    sync_threads();
    let block = scratch.get(number) as usize;
    let first = block * threads as usize;
    let i = first + tid as usize;

    let sum = block_scan(if i < input.len() { input.get(i) } else { 0 }, scratch);
    if tid == 0 {
        let mut sum_before = 0;
        if block > 0 {
            while counters[block].load(Acquire) == 0 {}
            sum_before = output.get(first - 1);
        }
        scratch.set(before, sum_before);
    }
    sync_threads();
    if i < input.len() {
        output.set(i, scratch.get(before).wrapping_add(sum));
    }
    // All sums of the block must be stored before the flag is set.
    sync_threads();
    if tid == 0 {
        counters[1 + block].store(1, Release);
    }
}

/// The sum of the block's values up to the thread's own.
fn block_scan(mut sum: i32, scratch: Shared<i32>) -> i32 {
    let tid = thread_idx_x();
    let mut distance = 1;
    while distance < block_dim_x() {
        scratch.set(tid, sum);
        sync_threads();
        if tid >= distance {
            sum = sum.wrapping_add(scratch.get(tid - distance));
        }
        // All loads must precede the next store.
        sync_threads();
        distance *= 2;
    }
    sum
}
