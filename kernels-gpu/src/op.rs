//! Operators: how elements are reduced.
//!
//! | operator | items | accumulator | atomic |
//! |---|---|---|---|
//! | [`Sum`] | numbers | [`Number::Acc`](crate::element::Number::Acc) | an instruction |
//! | [`SumWide`] | numbers | `i64`, `u64`, `f64` | an instruction |
//! | [`Product`] | numbers | [`Number::Acc`](crate::element::Number::Acc) | a compare-and-swap loop |
//! | [`Min`], [`Max`] | numbers | [`Number::Acc`](crate::element::Number::Acc) | an instruction; for floats an integer's, chosen by the sign |
//! | [`NanMin`], [`NanMax`] | floats | [`Number::Acc`](crate::element::Number::Acc) | as `Min`, `Max` |
//! | [`NanSum`] | floats | [`Number::Acc`](crate::element::Number::Acc) | none |
//! | [`And`], [`Or`], [`Xor`] | integers | [`Number::Acc`](crate::element::Number::Acc) | an instruction |
//! | [`ArgMin`], [`ArgMax`] | numbers | [`Indexed`](crate::element::Indexed) | none |
//! | [`NanArgMin`], [`NanArgMax`] | floats | [`Indexed`](crate::element::Indexed) | none |
//! | [`MinMax`] | numbers | [`Extrema`](crate::element::Extrema) | none |
//! | [`SumAbs`] | numbers | `u64`, `f64` | none |
//! | [`SumSquares`] | numbers | `f64`; [`ScaledSquares`](crate::element::ScaledSquares) for `f64` | none |
//! | [`MeanVariance`] | numbers | [`Moments`](crate::element::Moments) | none |
//! | [`NanMeanVariance`] | floats | [`Moments`](crate::element::Moments) | none |
//! | [`Dot`] | pairs of numbers | `i64`, `u64`, `f64` | none |
//! | [`WeightedMean`] | pairs of numbers | `[f64; 2]` | none |
//! | [`Count`] | numbers for which a [`Predicate`] holds | `u64` | none |
//!
//! # Laws
//!
//! For every operator and all accumulators `a`, `b`, `c` of lifted items:
//!
//! - `combine(identity(), a) == a == combine(a, identity())`, bit for bit (NaN stays NaN);
//! - `combine(a, b) == combine(b, a)`, unless the operator is not [commutative](Op::COMMUTATIVE);
//! - `combine(combine(a, b), c) == combine(a, combine(b, c))`; exactly, or up to the rounding of each step for
//!   sums and products of floats and for moments.
//!
//! A reduction may therefore group the items in any way, and reorder them if the operator is commutative. The
//! library's operators:
//!
//! - Integers wrap in their own type, whatever the accumulator is.
//! - 16-bit floats accumulate in `f32` and are rounded once, when the result is finished.
//! - [`Min`] and [`Max`] of floats are IEEE 754-2019 `minimum` and `maximum`: NaN if any value is a NaN.
//!   [`NanMin`] and [`NanMax`] are `minimumNumber` and `maximumNumber`: NaN only if all values are NaN. In all
//!   four, `-0.0` is smaller than `+0.0`, so the result does not depend on the order of the values.
//! - [`ArgMin`] and [`ArgMax`] return the first of equal values, or the first NaN; the two zeros are equal.
//!   [`NanArgMin`] and [`NanArgMax`] ignore NaNs.
//! - For empty input, the result of extrema, of [`MeanVariance`] and of [`WeightedMean`] is `None`. That of
//!   sums is 0 (`0.0` for floats), of products 1, and of [`And`] an integer with all bits set.

#[macro_use]
mod number;

mod arg_extremum;
mod bits;
mod by_cas;
mod by_sign;
mod count;
mod dot;
mod extremum;
mod mean_variance;
mod min_max;
mod nan_extremum;
mod nan_sum;
mod one_instruction;
mod product;
mod sum;
mod sum_abs;
mod sum_squares;
mod sum_wide;
mod unrolled;
mod weighted_mean;

pub use arg_extremum::{ArgMax, ArgMin, NanArgMax, NanArgMin, Rank};
pub use bits::{And, Or, Xor};
pub use by_cas::{ByCas, Replace};
pub use count::{Count, Equal, Greater, InRange, IsNan, Less, Predicate};
pub use dot::Dot;
pub use extremum::{Max, Min};
pub use mean_variance::{MeanVariance, NanMeanVariance};
pub use min_max::MinMax;
pub use nan_extremum::{NanMax, NanMin};
pub use nan_sum::NanSum;
pub use number::{Combine, CombineAtomic};
pub use product::Product;
pub use sum::Sum;
pub use sum_abs::{Magnitude, SumAbs};
pub use sum_squares::{Squares, SumSquares};
pub use sum_wide::{SumWide, Wide};
pub(crate) use unrolled::unrolled;
pub use weighted_mean::WeightedMean;

