//! One atomic per key and block: `kernels_gpu::keyed::bins`.

use super::Task;
use crate::sum::Element;
use core::sync::atomic::Ordering::Relaxed;
use cuda_std::atomic::mid;
use cuda_std::thread::{block_dim_x, block_idx_x, sync_threads, thread_idx_x};

/// Bins of a block.
pub(crate) const BINS: usize = 512;

/// Elements that a thread brings to a tile.
const PER_THREAD: usize = 4;

/// # Safety
///
/// `owners` and `bins` hold [`BINS`] elements each; the task is as its fields say; the launch is as
/// the original asks.
#[inline(always)]
pub(crate) unsafe fn keyed_bins<T: Element>(task: Task<T>, owners: *mut u32, bins: *mut T) {
    let (n, cells) = (task.keys_len, task.cells_len);
    let (tid, threads) = (thread_idx_x(), block_dim_x());
    let tile = threads as usize * PER_THREAD;
    let first = block_idx_x() as usize * tile;
    if first >= n {
        return;
    }
    // SAFETY: every access is in bounds; between two barriers everybody touches owners and bins
    // alike, and more than one atomically.
    unsafe {
        let mut keys = [u32::MAX; PER_THREAD];
        let mut values = [T::IDENTITY; PER_THREAD];
        for e in 0..PER_THREAD {
            let i = first + e * threads as usize + tid as usize;
            if i < n {
                keys[e] = *task.keys.add(i);
                values[e] = *task.values.add(i);
            }
        }
        let mut bin = tid;
        while bin < BINS as u32 {
            *owners.add(bin as usize) = u32::MAX;
            *bins.add(bin as usize) = T::IDENTITY;
            bin += threads;
        }
        sync_threads();

        let mut counts = [false; PER_THREAD];
        for e in 0..PER_THREAD {
            let i = first + e * threads as usize + tid as usize;
            counts[e] = i < n && (keys[e] as usize) < cells;
            if i < n && !counts[e] {
                task.reject(1);
            }
        }
        for e in 0..PER_THREAD {
            if counts[e] {
                let owner = owners.add(bin_of(keys[e]) as usize);
                mid::atomic_fetch_min_u32_block(owner, Relaxed, keys[e]);
            }
        }
        sync_threads();

        for e in 0..PER_THREAD {
            if counts[e] {
                let bin = bin_of(keys[e]) as usize;
                if *owners.add(bin) == keys[e] {
                    T::combine_atomic_block(bins.add(bin), values[e]);
                } else {
                    T::combine_atomic_device(task.cells.add(keys[e] as usize), values[e]);
                }
            }
        }
        sync_threads();

        let mut bin = tid;
        while bin < BINS as u32 {
            let cell = *owners.add(bin as usize) as usize;
            if cell < cells {
                T::combine_atomic_device(task.cells.add(cell), *bins.add(bin as usize));
            }
            bin += threads;
        }
    }
}

/// The bin of a key.
#[inline(always)]
fn bin_of(key: u32) -> u32 {
    key.wrapping_mul(0x9E37_79B1) >> (32 - BINS.ilog2())
}
