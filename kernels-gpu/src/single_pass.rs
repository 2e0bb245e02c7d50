//! Whole reductions in one launch, bit-equal from run to run: what the library does where nobody says
//! otherwise.
//!
//! Two launches cost two trips to the device, which small arrays feel; atomics on one cell cost
//! floats their reproducibility. These kernels pay neither: a thread combines its share of the array
//! ([`grid_stride`](crate::grid_stride)), a block its threads ([`block_reduce`](crate::block)), and the last
//! block to begin the partials of all ([`grid_reduce`]).
//!
//! | kernel | reads | gives |
//! |---|---|---|
//! | [`single_pass`] | an array | what an operator makes of it |
//! | [`single_pass_dot`] | two arrays, side by side | the sum of the products |
//! | [`single_pass_count`] | an array | for how many elements a predicate holds |
//!
//! # What they ask of their launch
//!
//! - A one-dimensional grid and a one-dimensional block of a multiple of 32 threads, at most 1024.
//! - A [`Meeting`] with room for a partial per block, all words of which are 0, `tickets` of 0, and a
//!   scratch with an element per warp of the block.
//!
//! # Order
//!
//! Floats are bit-equal from run to run: the order depends on the length, the launch, and on how the
//! array's start is aligned.

use crate::element::{Element, Number};
use crate::grid::{Meeting, grid_reduce};
use crate::grid_stride::{Absorb, grid_stride, grid_stride_by, grid_stride_pairs};
use crate::mem::Global;
use crate::op::{Combine, Op, Predicate, Sum, SumWide, Wide, unrolled};
use core::marker::PhantomData;

/// Leaves all of `input` as one in the meeting's result, `N` elements at a time.
///
/// # Safety
///
/// The launch is as the [module](self) asks.
#[inline(always)]
pub unsafe fn single_pass<T: Element, O: Op<T>, const N: usize>(
    input: Global<T>,
    meeting: Meeting<O::Acc>,
) {
    let ticket = meeting.ticket();
    let value = grid_stride::<T, O, N>(input);
    // SAFETY: no thread has left, and the meeting is the launch's.
    unsafe { grid_reduce::<T, O>(value, ticket, meeting) }
}

/// Leaves the sum of the products of `a` and `b` in the meeting's result, in 64 bits; `N` elements of
/// each at a time, where the two lie alike.
///
/// # Safety
///
/// The launch is as the [module](self) asks; `a` and `b` are as long as one another.
#[inline(always)]
pub unsafe fn single_pass_dot<T, A, W, const N: usize>(
    a: Global<T>,
    b: Global<T>,
    meeting: Meeting<W>,
) where
    T: Number<Acc = A>,
    A: Wide<Wide = W>,
    W: Number,
    Sum: Combine<W>,
{
    let ticket = meeting.ticket();
    let identity = <Sum as Combine<W>>::IDENTITY;
    let value = grid_stride_pairs::<T, W, N>(a, b, identity, |sum, x, y| {
        <Sum as Combine<W>>::combine(sum, A::product(x.widen(), y.widen()))
    });
    // SAFETY: no thread has left, and the meeting is the launch's.
    unsafe { grid_reduce::<T, SumWide>(value, ticket, meeting) }
}

/// Leaves the number of elements for which the predicate holds beside `value` in the meeting's result;
/// `N` elements at a time.
///
/// # Safety
///
/// The launch is as the [module](self) asks.
#[inline(always)]
pub unsafe fn single_pass_count<T: Element, P: Predicate<T>, const N: usize>(
    input: Global<T>,
    value: T,
    meeting: Meeting<u64>,
) {
    let ticket = meeting.ticket();
    let of = PhantomData::<P>;
    let count = grid_stride_by::<T, _, N>(input, 0, Counting { value, of });
    // SAFETY: no thread has left, and the meeting is the launch's.
    unsafe { grid_reduce::<u64, Sum>(count, ticket, meeting) }
}

/// Counts the elements for which the predicate holds beside a value.
#[derive(Clone, Copy)]
struct Counting<T, P> {
    value: T,
    of: PhantomData<P>,
}

impl<T: Element, P: Predicate<T>> Absorb<T> for Counting<T, P> {
    type Acc = u64;

    /// By an addition of 64 bits for all of `rows`, and one of 32 bits for each element.
    #[inline(always)]
    fn absorb<const N: usize, const K: usize>(
        self,
        count: u64,
        rows: [[T; N]; K],
        _: [usize; K],
    ) -> u64 {
        let mut here = 0u32;
        unrolled!(|k < K, e < N| here += u32::from(P::holds(rows[k][e], self.value)));
        count + u64::from(here)
    }
}