use crate::element::Element;
#[cfg(not(target_arch = "nvptx64"))]
use crate::exact::Accumulator;
use crate::items::Items;
use cuda_std::warp::{WarpReduceValue, WarpReductionOp};

/// A value that can be a parameter of a kernel: an operator with its fields.
///
/// `#[derive(Value)]` implements it. All fields must be values, and so plain data: numbers,
/// [elements](Element), other values. A pointer is not a value: for a pointer in a structure, the compiler does
/// not know the memory space, and each access would be slow.
///
/// ```
/// use kernels_gpu::prelude::*;
///
/// #[derive(Clone, Copy, Debug, Value)]
/// #[repr(C)]
/// struct PowerSum {
///     p: f32,
/// }
///
/// #[derive(Clone, Copy, Debug, Value)]
/// struct Last; // no fields, so it is not a parameter
/// ```
///
/// ```compile_fail
/// # use kernels_gpu::prelude::*;
/// #[derive(Clone, Copy, Debug, Value)]
/// #[repr(C)]
/// struct Table {
///     entries: *const f32, // not a value
/// }
/// ```
///
/// # Safety
///
/// The type is `repr(C)` or has no fields, and holds no pointer and no reference.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a kernel's parameter",
    label = "not a value",
    note = "an operator, and each of its fields, must be a number, an `Element` or have \
            `#[derive(Value)]`; pointers cannot travel in an operator"
)]
pub unsafe trait Value: Copy + Send + Sync + 'static {}

// SAFETY: plain data has no pointers, and its layout is the same on the host and on the device.
unsafe impl<T: Element> Value for T {}

/// An associative operator with an identity.
///
/// A reduction lifts each item into an accumulator, combines the accumulators, and finishes the last one into
/// the result. The operator must obey the laws in the [module's documentation](self).
///
/// ```
/// use kernels_gpu::prelude::*;
///
/// /// The sum of the squared distances from a value.
/// #[derive(Clone, Copy, Debug, Value)]
/// #[repr(C)]
/// pub struct Squares {
///     centre: f32,
/// }
///
/// impl Op<f32> for Squares {
///     type Acc = f32;
///     type Output = f32;
///
///     fn identity(&self) -> f32 {
///         -0.0
///     }
///
///     fn lift(&self, x: f32, _index: u64) -> f32 {
///         (x - self.centre) * (x - self.centre)
///     }
///
///     fn combine(&self, a: f32, b: f32) -> f32 {
///         a + b
///     }
///
///     fn finish(&self, acc: f32) -> f32 {
///         acc
///     }
/// }
///
/// let op = Squares { centre: 1.0 };
/// assert_eq!(op.combine(op.lift(3.0, 0), op.lift(0.0, 1)), 5.0);
/// ```
///
/// If the operator has an array, read it at constant indices or in a loop that the compiler unrolls. For an
/// index that depends on the data, each thread first copies the whole array to local memory.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an operator over `{I}`",
    label = "does not reduce `{I}`",
    note = "an operator implements `Op<{I}>`; those of the library are listed in the documentation of `warpfold`"
)]
pub trait Op<I: Items>: Value {
    /// The accumulator: at most 128 bytes.
    type Acc: Element;

    /// The type of the result.
    type Output;

    /// Whether `combine(a, b)` equals `combine(b, a)`. If not, the operator gets kernels that preserve the
    /// order of the items.
    const COMMUTATIVE: bool = true;

    /// Whether [`absorb`](Self::absorb) is faster than combining item by item; it is then called with groups of items.
    const ABSORBS: bool = false;

    /// Whether the result has the same bits in any order and grouping of the items, except for those of a NaN: true for
    /// integers and extrema, false for sums of floats. Arrays at any address are then read in the fastest order.
    const ANY_ORDER: bool = false;

    /// Whether the result is one of the items with its index: the first item that no other [precedes](Self::precedes). Kernels
    /// may then compare the items alone, and look for the index once.
    const SELECTS: bool = false;

    /// Whether item `a` is the result rather than `b`, wherever they are. False if they are equal, or if the operator does not
    /// [select](Self::SELECTS).
    #[inline(always)]
    fn precedes(&self, a: I, b: I) -> bool {
        let _ = (a, b);
        false
    }

