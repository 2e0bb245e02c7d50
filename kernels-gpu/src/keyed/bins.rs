//! `keyed_bins`: one atomic per key and block, with a hash table in shared memory.
//!
//! A block loads a tile of elements. The hash of a key selects one bin; if several keys select the same bin,
//! the smallest key owns it. Elements whose key owns a bin are combined in the bin. The others are combined
//! directly into global memory. At the end the bins are combined into global memory.
//!
//! ```text
//! keys     7   3   7   9   3   7          hash: 7 and 9 -> bin 0, 3 -> bin 1
//! owners   bin 0: min(7, 9) = 7           bin 1: 3
//! bins     bin 0: three values of 7       bin 1: two values of 3
//! cells    one atomic for 9's value, then one for each bin
//! ```
//!
//! An atomic minimum determines the owner of a bin: one instruction on shared memory for integers, without a
//! loop and without a reserved key for an empty bin. An unused bin has the greatest key as its owner. If this
//! key is in range, the identity is combined into its cell.
//!
//! Source: the post "Voting and Shuffling to Optimize Atomic Operations" (NVIDIA).

use super::{Task, WideKey};
use crate::element::Element;
use crate::mem::Shared;
use crate::op::{AtomicOp, Min, Op};
use cuda_std::thread::{block_dim_x, block_idx_x, sync_threads, thread_idx_x};

/// The bins of a block.
pub const BINS: usize = 512;

/// The elements of a tile that each thread loads.
pub const PER_THREAD: usize = 4;

/// Combines each value into the cell of its key; the values of a tile whose key owns a bin are combined there
/// first.
///
/// `owners` and `bins` have [`BINS`] elements each.
///
/// # Safety
///
/// The launch meets the [requirements](super).
#[inline(always)]
pub unsafe fn keyed_bins<K: WideKey, T: Element, O: AtomicOp<T, Acc = T>>(
    op: O,
    task: Task<K, T>,
    owners: Shared<K>,
    bins: Shared<T>,
) where
    Min: AtomicOp<K, Acc = K>,
{
    let (n, below) = (task.keys.len(), task.below);
    let (tid, threads) = (thread_idx_x(), block_dim_x());
    let tile = threads as usize * PER_THREAD;
    let first = block_idx_x() as usize * tile;
    if first >= n {
        return;
    }
    // All loads are in flight before the first result is used.
    let mut keys = [<Min as Op<K>>::identity(&Min); PER_THREAD];
    let mut values = [op.identity(); PER_THREAD];
    for e in 0..PER_THREAD {
        let i = first + e * threads as usize + tid as usize;
        if i < n {
            keys[e] = task.keys.get(i);
            values[e] = task.values.get(i);
        }
    }
    let mut bin = tid;
    while bin < BINS as u32 {
        owners.set(bin, <Min as Op<K>>::identity(&Min));
        bins.set(bin, op.identity());
        bin += threads;
    }
    // Every bin is empty.
    sync_threads();

    // Whether the element exists and its key is in range.
    let mut counts = [false; PER_THREAD];
    for e in 0..PER_THREAD {
        let i = first + e * threads as usize + tid as usize;
        counts[e] = i < n && keys[e].cell() < below;
        if i < n && !counts[e] {
            task.rejected.add(1, i);
        }
    }
    for e in 0..PER_THREAD {
        if counts[e] {
            owners.combine_atomic::<K, Min>(Min, bin_of(keys[e]), keys[e]);
        }
    }
    // Every bin has its owner.
    sync_threads();

    for e in 0..PER_THREAD {
        if counts[e] {
            let bin = bin_of(keys[e]);
            if owners.get(bin) == keys[e] {
                bins.combine_atomic::<T, O>(op, bin, values[e]);
            } else {
                task.cells
                    .combine_atomic::<T, O>(op, keys[e].cell(), values[e]);
            }
        }
    }
    // Every bin has its values.
    sync_threads();

    let mut bin = tid;
    while bin < BINS as u32 {
        let cell = owners.get(bin).cell();
        if cell < below {
            task.cells.combine_atomic::<T, O>(op, cell, bins.get(bin));
        }
        bin += threads;
    }
}

/// The bin of a key: the upper bits of its hash.
#[inline(always)]
fn bin_of<K: WideKey>(key: K) -> u32 {
    key.hash() >> (32 - BINS.ilog2())
}
