//! Tiles in the canonical order: what a warp does on a GPU ([`kernels_gpu::tile`]), with the same bits.

use kernels_gpu::items::Items;
use kernels_gpu::op::Op;
use kernels_gpu::tile::{LANES, ROWS, has_slots, items_of_tile};

use super::block::prefetch;
use super::rows::{Of, in_row, item, len, part, row};

/// Combines adjacent tiles, the first of which starts with item `start` of the input, as a binary tree.
///
/// Compiled twice, as [`block`](super::block::block).
#[inline(always)]
pub(super) fn tiles<I: Items, O: Op<I>>(op: O, items: Of<'_, I>, start: usize) -> O::Acc {
    #[cfg(target_arch = "x86_64")]
    if std::is_x86_feature_detected!("avx2") {
        // SAFETY: the condition above checks that the processor has AVX2.
        return unsafe { tiles_avx2::<I, O>(op, items, start) };
    }
    by_vectors::<I, O>(op, items, start)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn tiles_avx2<I: Items, O: Op<I>>(op: O, items: Of<'_, I>, start: usize) -> O::Acc {
    by_vectors::<I, O>(op, items, start)
}

/// Calls [`by_tile`] with the number of items of a vector, and of a row.
#[inline(always)]
pub(super) fn by_vectors<I: Items, O: Op<I>>(op: O, items: Of<'_, I>, start: usize) -> O::Acc {
    match I::VECTOR {
        1 => by_tile::<I, O, 1, LANES>(op, items, start),
        2 => by_tile::<I, O, 2, { 2 * LANES }>(op, items, start),
        4 => by_tile::<I, O, 4, { 4 * LANES }>(op, items, start),
        8 => by_tile::<I, O, 8, { 8 * LANES }>(op, items, start),
        16 => by_tile::<I, O, 16, { 16 * LANES }>(op, items, start),
        _ => unreachable!("a vector has a power of two of items, at most 16"),
    }
}

/// Combines the tiles as a binary tree. `tree[k]` is a subtree of 2^k tiles that waits for the adjacent one; the bits of
/// the number of tiles say which of them exist.
#[inline(always)]
fn by_tile<I: Items, O: Op<I>, const N: usize, const W: usize>(
    op: O,
    items: Of<'_, I>,
    start: usize,
) -> O::Acc {
    const MOST: usize = 16;
    let (n, tile) = (len::<I>(items), items_of_tile::<I>());
    let mut tree = [op.identity(); MOST];
    let mut done = 0;
    while done * tile < n {
        let first = done * tile;
        let items = part::<I>(items, first, n.min(first + tile));
        let mut subtree = if has_slots::<I, O>() {
            columns::<I, O, N, W>(op, items, start + first)
        } else {
            shares::<I, O, N, W>(op, items, start + first)
        };
        let mut level = 0;
        while done >> level & 1 == 1 {
            subtree = op.combine(tree[level], subtree);
            level += 1;
        }
        tree[level] = subtree;
        done += 1;
    }
    let mut all = op.identity();
    for (level, subtree) in tree.iter().enumerate() {
        if done >> level & 1 == 1 {
            all = op.combine(*subtree, all);
        }
    }
    all
}

/// Combines a tile with an accumulator for each slot of each lane: rows of `W` items as arrays, which LLVM vectorises.
#[inline(always)]
fn columns<I: Items, O: Op<I>, const N: usize, const W: usize>(
    op: O,
    items: Of<'_, I>,
    start: usize,
) -> O::Acc {
    let mut slots = [op.identity(); W];
    if len::<I>(items) == ROWS * W {
        let rows: [_; ROWS] = std::array::from_fn(|r| row::<I, W>(items, r));
        // Two rows at a time, because the slots are loaded and stored once for both. With more bytes, the processor's
        // prefetchers could not follow.
        let has_pairs = I::VECTOR * I::BYTES <= 16;
        for first in (0..ROWS).step_by(2) {
            let lift = |r: usize, i: usize| {
                op.lift(in_row::<I, W>(rows[r], i), (start + r * W + i) as u64)
            };
            prefetch::<I, W>(rows[first]);
            if has_pairs {
                prefetch::<I, W>(rows[first + 1]);
                for (i, slot) in slots.iter_mut().enumerate() {
                    *slot = op.combine(op.combine(*slot, lift(first, i)), lift(first + 1, i));
                }
                continue;
            }
            for (i, slot) in slots.iter_mut().enumerate() {
                *slot = op.combine(*slot, lift(first, i));
            }
            prefetch::<I, W>(rows[first + 1]);
            for (i, slot) in slots.iter_mut().enumerate() {
                *slot = op.combine(*slot, lift(first + 1, i));
            }
        }
    } else {
        for i in 0..len::<I>(items) {
            let lifted = op.lift(item::<I>(items, i), (start + i) as u64);
            slots[i % W] = op.combine(slots[i % W], lifted);
        }
    }
    let mut lanes = [op.identity(); LANES];
    for (lane, slots) in lanes.iter_mut().zip(slots.as_chunks_mut::<N>().0) {
        halve::<I, O>(op, slots);
        *lane = slots[0];
    }
    halve::<I, O>(op, &mut lanes);
    lanes[0]
}

/// Combines a tile with one accumulator for each lane, which takes several rows at once.
#[inline(always)]
fn shares<I: Items, O: Op<I>, const N: usize, const W: usize>(
    op: O,
    items: Of<'_, I>,
    start: usize,
) -> O::Acc {
    match I::IN_FLIGHT {
        1 => by_lane::<I, O, N, W, 1>(op, items, start),
        2 => by_lane::<I, O, N, W, 2>(op, items, start),
        4 => by_lane::<I, O, N, W, 4>(op, items, start),
        _ => unreachable!("one, two or four rows are absorbed together"),
    }
}

#[inline(always)]
fn by_lane<I: Items, O: Op<I>, const N: usize, const W: usize, const K: usize>(
    op: O,
    items: Of<'_, I>,
    start: usize,
) -> O::Acc {
    let n = len::<I>(items);
    let mut lanes = [op.identity(); LANES];
    if O::COMMUTATIVE && n == ROWS * W {
        let rows: [_; ROWS] = std::array::from_fn(|r| row::<I, W>(items, r));
        for first in (0..ROWS).step_by(K) {
            let group: [_; K] = std::array::from_fn(|k| rows[first + k]);
            group.iter().for_each(|row| prefetch::<I, W>(*row));
            // The same for all lanes, so that LLVM can vectorise it.
            for (lane, acc) in lanes.iter_mut().enumerate() {
                let items: [[_; N]; K] = std::array::from_fn(|k| {
                    std::array::from_fn(|e| in_row::<I, W>(group[k], lane * N + e))
                });
                let index = |k: usize| (start + (first + k) * W + lane * N) as u64;
                *acc = op.absorb(*acc, items, std::array::from_fn(index));
            }
        }
        halve::<I, O>(op, &mut lanes);
        return lanes[0];
    }
    for (lane, acc) in lanes.iter_mut().enumerate() {
        // The item of the lane's vector in a row.
        let at = |row: usize| match O::COMMUTATIVE {
            true => (row * LANES + lane) * N,
            false => (lane * ROWS + row) * N,
        };
        for first in (0..ROWS).step_by(K) {
            let of_row: [usize; K] = std::array::from_fn(|k| at(first + k));
            if of_row[K - 1] + N <= n {
                let rows: [[_; N]; K] =
                    of_row.map(|at| std::array::from_fn(|e| item::<I>(items, at + e)));
                *acc = op.absorb(*acc, rows, of_row.map(|at| (start + at) as u64));
                continue;
            }
            for at in of_row {
                for i in at..n.min(at + N) {
                    *acc = op.absorb(*acc, [[item::<I>(items, i)]], [(start + i) as u64]);
                }
            }
        }
    }
    if O::COMMUTATIVE {
        halve::<I, O>(op, &mut lanes);
    } else {
        pair::<I, O>(op, &mut lanes);
    }
    lanes[0]
}

/// Combines values by halves into the first; their number is a power of two.
#[inline(always)]
pub(super) fn halve<I: Items, O: Op<I>>(op: O, values: &mut [O::Acc]) {
    let mut width = values.len();
    while width > 1 {
        width /= 2;
        let (low, high) = values.split_at_mut(width);
        for (low, high) in low.iter_mut().zip(high) {
            *low = op.combine(*low, *high);
        }
    }
}

/// Combines adjacent values in pairs into the first; their number is a power of two.
#[inline(always)]
pub(super) fn pair<I: Items, O: Op<I>>(op: O, values: &mut [O::Acc]) {
    let mut apart = 1;
    while apart < values.len() {
        for i in (0..values.len()).step_by(2 * apart) {
            values[i] = op.combine(values[i], values[i + apart]);
        }
        apart *= 2;
    }
}
