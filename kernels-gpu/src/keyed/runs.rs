//! `keyed_runs`: one atomic per warp and run of equal keys.
//!
//! If the elements are sorted by key, peers are adjacent and need no search. A thread loads four adjacent
//! elements, by wide loads, and combines those with the same key. Its *head* may continue the run of the lane
//! before; its *tail* may continue in the next lane. Only head and tail are exchanged in the warp, once for 128
//! elements:
//!
//! ```text
//! lane        0            1            2            3
//! keys        a  a  a  b   b  b  b  b   b  c  c  d   d  d  d  d
//! head        a            = tail       b            = tail
//! tail        b            b            d            d
//!                 combined into its cell by lane 2: c
//!
//! scan            b  ->     bb  ->  lane 2: combined with its head, then into the cell
//! ```
//!
//! A segmented scan combines the tails of the lanes of one run. The number of its steps depends on the longest
//! run; with random keys there are none. The result is right for any order of the keys, but equal keys that are
//! not adjacent are not combined before the atomics.
//!
//! Source: none of the posts. "Voting and Shuffling to Optimize Atomic Operations" (NVIDIA) searches peers in sorted keys,
//! too; here they need no search.

use super::{Task, WideKey, thread_in_grid};
use crate::element::{Element, Shuffle};
use crate::op::AtomicOp;
use crate::warp::{FULL_MASK, WARP_SIZE};
use cuda_std::warp::{lane_id, warp_shuffle_up, warp_vote_any, warp_vote_ballot};

/// The adjacent elements that a thread loads.
pub const PER_THREAD: usize = 4;

/// Combines each value into the cell of its key; adjacent values with the same key are combined first.
///
/// Four keys are one load, and the values are loads of 16 bytes, if both arrays start where such a load may.
///
/// # Safety
///
/// The launch meets the [requirements](super).
#[inline(always)]
pub unsafe fn keyed_runs<K: WideKey, T: Element, O: AtomicOp<T, Acc = T>>(op: O, task: Task<K, T>) {
    let n = task.keys.len();
    let vectors = match task.values.vectors_at() {
        Some((0, values)) if task.keys.starts_with_vector() => Some(values),
        _ => None,
    };
    let lane = lane_id() as usize;
    let tile = WARP_SIZE as usize * PER_THREAD;
    // The same in all lanes of a warp, so that all lanes return or none does.
    let first = (thread_in_grid() - lane) * PER_THREAD;
    if first < n {
        let i = first + lane * PER_THREAD;
        let (keys, values) = match vectors {
            Some(values) if first + tile <= n => {
                let vector = i / PER_THREAD;
                (task.keys.vector(vector), values.get(vector))
            }
            _ => elements::<K, T, O>(op, task, i),
        };
        let outside = |e: usize| ((i + e < n && keys[e].cell() >= task.below) as u32) << e;
        let outside = outside(0) | outside(1) | outside(2) | outside(3);
        if outside > 0 {
            let first = i + outside.trailing_zeros() as usize;
            task.rejected.add(outside.count_ones().into(), first);
        }
        // SAFETY: all lanes of the warp arrive here.
        unsafe { combine_warp::<K, T, O>(op, task, keys, values) };
    }
}

/// Loads the elements from `i` on, one by one. An element past the end is replaced by the last element's key
/// and the identity.
#[inline(always)]
fn elements<K: WideKey, T: Element, O: AtomicOp<T, Acc = T>>(
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

/// Combines the elements of a warp; each lane has the `PER_THREAD` elements after those of the lane before.
/// Elements whose key is out of range have been counted already.
///
/// # Safety
///
/// All lanes of the warp arrive here.
#[inline(always)]
unsafe fn combine_warp<K: WideKey, T: Element, O: AtomicOp<T, Acc = T>>(
    op: O,
    task: Task<K, T>,
    keys: [K; PER_THREAD],
    values: [T; PER_THREAD],
) {
    let combine_into_cell = |key: K, value: T| {
        if key.cell() < task.below {
            task.cells.combine_atomic::<T, O>(op, key.cell(), value);
        }
    };

    // The thread's own runs. As long as there is only one, it is head and tail.
    let (mut head, mut single) = (op.identity(), true);
    let (mut tail_key, mut tail) = (keys[0], values[0]);
    let mut append = |key: K, value: T| {
        if key == tail_key {
            tail = op.combine(tail, value);
        } else {
            if single {
                (head, single) = (tail, false);
            } else {
                combine_into_cell(tail_key, tail);
            }
            (tail_key, tail) = (key, value);
        }
    };
    // No loops over the arrays, because LLVM would keep them in local memory.
    append(keys[1], values[1]);
    append(keys[2], values[2]);
    append(keys[3], values[3]);

    let lane = lane_id();
    // SAFETY: the caller guarantees that all lanes arrive, in every step.
    unsafe {
        // Whether the head continues the tail of the lane before.
        let (key_before, is_there) = warp_shuffle_up(FULL_MASK, tail_key, 1, WARP_SIZE);
        let linked = is_there && key_before == keys[0];
        // The tails of consecutive lanes with a single, linked run belong to one run, together with the tail
        // before them.
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
            combine_into_cell(keys[0], head);
        }
        let links = warp_vote_ballot(FULL_MASK, linked);
        if links >> lane >> 1 & 1 == 0 {
            combine_into_cell(tail_key, tail);
        }
    }
}
