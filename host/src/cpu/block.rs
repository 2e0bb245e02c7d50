//! One block: the loop in which all time is spent.

use kernels_gpu::element::Element;
use kernels_gpu::op::Op;

/// Combines `values`, of which the first is element `start` of the array, into one accumulator for each
/// field: element `i` belongs to field `i % FIELDS`. `WIDTH` is `FIELDS` times a power of two.
///
/// [`lanes`] is compiled twice, for AVX2 and for what every processor of the target has. Twice
/// the width is the least of it: SSE2 has neither a minimum of 32-bit integers nor a blend nor a
/// widening load, and is slower by 1.3 (sums of `f32`) to 5 (minima of `i8`) times.
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
/// The lanes are many and lie in memory, so that a row is a loop over arrays. Those LLVM makes vector
/// instructions of for every operator; of lanes that fit into registers only for the simplest. Four
/// rows at once, so that loads and stores of lanes do not count.
#[inline(always)]
fn lanes<T: Element, O: Op<T>, const WIDTH: usize, const FIELDS: usize>(
    values: &[T],
    start: usize,
) -> [O::Acc; FIELDS] {
    let mut lanes = [O::IDENTITY; WIDTH];
    let (rows, rest) = values.as_chunks::<WIDTH>();
    let (fours, rows) = rows.as_chunks::<4>();
    let mut index = start;
    for [a, b, c, d] in fours {
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
