//! `keyed_ballot`, `keyed_match`: one atomic per key and warp.
//!
//! The lanes of a warp that hold the same key combine their values first, and one of them delivers
//! the result. That also removes the queue in front of an address: the lanes of a warp have
//! different ones.

use super::peers::{FindPeers, each, is_last, reduce_peers};
use super::{Key, Task, thread_in_grid};
use crate::element::Element;
use crate::op::AtomicOp;
use crate::warp::FULL_MASK;
use cuda_std::warp::warp_vote_ballot;

/// Combines each value into its key's cell, the values of peers beforehand. `P` finds the peers,
/// once for all of the `ARRAYS` arrays of values.
///
/// # Safety
///
/// The launch is as [`keyed`](super) asks.
#[inline(always)]
pub unsafe fn keyed_warp<K: Key, T: Element, O, P: FindPeers, const ARRAYS: usize>(
    op: O,
    task: Task<K, T>,
) where
    O: AtomicOp<T, Acc = T>,
{
    let i = thread_in_grid();
    let (n, cells) = (task.keys.len(), task.cells.len() / ARRAYS);
    // Loaded before the ballot: behind it, ptxas lets the values' loads wait for the keys'.
    let mut values = [op.identity(); ARRAYS];
    let mut key = None;
    if i < n {
        key = Some(task.keys.get(i));
        each::<ARRAYS>(|a| values[a] = task.values.get(a * n + i));
    }
    // SAFETY: all lanes of the warp are here.
    let members = unsafe { warp_vote_ballot(FULL_MASK, i < n) };
    let Some(key) = key else { return };
    // SAFETY: the lanes that have an element are here, and no others.
    let peers = unsafe { P::find(members, key) };
    // Decided before the values are there, not after.
    let (delivers, has_cell) = (is_last(peers), key.cell() < cells);
    // SAFETY: the same lanes; the masks are theirs.
    unsafe { reduce_peers::<T, O, ARRAYS>(op, members, peers, &mut values) };
    if delivers {
        if has_cell {
            each::<ARRAYS>(|a| {
                let cell = a * cells + key.cell();
                task.cells.combine_atomic::<T, O>(op, cell, values[a]);
            });
        } else {
            task.reject(peers.count_ones());
        }
    }
}
