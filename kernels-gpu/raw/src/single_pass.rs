//! A whole reduction in one launch: `kernels_gpu::{single_pass, grid, mem::partials}`.

use crate::kepler::{block_reduce, grid_stride};
use crate::sum::{Element, WARP_SIZE, reduce_down};
use core::mem::MaybeUninit;
use core::sync::atomic::Ordering::Relaxed;
use cuda_std::atomic::mid::{
    atomic_fetch_inc_u32_device, atomic_load_64_device, atomic_store_64_device,
};
use cuda_std::thread::{block_idx_x, grid_dim_x, thread_idx_x};
use cuda_std::warp::warp_shuffle_idx;

/// Partials that a lane has in flight.
const IN_FLIGHT: usize = 4;

/// In a word of a partial: its half is there.
const LEFT: u64 = 1 << 32;

/// Halves of the widest partial.
const MOST_HALVES: usize = 2;

/// # Safety
///
/// `len` elements at `input`, a word for each half of a partial of each block, one arrival counter and one result;
/// the launch is as the original asks.
#[inline(always)]
#[expect(
    clippy::needless_range_loop,
    reason = "as the original, whose compiler keeps arrays under iterators in local memory"
)]
pub(crate) unsafe fn single_pass<T: Element, const N: usize>(
    input: *const T,
    len: usize,
    partials: *mut u64,
    arrivals: *mut u32,
    result: *mut T,
    scratch: *mut T,
) {
    let (tid, own, blocks) = (thread_idx_x(), block_idx_x(), grid_dim_x());
    let halves = size_of::<T>() / size_of::<u32>();
    let place = |block: u32, half: usize| partials.wrapping_add(block as usize * halves + half);
    // SAFETY: the launch is this function's own, and all threads of the block are here.
    unsafe {
        let mut arrival = 0;
        if tid == 0 && blocks > 1 {
            arrival = atomic_fetch_inc_u32_device(arrivals, Relaxed, blocks - 1);
        }
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
        if tid == 0 {
            let bits = (&raw const partial).cast::<u32>();
            for half in 0..halves {
                let word = LEFT | u64::from(bits.add(half).read_unaligned());
                atomic_store_64_device(place(own, half), Relaxed, word);
            }
        }
        let (arrival, _) = warp_shuffle_idx(u32::MAX, arrival, 0, WARP_SIZE);
        if arrival != blocks - 1 {
            return;
        }

        let mut value = T::IDENTITY;
        let mut first = tid;
        while first < blocks {
            let block = |k: usize| first + k as u32 * WARP_SIZE;
            let mut words = [[LEFT; MOST_HALVES]; IN_FLIGHT];
            loop {
                for k in 0..IN_FLIGHT {
                    if block(k) < blocks {
                        for half in 0..halves {
                            words[k][half] = atomic_load_64_device(place(block(k), half), Relaxed);
                        }
                    }
                }
                let mut found = LEFT;
                for k in 0..IN_FLIGHT {
                    for half in 0..halves {
                        found &= words[k][half];
                    }
                }
                if found != 0 {
                    break;
                }
            }
            for k in 0..IN_FLIGHT {
                if block(k) < blocks {
                    let mut taken = MaybeUninit::<T>::uninit();
                    let bits = taken.as_mut_ptr().cast::<u32>();
                    for half in 0..halves {
                        atomic_store_64_device(place(block(k), half), Relaxed, 0);
                        bits.add(half).write_unaligned(words[k][half] as u32);
                    }
                    value = T::combine(value, taken.assume_init());
                }
            }
            first += IN_FLIGHT as u32 * WARP_SIZE;
        }
        let total = reduce_down(value);
        if tid == 0 {
            *result = total;
        }
    }
}
