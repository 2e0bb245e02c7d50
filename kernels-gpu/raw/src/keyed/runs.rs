//! One atomic per run of equal keys and warp: `kernels_gpu::keyed::runs`.

use super::{Task, thread_in_grid};
use crate::sum::{Element, WARP_SIZE};
use crate::vector::{load, vectors_at};
use cuda_std::warp::{lane_id, warp_shuffle_up, warp_vote_any, warp_vote_ballot};

/// Neighbours that a thread brings.
const PER_THREAD: usize = 4;

/// # Safety
///
/// The task is as its fields say; the launch is as the original asks.
#[inline(always)]
pub(crate) unsafe fn keyed_runs<T: Element>(task: Task<T>) {
    let n = task.keys_len;
    let vectors = match (
        vectors_at(task.keys, n),
        vectors_at(task.values, task.values_len),
    ) {
        ((0, keys, _), (0, values, _)) => Some((keys, values)),
        _ => None,
    };
    let lane = lane_id() as usize;
    let tile = WARP_SIZE as usize * PER_THREAD;
    let first = (thread_in_grid() - lane) * PER_THREAD;
    if first < n {
        let i = first + lane * PER_THREAD;
        // SAFETY: every access is in bounds; vectors begin where one may be loaded; all lanes of
        // the warp are here.
        unsafe {
            let (keys, values) = match vectors {
                Some((keys, values)) if first + tile <= n => {
                    let v = i / PER_THREAD;
                    (load(keys.add(v)), load(values.add(v)))
                }
                _ => elements(task, i),
            };
            let outside = |e: usize| (i + e < n && keys[e] as usize >= task.cells_len) as u32;
            let outside = outside(0) + outside(1) + outside(2) + outside(3);
            if outside > 0 {
                task.reject(outside);
            }
            combine_warp(task, keys, values);
        }
    }
}

/// The elements from `i` on, one by one.
///
/// # Safety
///
/// The task has elements.
#[inline(always)]
unsafe fn elements<T: Element>(task: Task<T>, i: usize) -> ([u32; PER_THREAD], [T; PER_THREAD]) {
    let last = task.keys_len - 1;
    // SAFETY: the index is the last one's at most.
    let key = |e: usize| unsafe { *task.keys.add((i + e).min(last)) };
    let value = |e: usize| {
        if i + e <= last {
            // SAFETY: the index is the last one's at most.
            unsafe { *task.values.add(i + e) }
        } else {
            T::IDENTITY
        }
    };
    (
        [key(0), key(1), key(2), key(3)],
        [value(0), value(1), value(2), value(3)],
    )
}

/// # Safety
///
/// All lanes of the warp arrive here.
#[inline(always)]
unsafe fn combine_warp<T: Element>(
    task: Task<T>,
    keys: [u32; PER_THREAD],
    values: [T; PER_THREAD],
) {
    let deliver = |key: u32, value: T| {
        if (key as usize) < task.cells_len {
            // SAFETY: the cell is in bounds, and everybody touches it atomically.
            unsafe { T::combine_atomic_device(task.cells.add(key as usize), value) };
        }
    };

    let (mut head, mut single) = (T::IDENTITY, true);
    let (mut tail_key, mut tail) = (keys[0], values[0]);
    let mut append = |key: u32, value: T| {
        if key == tail_key {
            tail = T::combine(tail, value);
        } else {
            if single {
                (head, single) = (tail, false);
            } else {
                deliver(tail_key, tail);
            }
            (tail_key, tail) = (key, value);
        }
    };
    append(keys[1], values[1]);
    append(keys[2], values[2]);
    append(keys[3], values[3]);

    let lane = lane_id();
    // SAFETY: the caller brings all lanes, in every step.
    unsafe {
        let (key_before, is_there) = warp_shuffle_up(u32::MAX, tail_key, 1, WARP_SIZE);
        let linked = is_there && key_before == keys[0];
        let starts = warp_vote_ballot(u32::MAX, !(linked && single));
        let start = 31 - (starts & (!0 >> (31 - lane))).leading_zeros();
        let mut distance = 1;
        while warp_vote_any(u32::MAX, distance <= lane - start) {
            let (below, _) = warp_shuffle_up(u32::MAX, tail, distance, WARP_SIZE);
            if distance <= lane - start {
                tail = T::combine(below, tail);
            }
            distance *= 2;
        }

        let (before, _) = warp_shuffle_up(u32::MAX, tail, 1, WARP_SIZE);
        if !single {
            let head = if linked {
                T::combine(before, head)
            } else {
                head
            };
            deliver(keys[0], head);
        }
        let links = warp_vote_ballot(u32::MAX, linked);
        if links >> lane >> 1 & 1 == 0 {
            deliver(tail_key, tail);
        }
    }
}
