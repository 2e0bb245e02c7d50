//! A whole reduction in one launch: `kernels_gpu::{single_pass, grid}`.

use crate::kepler::{block_reduce, grid_stride};
use crate::sum::{Element, WARP_SIZE, reduce_down};
use crate::vector::hold_accesses;
use core::sync::atomic::Ordering::AcqRel;
use cuda_std::atomic::mid::atomic_fetch_add_u32_device;
use cuda_std::thread::{block_idx_x, grid_dim_x, thread_idx_x};
use cuda_std::warp::{sync_warp, warp_shuffle_idx};

/// Partials that a lane has under way at once.
const IN_FLIGHT: usize = 4;

/// # Safety
///
/// `len` elements at `input`, a partial per block, one count and one result; the launch is as the
/// original asks.
#[inline(always)]
#[expect(
    clippy::needless_range_loop,
    reason = "as the original, whose compiler keeps arrays under iterators in local memory"
)]
pub(crate) unsafe fn single_pass<T: Element, const N: usize>(
    input: *const T,
    len: usize,
    partials: *mut T,
    arrivals: *mut u32,
    result: *mut T,
    scratch: *mut T,
) {
    let (tid, blocks) = (thread_idx_x(), grid_dim_x());
    // SAFETY: the launch is this function's own, and all threads of the block are here.
    unsafe {
        let partial = block_reduce(grid_stride::<T, N>(input, len), scratch);
        if blocks == 1 {
            if tid == 0 {
                *result = partial;
            }
            return;
        }

        if tid >= WARP_SIZE {
            return;
        }
        let mut arrived = 0;
        if tid == 0 {
            *partials.add(block_idx_x() as usize) = partial;
            arrived = atomic_fetch_add_u32_device(arrivals, AcqRel, 1);
        }
        let (arrived, _) = warp_shuffle_idx(u32::MAX, arrived, 0, WARP_SIZE);
        if arrived != blocks - 1 {
            return;
        }
        sync_warp(u32::MAX);

        let mut value = T::IDENTITY;
        let mut block = tid;
        while block < blocks {
            let mut loaded = [T::IDENTITY; IN_FLIGHT];
            for k in 0..IN_FLIGHT {
                let other = block + k as u32 * WARP_SIZE;
                if other < blocks {
                    loaded[k] = *partials.add(other as usize);
                }
            }
            hold_accesses();
            for k in 0..IN_FLIGHT {
                value = T::combine(value, loaded[k]);
            }
            block += IN_FLIGHT as u32 * WARP_SIZE;
        }
        let total = reduce_down(value);
        if tid == 0 {
            *result = total;
            *arrivals = 0;
        }
    }
}
