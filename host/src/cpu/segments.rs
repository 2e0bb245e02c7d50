//! Segmented reductions: ranges of segments on all cores, with the bits of [`reduce`](super::reduce) for each segment.

use kernels_gpu::items::Items;
use kernels_gpu::op::Op;
use kernels_gpu::tile::{LANES, has_slots};

use super::parallel::join;
use super::rows::{Of, item, part};
use super::tile::{by_vectors, halve};

/// The most bytes of a task: items, and an accumulator for each segment.
const TASK_BYTES: usize = 256 << 10;

/// The ends of segments that are copied at once, so that the type of the offsets matters to no other loop.
const ENDS: usize = 64;

/// Where segments start: segment `s` ends where segment `s + 1` starts.
#[derive(Clone, Copy)]
pub enum Starts<'a> {
    /// Rows of so many items.
    Rows(usize),
    I32(&'a [i32]),
    U32(&'a [u32]),
    I64(&'a [i64]),
    U64(&'a [u64]),
}

impl Starts<'_> {
    /// Whether segment `segment` has no items.
    pub fn is_empty(self, segment: usize) -> bool {
        self.of(segment) == self.of(segment + 1)
    }

    /// Stores the first items of the segments from `first` on.
    #[inline(always)]
    fn copy(self, first: usize, to: &mut [usize]) {
        for (segment, to) in (first..).zip(to) {
            *to = self.of(segment);
        }
    }

    /// The first item of segment `segment`.
    #[inline(always)]
    fn of(self, segment: usize) -> usize {
        match self {
            Self::Rows(len) => segment * len,
            // The caller has checked that none is negative.
            Self::I32(offsets) => offsets[segment] as usize,
            Self::U32(offsets) => offsets[segment] as usize,
            Self::I64(offsets) => offsets[segment] as usize,
            Self::U64(offsets) => offsets[segment] as usize,
        }
    }
}

/// Reduces the segments into the elements of `output`. Offsets do not decrease, and none is negative.
pub(crate) fn reduce_segments<I: Items, O: Op<I>>(
    op: O,
    items: Of<'_, I>,
    starts: Starts<'_>,
    output: &mut [O::Acc],
) {
    range::<I, O>(op, items, starts, 0, output);
}

/// Reduces the segments from `first` on.
fn range<I: Items, O: Op<I>>(
    op: O,
    items: Of<'_, I>,
    starts: Starts<'_>,
    first: usize,
    output: &mut [O::Acc],
) {
    let cost = |segments: usize| {
        (starts.of(first + segments) - starts.of(first)) * I::BYTES + segments * size_of::<O::Acc>()
    };
    let all = cost(output.len());
    if all <= TASK_BYTES {
        return each::<I, O>(op, items, starts, first, output);
    }
    if let [output] = output {
        *output =
            super::reduce::<I, O>(op, part::<I>(items, starts.of(first), starts.of(first + 1)));
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
    join(
        || range::<I, O>(op, items, starts, first, before),
        || range::<I, O>(op, items, starts, first + low, behind),
    );
}

/// Reduces the segments one after another. Compiled twice, as [`tiles`](super::tile::tiles).
fn each<I: Items, O: Op<I>>(
    op: O,
    items: Of<'_, I>,
    starts: Starts<'_>,
    first: usize,
    output: &mut [O::Acc],
) {
    #[cfg(target_arch = "x86_64")]
    if std::is_x86_feature_detected!("avx2") {
        // SAFETY: the condition above checks that the processor has AVX2.
        return unsafe { each_avx2::<I, O>(op, items, starts, first, output) };
    }
    each_in_turn::<I, O>(op, items, starts, first, output);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn each_avx2<I: Items, O: Op<I>>(
    op: O,
    items: Of<'_, I>,
    starts: Starts<'_>,
    first: usize,
    output: &mut [O::Acc],
) {
    each_in_turn::<I, O>(op, items, starts, first, output);
}

#[inline(always)]
fn each_in_turn<I: Items, O: Op<I>>(
    op: O,
    items: Of<'_, I>,
    starts: Starts<'_>,
    first: usize,
    output: &mut [O::Acc],
) {
    match I::VECTOR {
        1 => by_vectors_of::<I, O, 1>(op, items, starts, first, output),
        2 => by_vectors_of::<I, O, 2>(op, items, starts, first, output),
        4 => by_vectors_of::<I, O, 4>(op, items, starts, first, output),
        8 => by_vectors_of::<I, O, 8>(op, items, starts, first, output),
        16 => by_vectors_of::<I, O, 16>(op, items, starts, first, output),
        _ => unreachable!("a vector has a power of two of items, at most 16"),
    }
}

#[inline(always)]
fn by_vectors_of<I: Items, O: Op<I>, const N: usize>(
    op: O,
    items: Of<'_, I>,
    starts: Starts<'_>,
    first: usize,
    output: &mut [O::Acc],
) {
    // In one row, groups of several rows are not complete, and items are absorbed one by one.
    let has_short = O::COMMUTATIVE && (has_slots::<I, O>() || O::ANY_ORDER || I::IN_FLIGHT > 1);
    let mut ends = [0; ENDS];
    let mut from = starts.of(first);
    for (number, output) in output.chunks_mut(ENDS).enumerate() {
        starts.copy(first + number * ENDS + 1, &mut ends[..output.len()]);
        for (output, &to) in output.iter_mut().zip(&ends) {
            let own = part::<I>(items, from, to);
            *output = match to - from {
                len if has_short && len <= N => lane::<I, O, N>(op, own, 0, len),
                len if has_short && len <= LANES * N => row::<I, O, N>(op, own, len),
                _ => by_vectors::<I, O>(op, own, 0),
            };
            from = to;
        }
    }
}

/// Combines the `len` items, at most a row.
#[inline(always)]
fn row<I: Items, O: Op<I>, const N: usize>(op: O, items: Of<'_, I>, len: usize) -> O::Acc {
    let mut lanes = [op.identity(); LANES];
    let whole = len / N;
    for (number, acc) in lanes[..whole].iter_mut().enumerate() {
        *acc = lane::<I, O, N>(op, items, number * N, N);
    }
    if len > whole * N {
        lanes[whole] = lane::<I, O, N>(op, items, whole * N, len - whole * N);
    }
    halve::<I, O>(op, &mut lanes[..len.div_ceil(N).next_power_of_two()]);
    lanes[0]
}

/// Combines the `len` items from `first` on, at most a vector.
#[inline(always)]
fn lane<I: Items, O: Op<I>, const N: usize>(
    op: O,
    items: Of<'_, I>,
    first: usize,
    len: usize,
) -> O::Acc {
    let lift = |e: usize| op.lift(item::<I>(items, first + e), (first + e) as u64);
    if !has_slots::<I, O>() {
        let mut acc = op.identity();
        for e in 0..len {
            acc = op.absorb(acc, [[item::<I>(items, first + e)]], [(first + e) as u64]);
        }
        return acc;
    }
    let mut slots = [op.identity(); N];
    if len == N {
        // Of a constant length, so that LLVM makes vectors of it.
        for (e, slot) in slots.iter_mut().enumerate() {
            *slot = op.combine(*slot, lift(e));
        }
        halve::<I, O>(op, &mut slots);
    } else {
        let used = &mut slots[..len.next_power_of_two()];
        for (e, slot) in used[..len].iter_mut().enumerate() {
            *slot = op.combine(*slot, lift(e));
        }
        // The other slots hold identities, which change no bit.
        halve::<I, O>(op, used);
    }
    slots[0]
}
