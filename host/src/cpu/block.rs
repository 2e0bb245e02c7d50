//! One block: the loop in which all time is spent.

use kernels_gpu::element::Element;
use kernels_gpu::op::Op;

/// Combines `values`, of which the first is element `start` of the array, into one accumulator for each
/// field: element `i` belongs to field `i % FIELDS`. `WIDTH` is `FIELDS` times a power of two.
///
/// [`lanes`] is compiled twice, for AVX2 and for what every processor of the target has. Twice
/// the width is the least of it: SSE2 has neither a minimum of 32-bit integers nor a blend nor a
/// widening load. Sums of `f32` gain little by it, narrow integers and extrema several times.
#[inline(always)]
pub(super) fn block<T: Element, O: Op<T>, const WIDTH: usize, const FIELDS: usize>(
    values: &[T],
    start: usize,
) -> [O::Acc; FIELDS] {
    #[cfg(target_arch = "x86_64")]
    if std::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2: the line above asked it.
        return unsafe { lanes_avx2::<T, O, WIDTH, FIELDS>(values, start) };
    }
    lanes::<T, O, WIDTH, FIELDS>(values, start)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn lanes_avx2<T: Element, O: Op<T>, const WIDTH: usize, const FIELDS: usize>(
    values: &[T],
    start: usize,
) -> [O::Acc; FIELDS] {
    lanes::<T, O, WIDTH, FIELDS>(values, start)
}

/// Rows of `WIDTH` elements go into as many lanes, which are then combined by halves.
///
/// The lanes are too many to be unrolled, so that a row is a loop over arrays. Those LLVM makes vector
/// instructions of for every operator; of lanes that it keeps one by one in registers, only for the
/// simplest. And they are so few that four rows, whose lanes are loaded and stored once, are one KiB:
/// four streams farther apart would be too many for the processor's prefetchers.
#[inline(always)]
fn lanes<T: Element, O: Op<T>, const WIDTH: usize, const FIELDS: usize>(
    values: &[T],
    start: usize,
) -> [O::Acc; FIELDS] {
    let mut lanes = [O::IDENTITY; WIDTH];
    let (rows, rest) = values.as_chunks::<WIDTH>();
    let (fours, rows) = rows.as_chunks::<4>();
    let mut index = start;
    for four @ [a, b, c, d] in fours {
        prefetch(four);
        for (i, lane) in lanes.iter_mut().enumerate() {
            let row = |number, row: &[T; WIDTH]| O::lift(row[i], index + number * WIDTH + i);
            let two = [
                O::combine(row(0, a), row(1, b)),
                O::combine(row(2, c), row(3, d)),
            ];
            *lane = O::combine(*lane, O::combine(two[0], two[1]));
        }
        index += 4 * WIDTH;
    }
    for row in rows.iter().map(<[T; WIDTH]>::as_slice).chain([rest]) {
        for (i, (lane, value)) in lanes.iter_mut().zip(row).enumerate() {
            *lane = O::combine(*lane, O::lift(*value, index + i));
        }
        index += WIDTH;
    }
    let mut width = WIDTH;
    while width > FIELDS {
        width /= 2;
        let (low, high) = lanes.split_at_mut(width);
        for (low, high) in low.iter_mut().zip(high) {
            *low = O::combine(*low, *high);
        }
    }
    std::array::from_fn(|field| lanes[field])
}

/// Loads what lies a little behind `values` into the first cache: at the start of each page the
/// processor's own prefetchers stop and wait.
///
/// By it, sums of 256 MiB of `f32` were 1.4 times and minima 2.6 times as fast (two cores of an AMD EPYC
/// of family 26 with other work beside it, 2026-11-22).
#[inline(always)]
fn prefetch<T>(values: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        const AHEAD: usize = 8 << 10;
        const LINE: usize = 64;
        let ahead = std::ptr::from_ref(values).cast::<i8>().wrapping_add(AHEAD);
        for line in 0..size_of_val(values).div_ceil(LINE) {
            // SAFETY: a prefetch is a hint that may name any address; SSE, which has it, is part of
            // every x86-64.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(ahead.wrapping_add(line * LINE)) };
        }
    }
}
