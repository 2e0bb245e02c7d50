//! Reduction by key: `kernels_gpu::keyed`, for keys of `u32`.

mod bins;
mod peers;
mod runs;

pub(crate) use bins::{BINS, keyed_bins};
pub(crate) use peers::{Ballot, Match};
pub(crate) use runs::keyed_runs;

use crate::sum::{ByCas, Element};
use crate::vector::hold_accesses;
use core::sync::atomic::Ordering::Relaxed;
use cuda_std::atomic::mid;
use cuda_std::thread::{block_dim_x, block_idx_x, thread_idx_x};
use cuda_std::warp::warp_vote_ballot;
use peers::{FindPeers, each, is_last, reduce_peers};

/// What a launch is given.
#[derive(Clone, Copy)]
pub(crate) struct Task<T> {
    pub(crate) keys: *const u32,
    pub(crate) keys_len: usize,
    pub(crate) values: *const T,
    pub(crate) values_len: usize,
    pub(crate) cells: *mut T,
    pub(crate) cells_len: usize,
    pub(crate) rejected: *mut u64,
}

impl<T: Element> Task<T> {
    /// # Safety
    ///
    /// Everybody touches cells and the count atomically.
    #[inline(always)]
    unsafe fn deliver(self, key: u32, value: T, elements: u32) {
        // SAFETY: the cell is in bounds; the caller's contract.
        unsafe {
            if (key as usize) < self.cells_len {
                T::combine_atomic_device(self.cells.add(key as usize), value);
            } else {
                self.reject(elements);
            }
        }
    }

    /// # Safety
    ///
    /// As [`deliver`](Self::deliver).
    #[inline(always)]
    unsafe fn reject(self, elements: u32) {
        // SAFETY: one count; the caller's contract.
        unsafe { mid::atomic_fetch_add_u64_device(self.rejected, Relaxed, elements as u64) };
    }
}

/// # Safety
///
/// The task is as its fields say; the launch is as the original asks.
#[inline(always)]
pub(crate) unsafe fn keyed_atomic<T: Element>(task: Task<T>) {
    let i = thread_in_grid();
    if i < task.keys_len {
        // SAFETY: `i` is in bounds.
        unsafe {
            let (key, value) = (*task.keys.add(i), *task.values.add(i));
            hold_accesses();
            task.deliver(key, value, 1);
        }
    }
}

/// # Safety
///
/// As [`keyed_atomic`].
#[inline(always)]
pub(crate) unsafe fn keyed_cas<T: ByCas>(task: Task<T>) {
    let i = thread_in_grid();
    if i < task.keys_len {
        // SAFETY: `i` is in bounds, and so is the cell.
        unsafe {
            let (key, value) = (*task.keys.add(i), *task.values.add(i));
            if (key as usize) < task.cells_len {
                T::combine_by_cas(task.cells.add(key as usize), value);
            } else {
                task.reject(1);
            }
        }
    }
}

/// # Safety
///
/// As [`keyed_atomic`].
#[inline(always)]
pub(crate) unsafe fn keyed_warp<T: Element, P: FindPeers, const ARRAYS: usize>(task: Task<T>) {
    let i = thread_in_grid();
    let (n, cells) = (task.keys_len, task.cells_len / ARRAYS);
    let mut values = [T::IDENTITY; ARRAYS];
    let mut key = None;
    // SAFETY: every access is in bounds; the lanes that have an element arrive where they are asked
    // to, and no others.
    unsafe {
        if i < n {
            key = Some(*task.keys.add(i));
            each::<ARRAYS>(|a| values[a] = *task.values.add(a * n + i));
        }
        let members = warp_vote_ballot(u32::MAX, i < n);
        let Some(key) = key else { return };
        let peers = P::find(members, key);
        let (delivers, has_cell) = (is_last(peers), (key as usize) < cells);
        reduce_peers::<T, ARRAYS>(members, peers, &mut values);
        if delivers {
            if has_cell {
                each::<ARRAYS>(|a| {
                    let cell = task.cells.add(a * cells + key as usize);
                    T::combine_atomic_device(cell, values[a]);
                });
            } else {
                task.reject(peers.count_ones());
            }
        }
    }
}

/// The number of this thread in its grid.
#[inline(always)]
fn thread_in_grid() -> usize {
    block_idx_x() as usize * block_dim_x() as usize + thread_idx_x() as usize
}
