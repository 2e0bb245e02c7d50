//! `keyed_ballot`, `keyed_match`: one atomic per warp and key.
//!
//! The lanes of a warp with the same key combine their values first, and one of them does the atomic. So the
//! atomics of a warp go to different addresses and do not wait for each other.
//!
//! Source: the post "Voting and Shuffling to Optimize Atomic Operations" (NVIDIA).

use super::peers::{FindPeers, each, highest, is_last, reduce_peers};
use super::{Task, WideKey, thread_in_grid};
use crate::element::Element;
use crate::op::AtomicOp;
use crate::warp::FULL_MASK;
use cuda_std::warp::warp_vote_ballot;

/// Combines each value into the cell of its key; the values of peers are combined first. `P` finds the peers,
/// once for all `ARRAYS` arrays of values.
///
/// # Safety
///
/// The launch meets the [requirements](super).
#[inline(always)]
pub unsafe fn keyed_warp<K: WideKey, T: Element, O, P: FindPeers, const ARRAYS: usize>(
    op: O,
    task: Task<K, T>,
) where
    O: AtomicOp<T, Acc = T>,
{
    let i = thread_in_grid();
    let (n, cells) = (task.keys.len(), task.cells.len() / ARRAYS);
    // Loaded before the ballot; after it, ptxas would delay the loads of the values until the keys have
    // arrived.
    let mut values = [op.identity(); ARRAYS];
    let mut key = None;
    if i < n {
        key = Some(task.keys.get(i));
        each::<ARRAYS>(|a| values[a] = task.values.get(a * n + i));
    }
    // SAFETY: all lanes of the warp arrive here.
    let members = unsafe { warp_vote_ballot(FULL_MASK, i < n) };
    let Some(key) = key else { return };
    // SAFETY: exactly the lanes with an element arrive here.
    let peers = unsafe { P::find(members, key) };
    // Computed while the values are still being loaded.
    let (holds_result, has_cell) = (is_last(peers), key.cell() < task.below);
    // SAFETY: the same lanes, with their own masks.
    unsafe { reduce_peers::<T, O, ARRAYS>(op, members, peers, &mut values) };
    if holds_result {
        if has_cell {
            each::<ARRAYS>(|a| {
                let cell = a * cells + key.cell();
                task.cells.combine_atomic::<T, O>(op, cell, values[a]);
            });
        } else {
            // This is the last peer; the smallest index is that of the first.
            let distance = highest(peers) - peers.trailing_zeros();
            task.rejected
                .add(peers.count_ones().into(), i - distance as usize);
        }
    }
}
