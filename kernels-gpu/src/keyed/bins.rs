//! `keyed_bins`: one atomic per key and block, by a hash table in shared memory.
//!
//! A block brings a tile of elements. Each key has one bin that its hash names; of the keys that
//! share a bin the smallest gets it. Elements whose key has its bin are combined there, the others
//! go straight to global memory; then the bins go there.
//!
//! ```text
//! keys     7   3   7   9   3   7          hash: 7 and 9 -> bin 0, 3 -> bin 1
//! owners   bin 0: min(7, 9) = 7           bin 1: 3
//! bins     bin 0: three values of 7       bin 1: two values of 3
//! cells    9's value by itself, then one atomic for each bin
//! ```
//!
//! An atomic minimum decides who owns a bin: one instruction of shared memory for integers, with no
//! loop and no mark for "empty" that a key could collide with. A bin that nobody owns has the
//! greatest key there is; should that one name a cell, the identity is combined into it.

use super::{Key, Task};
use crate::element::Element;
use crate::mem::Shared;
use crate::op::{AtomicOp, Min, Op};
use cuda_std::thread::{block_dim_x, block_idx_x, sync_threads, thread_idx_x};

/// Bins of a block.
pub const BINS: usize = 512;

/// Elements that a thread brings to a tile.
pub const PER_THREAD: usize = 4;

/// Combines each value into its key's cell, those of a tile beforehand as far as they have bins.
///
/// `owners` and `bins`: [`BINS`] elements each.
///
/// # Safety
///
/// The launch is as [`keyed`](super) asks.
#[inline(always)]
pub unsafe fn keyed_bins<K: Key, T: Element, O: AtomicOp<T, Acc = T>>(
    op: O,
    task: Task<K, T>,
    owners: Shared<K>,
    bins: Shared<T>,
) where
    Min: AtomicOp<K, Acc = K>,
{
    let (n, cells) = (task.keys.len(), task.cells.len());
    let (tid, threads) = (thread_idx_x(), block_dim_x());
    let tile = threads as usize * PER_THREAD;
    let first = block_idx_x() as usize * tile;
    if first >= n {
        return;
    }
    // All loads are under way before the first is waited for.
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

    // Whether an element is there and has a cell.
    let mut counts = [false; PER_THREAD];
    for e in 0..PER_THREAD {
        let i = first + e * threads as usize + tid as usize;
        counts[e] = i < n && keys[e].cell() < cells;
        if i < n && !counts[e] {
            task.reject(1);
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
        if cell < cells {
            task.cells.combine_atomic::<T, O>(op, cell, bins.get(bin));
        }
        bin += threads;
    }
}

/// The bin of a key: the upper bits of its hash.
#[inline(always)]
fn bin_of<K: Key>(key: K) -> u32 {
    key.hash() >> (32 - BINS.ilog2())
}
