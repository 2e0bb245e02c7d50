//! One block: the loop in which all time is spent.

use kernels_gpu::items::Items;
use kernels_gpu::op::Op;

use super::rows::{Of, Row, in_row, item, len, part, places, row};

/// Combines `items`, of which the first is item `start` of the input, into one accumulator for each
/// field: item `i` belongs to field `i % FIELDS`. `WIDTH` is `FIELDS` times a power of two.
///
/// [`lanes`] is compiled twice, for AVX2 and for what every processor of the target has. Twice
/// the width is the least of it: SSE2 has neither a minimum of 32-bit integers nor a blend nor a
/// widening load. Sums of `f32` gain little by it, narrow integers and extrema several times.
#[inline(always)]
pub(super) fn block<I: Items, O: Op<I>, const WIDTH: usize, const FIELDS: usize>(
    op: O,
    items: Of<'_, I>,
    start: usize,
) -> [O::Acc; FIELDS] {
    #[cfg(target_arch = "x86_64")]
    if std::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2: the line above asked it.
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

/// Rows of `WIDTH` items go into as many lanes, which are then combined by halves.
///
/// The lanes are too many to be unrolled, so that a row is a loop over arrays. Those LLVM makes vector
/// instructions of for every operator; of lanes that it keeps one by one in registers, only for the
/// simplest. And they are so few that four rows, whose lanes are loaded and stored once, are one KiB:
/// four streams farther apart would be too many for the processor's prefetchers.
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

/// Combines `items` by groups, one after the other, in the order of the items: for an operator that takes
/// several at once ([`Op::absorb`]) for much less than one by one, and for one that is not commutative.
#[inline(always)]
pub(super) fn in_turn<I: Items, O: Op<I>>(op: O, items: Of<'_, I>, start: usize) -> O::Acc {
    #[cfg(target_arch = "x86_64")]
    if std::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2: the line above asked it.
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

/// Loads what lies a little behind a row into the first cache: at the start of each page the
/// processor's own prefetchers stop and wait.
///
/// By it, sums of 256 MiB of `f32` were 1.4 times and minima 2.6 times as fast (two cores of an AMD EPYC
/// of family 26 with other work beside it, 2026-11-22).
#[inline(always)]
fn prefetch<I: Items, const WIDTH: usize>(row: Row<'_, I, WIDTH>) {
    #[cfg(target_arch = "x86_64")]
    places::<I, WIDTH>(row, |place, bytes| {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        const AHEAD: usize = 8 << 10;
        const LINE: usize = 64;
        let ahead = place.cast::<i8>().wrapping_add(AHEAD);
        for line in 0..bytes.div_ceil(LINE) {
            // SAFETY: a prefetch is a hint that may name any address; SSE, which has it, is part of
            // every x86-64.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(ahead.wrapping_add(line * LINE)) };
        }
    });
}
