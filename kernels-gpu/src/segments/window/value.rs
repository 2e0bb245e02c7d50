//! What lanes exchange of the items of rows: accumulators, or the best items.

use crate::element::{Element, Shuffle};
use crate::items::Items;
use crate::op::Op;
use crate::segments::select::{best_of, found_in};
use crate::tile::{Lane, zero};
use crate::warp::{FULL_MASK, WARP_SIZE};

/// What lanes exchange of a row's items in [`whole_rows`](super::rows::whole_rows).
pub(super) trait Value<I: Items, O: Op<I>, const N: usize>: Copy {
    /// What a lane has of its vectors of a row.
    type Own;

    /// Nothing yet.
    fn nothing(op: O) -> Self::Own;

    /// Takes the lane's vector number `k` of the tile, which is vector number `number` of its row. `is_first`: it is the lane's
    /// first one of the row.
    fn take(op: O, own: &mut Self::Own, is_first: bool, vector: [I; N], k: u32, number: u32);

    /// The value of what a lane has.
    fn of(own: &Self::Own, lane: u32) -> Self;

    /// The value of another lane.
    ///
    /// # Safety
    ///
    /// All lanes of the warp arrive here, with the same `from`.
    unsafe fn shuffled(self, from: Shuffle) -> Self;

    /// The value of the items of two lanes.
    fn combined(op: O, own: Self, other: Self) -> Self;

    /// The result for the row. `vector` loads a vector of the tile, and returns the index of its first item in the row, too.
    fn result(self, op: O, vector: impl Fn(u32) -> ([I; N], u64)) -> O::Acc;
}

/// The accumulator of some of a row's items.
#[derive(Clone, Copy)]
pub(super) struct Combined<A>(A);

impl<I: Items, O: Op<I>, const N: usize> Value<I, O, N> for Combined<O::Acc> {
    type Own = Lane<I, O, N>;

    #[inline(always)]
    fn nothing(op: O) -> Self::Own {
        Lane::new(op)
    }

    #[inline(always)]
    fn take(op: O, own: &mut Self::Own, is_first: bool, vector: [I; N], _: u32, number: u32) {
        if is_first {
            *own = Lane::new(op);
        }
        own.absorb([vector], [u64::from(number) * N as u64]);
    }

    #[inline(always)]
    fn of(own: &Self::Own, _: u32) -> Self {
        Self(own.combined())
    }

    #[inline(always)]
    unsafe fn shuffled(self, from: Shuffle) -> Self {
        // SAFETY: the caller's contract.
        Self(unsafe { self.0.shuffle(FULL_MASK, from) })
    }

    #[inline(always)]
    fn combined(op: O, own: Self, other: Self) -> Self {
        Self(op.combine(own.0, other.0))
    }

    #[inline(always)]
    fn result(self, _: O, _: impl Fn(u32) -> ([I; N], u64)) -> O::Acc {
        self.0
    }
}

/// The best of some of a row's items, and the first vector with one that equals it: the item's place in the vector is looked for
/// at the end, so that each item is compared once.
#[derive(Clone, Copy)]
pub(super) struct Selected<I> {
    item: I,
    /// Of the lane's vectors of the tile, or of all.
    vector: u32,
}

impl<I: Items, O: Op<I>, const N: usize> Value<I, O, N> for Selected<I> {
    type Own = Self;

    #[inline(always)]
    fn nothing(_: O) -> Self {
        Self {
            item: zero::<I>(),
            vector: 0,
        }
    }

    #[inline(always)]
    fn take(op: O, own: &mut Self, is_first: bool, vector: [I; N], k: u32, _: u32) {
        let item = best_of::<I, O, N>(op, vector);
        if is_first | op.precedes(item, own.item) {
            *own = Self { item, vector: k };
        }
    }

    #[inline(always)]
    fn of(own: &Self, lane: u32) -> Self {
        Self {
            item: own.item,
            vector: own.vector * WARP_SIZE + lane,
        }
    }

    #[inline(always)]
    unsafe fn shuffled(self, from: Shuffle) -> Self {
        // SAFETY: the caller's contract.
        unsafe {
            Self {
                item: I::shuffled(self.item, FULL_MASK, from),
                vector: self.vector.shuffle(FULL_MASK, from),
            }
        }
    }

    #[inline(always)]
    fn combined(op: O, own: Self, other: Self) -> Self {
        let is_better = op.precedes(other.item, own.item);
        let is_equal = !op.precedes(own.item, other.item);
        // All are compared in any case, for a branch would take more instructions.
        match is_better | (is_equal & (other.vector < own.vector)) {
            true => other,
            false => own,
        }
    }

    #[inline(always)]
    fn result(self, op: O, vector: impl Fn(u32) -> ([I; N], u64)) -> O::Acc {
        let (items, first) = vector(self.vector);
        let (item, at) = found_in::<I, O, N>(op, self.item, items);
        op.lift(item, first + at as u64)
    }
}
