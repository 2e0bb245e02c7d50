//! Sums of each element and its two neighbours, from a tile in shared memory with a halo.

use cuda_std::atomic::AtomicU32;
use cuda_std::thread::{block_dim_x, block_idx_x, sync_threads, thread_idx_x};
use kernels_gpu::mem::{Global, Shared};

/// Stores `input[i - 1] + input[i] + input[i + 1]` in `output[i]`, with 0 for missing elements. Uses no
/// counters.
///
/// # Safety
///
/// As [`Textbook`](super::Textbook).
pub unsafe fn kernel(input: Global<i32>, output: Global<i32>, _counters: &[AtomicU32]) {
    // SAFETY: the launch provides `threads + 2` elements.
    let tile = unsafe { Shared::<i32>::dynamic() };
    let (tid, threads) = (thread_idx_x(), block_dim_x());
    let i = block_idx_x() as usize * threads as usize + tid as usize;
    let element = |i: usize| if i < input.len() { input.get(i) } else { 0 };

    // tile[1 + t] is thread t's element; tile[0] and tile[1 + threads] are the halo.
    tile.set(1 + tid, element(i));
    if tid == 0 {
        tile.set(0, if i > 0 { element(i - 1) } else { 0 });
    }
    if tid == threads - 1 {
        tile.set(1 + threads, element(i + 1));
    }
    sync_threads();

    if i < input.len() {
        let (left, right) = (tile.get(tid), tile.get(tid + 2));
        output.set(i, left.wrapping_add(tile.get(1 + tid)).wrapping_add(right));
    }
}
