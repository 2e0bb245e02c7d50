//! `keyed_ballot`, `keyed_match`: one atomic per key and warp.
//!
//! The lanes of a warp that hold the same key combine their values first, and one of them delivers
//! the result. That also removes the queue in front of an address: the lanes of a warp have
//! different ones.

use super::peers::{FindPeers, each, is_first, reduce_peers};
use super::{Key, Task, thread_in_grid, threads_in_grid};
use crate::element::Element;
use crate::op::AtomicOp;
use crate::warp::{FULL_MASK, WARP_SIZE};
use cuda_std::warp::lane_id;

/// Combines each value into its key's cell, the values of peers beforehand. `P` finds the peers,
/// once for all of the `ARRAYS` arrays of values.
///
/// # Safety
///
/// The launch is as [`keyed`](super) asks.
#[inline(always)]
pub unsafe fn keyed_warp<K: Key, T: Element, O, P: FindPeers, const ARRAYS: usize>(task: Task<K, T>)
where
    O: AtomicOp<T, Acc = T>,
{
    let n = task.keys.len();
    let lane = lane_id();
    // The same in all lanes of a warp, so that they go round the loop together.
    let mut first = thread_in_grid() - lane as usize;
    while first < n {
        let left = n - first;
        if left >= WARP_SIZE as usize {
            // SAFETY: all lanes of the warp are here.
            unsafe { combine_warp::<K, T, O, P, ARRAYS>(task, FULL_MASK, first + lane as usize) };
        } else if (lane as usize) < left {
            let members = (1 << left) - 1;
            // SAFETY: the lanes that have an element are here.
            unsafe { combine_warp::<K, T, O, P, ARRAYS>(task, members, first + lane as usize) };
        }
        first += threads_in_grid();
    }
}

/// Combines the elements of a warp, one per member; `i` is the calling lane's.
///
/// # Safety
///
/// The lanes in `members` arrive here, with the same `members`, and no others.
#[inline(always)]
unsafe fn combine_warp<K: Key, T: Element, O, P: FindPeers, const ARRAYS: usize>(
    task: Task<K, T>,
    members: u32,
    i: usize,
) where
    O: AtomicOp<T, Acc = T>,
{
    let (n, cells) = (task.keys.len(), task.cells.len() / ARRAYS);
    let key = task.keys.get(i);
    let mut values = [O::IDENTITY; ARRAYS];
    each::<ARRAYS>(|a| values[a] = task.values.get(a * n + i));
    // SAFETY: the caller brings the members.
    let peers = unsafe { P::find(members, key) };
    // SAFETY: the caller brings the members; the masks are theirs.
    unsafe { reduce_peers::<T, O, ARRAYS>(members, peers, &mut values) };
    if is_first(peers) {
        if key.cell() < cells {
            each::<ARRAYS>(|a| {
                let cell = a * cells + key.cell();
                task.cells.combine_atomic::<T, O>(cell, values[a]);
            });
        } else {
            task.reject(peers.count_ones());
        }
    }
}
