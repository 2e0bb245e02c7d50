//! `keyed_runs`: one atomic per run of equal keys and warp.
//!
//! Where elements are sorted by key, peers need no search: they stand side by side. A thread brings
//! four neighbours, by wide loads, and combines those of the same key. What is left are its *head*,
//! which may go on from the lane before, and its *tail*, which may go on in the next lane; only
//! these concern the warp, once for 128 elements:
//!
//! ```text
//! lane        0            1            2            3
//! keys        a  a  a  b   b  b  b  b   b  c  c  d   d  d  d  d
//! head        a            = tail       b            = tail
//! tail        b            b            d            d
//!                 delivered inside of lane 2: c
//!
//! scan            b  ->     bb  ->  the head of 2: delivered there
//! ```
//!
//! A segmented scan adds up the tails of lanes that are of one run; it takes as many steps as the
//! longest run asks for, none with random keys. All orders of keys give the right answer; but keys
//! that are equal and apart are not combined.

use super::{Key, Task, thread_in_grid};
use crate::element::{Element, Shuffle};
use crate::op::AtomicOp;
use crate::warp::{FULL_MASK, WARP_SIZE};
use cuda_std::warp::{lane_id, warp_shuffle_up, warp_vote_any, warp_vote_ballot};

/// Neighbours that a thread brings.
pub const PER_THREAD: usize = 4;

/// Combines each value into its key's cell, neighbours of the same key beforehand.
///
/// Loads are 16 bytes wide where keys and values both begin at a multiple of 16 bytes.
///
/// # Safety
///
/// The launch is as [`keyed`](super) asks.
#[inline(always)]
pub unsafe fn keyed_runs<K: Key, T: Element, O: AtomicOp<T, Acc = T>>(op: O, task: Task<K, T>) {
    let n = task.keys.len();
    let vectors = match (task.keys.vectors_at(), task.values.vectors_at()) {
        (Some((0, keys)), Some((0, values))) => Some((keys, values)),
        _ => None,
    };
    let lane = lane_id() as usize;
    let tile = WARP_SIZE as usize * PER_THREAD;
    // The same in all lanes of a warp, so that they stay or leave together.
    let first = (thread_in_grid() - lane) * PER_THREAD;
    if first < n {
        let i = first + lane * PER_THREAD;
        let (keys, values) = match vectors {
            Some((keys, values)) if first + tile <= n => {
                (keys.get(i / PER_THREAD), values.get(i / PER_THREAD))
            }
            _ => elements::<K, T, O>(op, task, i),
        };
        let outside = |e: usize| (i + e < n && keys[e].cell() >= task.cells.len()) as u32;
        let outside = outside(0) + outside(1) + outside(2) + outside(3);
        if outside > 0 {
            task.reject(outside);
        }
        // SAFETY: all lanes of the warp are here.
        unsafe { combine_warp::<K, T, O>(op, task, keys, values) };
    }
}

/// The elements from `i` on, one by one. Behind the last one it stands for those that are not
/// there, with values that change nothing.
#[inline(always)]
fn elements<K: Key, T: Element, O: AtomicOp<T, Acc = T>>(
    op: O,
    task: Task<K, T>,
    i: usize,
) -> ([K; PER_THREAD], [T; PER_THREAD]) {
    let last = task.keys.len() - 1;
    let key = |e: usize| task.keys.get((i + e).min(last));
    let value = |e: usize| {
        if i + e <= last {
            task.values.get(i + e)
        } else {
            op.identity()
        }
    };
    (
        [key(0), key(1), key(2), key(3)],
        [value(0), value(1), value(2), value(3)],
    )
}

/// Combines the elements of a warp, of each lane the `PER_THREAD` that follow those of the lane
/// before. Elements without a cell have been counted.
///
/// # Safety
///
/// All lanes of the warp arrive here.
#[inline(always)]
unsafe fn combine_warp<K: Key, T: Element, O: AtomicOp<T, Acc = T>>(
    op: O,
    task: Task<K, T>,
    keys: [K; PER_THREAD],
    values: [T; PER_THREAD],
) {
    let deliver = |key: K, value: T| {
        if key.cell() < task.cells.len() {
            task.cells.combine_atomic::<T, O>(op, key.cell(), value);
        }
    };

    // The thread's own runs. While there is but one, it is head and tail.
    let (mut head, mut single) = (op.identity(), true);
    let (mut tail_key, mut tail) = (keys[0], values[0]);
    let mut append = |key: K, value: T| {
        if key == tail_key {
            tail = op.combine(tail, value);
        } else {
            if single {
                (head, single) = (tail, false);
            } else {
                deliver(tail_key, tail);
            }
            (tail_key, tail) = (key, value);
        }
    };
    // No loops over the arrays: LLVM would keep them in local memory.
    append(keys[1], values[1]);
    append(keys[2], values[2]);
    append(keys[3], values[3]);

    let lane = lane_id();
    // SAFETY: the caller brings all lanes, in every step.
    unsafe {
        // Whether the head goes on from the tail of the lane before.
        let (key_before, is_there) = warp_shuffle_up(FULL_MASK, tail_key, 1, WARP_SIZE);
        let linked = is_there && key_before == keys[0];
        // The tails of a row of single, linked lanes are one run with the tail before the row.
        let starts = warp_vote_ballot(FULL_MASK, !(linked && single));
        let start = 31 - (starts & (!0 >> (31 - lane))).leading_zeros();
        let mut distance = 1;
        while warp_vote_any(FULL_MASK, distance <= lane - start) {
            let below = tail.shuffle(FULL_MASK, Shuffle::Up(distance));
            if distance <= lane - start {
                tail = op.combine(below, tail);
            }
            distance *= 2;
        }

        let before = tail.shuffle(FULL_MASK, Shuffle::Up(1));
        if !single {
            let head = if linked {
                op.combine(before, head)
            } else {
                head
            };
            deliver(keys[0], head);
        }
        let links = warp_vote_ballot(FULL_MASK, linked);
        if links >> lane >> 1 & 1 == 0 {
            deliver(tail_key, tail);
        }
    }
}