    /// Of two items, the one that precedes the other, or one that equals both.
    #[inline(always)]
    fn preceding(&self, a: I, b: I) -> I {
        if self.precedes(b, a) { b } else { a }
    }

    /// The accumulator that changes nothing; threads without elements contribute it.
    fn identity(&self) -> Self::Acc;

    /// Converts item `index` of the input into an accumulator.
    fn lift(&self, item: I, index: u64) -> Self::Acc;

    /// Combines two accumulators. If the operator is not commutative, the items of `a` come before those of
    /// `b`.
    fn combine(&self, a: Self::Acc, b: Self::Acc) -> Self::Acc;

    /// Combines the accumulator with items that were loaded together. Row `k` holds the items from index
    /// `first[k]` on.
    ///
    /// By default it combines them one by one.
    #[inline(always)]
    fn absorb<const N: usize, const K: usize>(
        &self,
        mut acc: Self::Acc,
        rows: [[I; N]; K],
        first: [u64; K],
    ) -> Self::Acc {
        unrolled!(|k < K, e < N| {
            acc = self.combine(acc, self.lift(rows[k][e], first[k] + e as u64));
        });
        acc
    }

    /// The accumulator of the same items at indices that are larger by `by`. **An operator whose `lift` uses
    /// the index must implement it**; otherwise arrays that are reduced in pieces give wrong indices. It must
    /// not change the identity.
    #[inline(always)]
    fn offset(&self, acc: Self::Acc, by: u64) -> Self::Acc {
        let _ = by;
        acc
    }

    /// Converts the accumulator of all items into the result. It is called for at least one item, and also for
    /// the identity unless `empty` is implemented.
    fn finish(&self, acc: Self::Acc) -> Self::Output;

    /// The initial value of a cell in reductions by key, which remains if no value has its key.
    ///
    /// The identity by default. A sum of floats, whose identity is `-0.0`, starts with `0.0`.
    #[inline(always)]
    fn initial(&self) -> Self::Acc {
        self.identity()
    }

    /// The result for the exact sum of the items' [terms](crate::exact_sum::Terms), rounded once; `None` if the operator is
    /// no sum of floats.
    #[cfg(not(target_arch = "nvptx64"))]
    fn of_exact(&self, sum: &Accumulator) -> Option<Self::Output> {
        let _ = sum;
        None
    }

    /// The result for empty input. By default it finishes [`initial`](Self::initial). An operator without a
    /// result for empty input, such as [`Min`], has an `Option` as output and returns `None` here.
    #[inline(always)]
    fn empty(&self) -> Self::Output {
        self.finish(self.initial())
    }
}

/// An operator with an atomic form: `*cell = combine(*cell, value)` in one indivisible step.
///
/// The memory order is relaxed: the update is indivisible but does not order other accesses.
pub trait AtomicOp<I: Items>: Op<I> {
    /// Combines `value` into a cell of global memory, atomically for all threads of the device.
    ///
    /// # Safety
    ///
    /// - `cell` is valid for reads and writes and aligned.
    /// - While the kernel runs, all threads access the cell only atomically.
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    unsafe fn combine_atomic_device(&self, cell: *mut Self::Acc, value: Self::Acc);

    /// Combines `value` into a cell of shared memory, atomically for all threads of the block.
    ///
    /// # Safety
    ///
    /// - `cell` is valid for reads and writes and aligned.
    /// - Between two barriers, the threads of the block access the cell only atomically.
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    unsafe fn combine_atomic_block(&self, cell: *mut Self::Acc, value: Self::Acc);
}

/// An operator that a warp applies in one instruction, `redux.sync` (sm_80 and later; before, `cuda_std` uses
/// shuffles).
pub trait ReduxOp<I: Items>: Op<I, Acc: WarpReduceValue> {
    /// The instruction's operation.
    const REDUX: WarpReductionOp;
}

/// Implements `Value` for operators without fields.
macro_rules! values {
    ($($op:ty),*) => { $(
        // SAFETY: no fields.
        unsafe impl $crate::op::Value for $op {}
    )* };
}

values!(
    Sum,
    SumWide,
    Product,
    Min,
    Max,
    NanMin,
    NanMax,
    And,
    Or,
    Xor,
    NanSum,
    ArgMin,
    ArgMax,
    NanArgMin,
    NanArgMax,
    MinMax,
    SumAbs,
    SumSquares,
    MeanVariance,
    NanMeanVariance,
    Dot,
    WeightedMean,
    IsNan
);
