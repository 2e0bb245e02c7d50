//! How often a block contains its largest element: two consecutive trees in the same scratch memory.

use cuda_std::atomic::AtomicU32;
use cuda_std::thread::{block_dim_x, block_idx_x, sync_threads, thread_idx_x};
use kernels_gpu::mem::{Global, Shared};

/// Stores in `output[block]` how many of the block's elements equal its maximum. Uses no counters.
///
/// # Safety
///
/// As [`Textbook`](super::Textbook).
pub unsafe fn kernel(input: Global<i32>, output: Global<i32>, _counters: &[AtomicU32]) {
    // SAFETY: the launch provides `threads + 2` elements.
    let scratch = unsafe { Shared::<i32>::dynamic() };
    let tid = thread_idx_x();
    let i = block_idx_x() as usize * block_dim_x() as usize + tid as usize;

    let value = (i < input.len()).then(|| input.get(i));
    let largest = everyone_gets(value.unwrap_or(i32::MIN), scratch, i32::max);
    // All threads must have the maximum before the scratch memory is reused.
    sync_threads();
    let count = everyone_gets((value == Some(largest)).into(), scratch, |a, b| a + b);
    if tid == 0 {
        output.set(block_idx_x() as usize, count);
    }
}

/// The block's combined value, in all of its threads.
fn everyone_gets(value: i32, scratch: Shared<i32>, combine: impl Fn(i32, i32) -> i32) -> i32 {
    let tid = thread_idx_x();
    scratch.set(tid, value);
    sync_threads();
    let mut s = block_dim_x() / 2;
    while s > 0 {
        if tid < s {
            scratch.set(tid, combine(scratch.get(tid), scratch.get(tid + s)));
        }
        // For the next step, or for the loads of the result.
        sync_threads();
        s /= 2;
    }
    scratch.get(0)
}
