//! Reduces one block: the inner loop.

use kernels_gpu::items::Items;
use kernels_gpu::op::Op;

use super::rows::{Of, Row, each_array, in_row, item, len, part, row};

/// Combines `items` into one accumulator for each field. The first item is item `start` of the input, and
/// item `i` belongs to field `i % FIELDS`. `WIDTH` is `FIELDS` times a power of two.
///
/// [`lanes`] is compiled twice: for AVX2, and for the instructions that every processor of the target has.
/// Besides the width, SSE2 lacks a minimum of 32-bit integers, a blend and a widening load. Sums of `f32`
/// gain little from AVX2; narrow integers and extrema gain several times.
#[inline(always)]
pub(super) fn block<I: Items, O: Op<I>, const WIDTH: usize, const FIELDS: usize>(
    op: O,
    items: Of<'_, I>,
    start: usize,
) -> [O::Acc; FIELDS] {
    #[cfg(target_arch = "x86_64")]
    if std::is_x86_feature_detected!("avx2") {
        // SAFETY: the condition above checks that the processor has AVX2.
        return unsafe { lanes_avx2::<I, O, WIDTH, FIELDS>(op, items, start) };
    }
    lanes::<I, O, WIDTH, FIELDS>(op, items, start)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn lanes_avx2<I: Items, O: Op<I>, const WIDTH: usize, const FIELDS: usize>(
    op: O,
    items: Of<'_, I>,
    start: usize,
) -> [O::Acc; FIELDS] {
    lanes::<I, O, WIDTH, FIELDS>(op, items, start)
}

/// Combines rows of `WIDTH` items lane by lane, then the lanes by halving.
///
/// There are too many lanes to unroll, so a row is a loop over arrays, which LLVM vectorises for every
/// operator. Lanes in registers are vectorised only for the simplest operators. The number of lanes is
/// limited: four rows, whose lanes are loaded and stored once, take one KiB. The processor's prefetchers
/// could not follow four streams that are farther apart.
#[inline(always)]
fn lanes<I: Items, O: Op<I>, const WIDTH: usize, const FIELDS: usize>(
    op: O,
    items: Of<'_, I>,
    start: usize,
) -> [O::Acc; FIELDS] {
    let mut lanes = [op.identity(); WIDTH];
    let rows = len::<I>(items) / WIDTH;
    let index = |row: usize, i: usize| (start + row * WIDTH + i) as u64;
    let mut next = 0;
    while next + 4 <= rows {
        let four = [0, 1, 2, 3].map(|r| row::<I, WIDTH>(items, next + r));
        four.iter().for_each(|row| prefetch::<I, WIDTH>(*row));
        for (i, lane) in lanes.iter_mut().enumerate() {
            let lift = |r: usize| op.lift(in_row::<I, WIDTH>(four[r], i), index(next + r, i));
            let two = [op.combine(lift(0), lift(1)), op.combine(lift(2), lift(3))];
            *lane = op.combine(*lane, op.combine(two[0], two[1]));
        }
        next += 4;
    }
    while next < rows {
        let one = row::<I, WIDTH>(items, next);
        for (i, lane) in lanes.iter_mut().enumerate() {
            *lane = op.combine(*lane, op.lift(in_row::<I, WIDTH>(one, i), index(next, i)));
        }
        next += 1;
    }
    let rest = part::<I>(items, rows * WIDTH, len::<I>(items));
    for (i, lane) in lanes[..len::<I>(rest)].iter_mut().enumerate() {
        *lane = op.combine(*lane, op.lift(item::<I>(rest, i), index(rows, i)));
    }
    let mut width = WIDTH;
    while width > FIELDS {
        width /= 2;
        let (low, high) = lanes.split_at_mut(width);
        for (low, high) in low.iter_mut().zip(high) {
            *low = op.combine(*low, *high);
        }
    }
    std::array::from_fn(|field| lanes[field])
}

/// Combines `items` in order, group by group: for operators that are not commutative, and for operators that
/// absorb several items at much lower cost than one by one ([`Op::absorb`]).
#[inline(always)]
pub(super) fn in_order<I: Items, O: Op<I>>(op: O, items: Of<'_, I>, start: usize) -> O::Acc {
    #[cfg(target_arch = "x86_64")]
    if std::is_x86_feature_detected!("avx2") {
        // SAFETY: the condition above checks that the processor has AVX2.
        return unsafe { groups_avx2::<I, O>(op, items, start) };
    }
    groups::<I, O>(op, items, start)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn groups_avx2<I: Items, O: Op<I>>(op: O, items: Of<'_, I>, start: usize) -> O::Acc {
    groups::<I, O>(op, items, start)
}

#[inline(always)]
fn groups<I: Items, O: Op<I>>(op: O, items: Of<'_, I>, start: usize) -> O::Acc {
    const ROWS: usize = 4;
    const WIDTH: usize = 32;
    let index = |row: usize| (start + row * WIDTH) as u64;
    let rows = len::<I>(items) / WIDTH / ROWS * ROWS;
    let mut all = op.identity();
    let mut next = 0;
    while next < rows {
        let group: [[I; WIDTH]; ROWS] = std::array::from_fn(|r| {
            let row = row::<I, WIDTH>(items, next + r);
            prefetch::<I, WIDTH>(row);
            std::array::from_fn(|i| in_row::<I, WIDTH>(row, i))
        });
        all = op.absorb(all, group, std::array::from_fn(|r| index(next + r)));
        next += ROWS;
    }
    let rest = part::<I>(items, rows * WIDTH, len::<I>(items));
    for i in 0..len::<I>(rest) {
        all = op.absorb(all, [[item::<I>(rest, i)]], [index(rows) + i as u64]);
    }
    all
}

/// Prefetches the memory shortly after a row into the first-level cache, because the processor's prefetchers
/// stop at the end of each page.
///
/// Evidence: sums of 256 MiB of `f32` became 1.4 times as fast, minima 2.6 times (2 cores of an AMD EPYC,
/// family 26, 2026-11-22).
#[inline(always)]
pub(super) fn prefetch<I: Items, const WIDTH: usize>(row: Row<'_, I, WIDTH>) {
    #[cfg(target_arch = "x86_64")]
    each_array::<I, WIDTH>(row, |address, bytes| {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        const AHEAD: usize = 8 << 10;
        const LINE: usize = 64;
        let ahead = address.cast::<i8>().wrapping_add(AHEAD);
        for line in 0..bytes.div_ceil(LINE) {
            // SAFETY: a prefetch is a hint and may name any address; it is part of SSE, which every x86-64
            // processor has.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(ahead.wrapping_add(line * LINE)) };
        }
    });
}
