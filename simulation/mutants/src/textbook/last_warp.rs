//! A sum for each block, whose last 32 values one warp adds in shared memory. Older code used `volatile` for
//! this; since lanes of a warp can diverge, it requires `sync_warp`.

use cuda_std::atomic::AtomicU32;
use cuda_std::thread::{block_dim_x, block_idx_x, sync_threads, thread_idx_x};
use cuda_std::warp::sync_warp;
use kernels_gpu::mem::{Global, Shared};

/// Stores the sum of the block's elements in `output[block]`. Uses no counters.
///
/// # Safety
///
/// As [`Textbook`](super::Textbook).
pub unsafe fn kernel(input: Global<i32>, output: Global<i32>, _counters: &[AtomicU32]) {
    // SAFETY: the launch provides `threads + 2` elements.
    let scratch = unsafe { Shared::<i32>::dynamic() };
    let (tid, threads) = (thread_idx_x(), block_dim_x());
    let i = block_idx_x() as usize * threads as usize + tid as usize;

    scratch.set(tid, if i < input.len() { input.get(i) } else { 0 });
    sync_threads();

    let mut s = threads / 2;
    while s > 32 {
        if tid < s {
            scratch.set(tid, scratch.get(tid).wrapping_add(scratch.get(tid + s)));
        }
        sync_threads();
        s /= 2;
    }

    // 64 values are left.
    if tid < 32 {
        let mut sum = scratch.get(tid);
        while s > 0 {
            sum = sum.wrapping_add(scratch.get(tid + s));
            // All loads must precede the next store.
            // SAFETY: all lanes of the first warp are here.
            unsafe { sync_warp(u32::MAX) };
            scratch.set(tid, sum);
            // All stores must precede the next load.
            // SAFETY: all lanes of the first warp are here.
            unsafe { sync_warp(u32::MAX) };
            s /= 2;
        }
        if tid == 0 {
            output.set(block_idx_x() as usize, sum);
        }
    }
}
