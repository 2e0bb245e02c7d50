//! Segmented reductions: ranges of segments on all cores, with the bits of [`reduce`](super::reduce) for each segment.

use kernels_gpu::items::Items;
use kernels_gpu::op::Op;
use kernels_gpu::tile::{LANES, has_slots};

use super::rows::{Of, item, len, part};
use super::tile::{by_vectors, halve};

/// The most bytes of a task: items, and an accumulator for each segment.
const TASK_BYTES: usize = 256 << 10;

/// Reduces the segments, of which number `s` starts with item `start(s)`, into the elements of `output`.
pub(crate) fn reduce_segments<I: Items, O: Op<I>>(
    op: O,
    items: Of<'_, I>,
    start: &(impl Fn(usize) -> usize + Sync),
    output: &mut [O::Acc],
) {
    range::<I, O>(op, items, start, 0, output);
}

/// Reduces the segments from `first` on.
fn range<I: Items, O: Op<I>>(
    op: O,
    items: Of<'_, I>,
    start: &(impl Fn(usize) -> usize + Sync),
    first: usize,
    output: &mut [O::Acc],
) {
    let cost = |segments: usize| {
        (start(first + segments) - start(first)) * I::BYTES + segments * size_of::<O::Acc>()
    };
    let all = cost(output.len());
    if all <= TASK_BYTES {
        return each::<I, O>(op, items, start, first, output);
    }
    if let [output] = output {
        *output = super::reduce::<I, O>(op, part::<I>(items, start(first), start(first + 1)));
        return;
    }
    // Where half of the work is done, but at least one segment on either side.
    let (mut low, mut high) = (1, output.len() - 1);
    while low < high {
        let middle = low + (high - low) / 2;
        match cost(middle) < all / 2 {
            true => low = middle + 1,
            false => high = middle,
        }
    }
    let (before, behind) = output.split_at_mut(low);
    rayon::join(
        || range::<I, O>(op, items, start, first, before),
        || range::<I, O>(op, items, start, first + low, behind),
    );
}

/// Reduces the segments one after another. Compiled twice, as [`tiles`](super::tile::tiles).
fn each<I: Items, O: Op<I>>(
    op: O,
    items: Of<'_, I>,
    start: &(impl Fn(usize) -> usize + Sync),
    first: usize,
    output: &mut [O::Acc],
) {
    #[cfg(target_arch = "x86_64")]
    if std::is_x86_feature_detected!("avx2") {
        // SAFETY: the condition above checks that the processor has AVX2.
        return unsafe { each_avx2::<I, O>(op, items, start, first, output) };
    }
    each_in_turn::<I, O>(op, items, start, first, output);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn each_avx2<I: Items, O: Op<I>>(
    op: O,
    items: Of<'_, I>,
    start: &(impl Fn(usize) -> usize + Sync),
    first: usize,
    output: &mut [O::Acc],
) {
    each_in_turn::<I, O>(op, items, start, first, output);
}

#[inline(always)]
fn each_in_turn<I: Items, O: Op<I>>(
    op: O,
    items: Of<'_, I>,
    start: &(impl Fn(usize) -> usize + Sync),
    first: usize,
    output: &mut [O::Acc],
) {
    // In one row, groups of several rows are not complete, and items are absorbed one by one.
    let has_short = O::COMMUTATIVE && (has_slots::<I, O>() || O::ANY_ORDER || I::IN_FLIGHT > 1);
    let mut from = start(first);
    for (segment, output) in output.iter_mut().enumerate() {
        let to = start(first + segment + 1);
        let own = part::<I>(items, from, to);
        *output = match has_short && to - from <= LANES * I::VECTOR {
            true => short::<I, O>(op, own),
            false => by_vectors::<I, O>(op, own, 0),
        };
        from = to;
    }
}

/// Combines the items of a row or less.
#[inline(always)]
fn short<I: Items, O: Op<I>>(op: O, items: Of<'_, I>) -> O::Acc {
    const MOST: usize = 16;
    let n = len::<I>(items);
    let mut lanes = [op.identity(); LANES];
    for (lane, acc) in lanes[..n.div_ceil(I::VECTOR)].iter_mut().enumerate() {
        let of_lane = lane * I::VECTOR..n.min((lane + 1) * I::VECTOR);
        if has_slots::<I, O>() {
            let mut slots = [op.identity(); MOST];
            for (slot, i) in slots.iter_mut().zip(of_lane) {
                *slot = op.combine(*slot, op.lift(item::<I>(items, i), i as u64));
            }
            halve::<I, O>(op, &mut slots[..I::VECTOR]);
            *acc = slots[0];
        } else {
            for i in of_lane {
                *acc = op.absorb(*acc, [[item::<I>(items, i)]], [i as u64]);
            }
        }
    }
    let used = n.div_ceil(I::VECTOR).max(1).next_power_of_two();
    halve::<I, O>(op, &mut lanes[..used]);
    lanes[0]
}
