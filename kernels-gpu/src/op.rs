//! How elements are reduced: the operators.
//!
//! | operator | of | accumulates in | atomic |
//! |---|---|---|---|
//! | [`Sum`] | numbers | [`Number::Acc`](crate::element::Number::Acc) | an instruction |
//! | [`SumWide`] | numbers | `i64`, `u64`, `f64` | an instruction |
//! | [`Product`] | numbers | the same | a compare-and-swap loop |
//! | [`Min`], [`Max`] | numbers | the same | an instruction; of floats that of an integer, by the sign |
//! | [`NanMin`], [`NanMax`] | floats | the same | as the former |
//! | [`NanSum`] | floats | the same | none |
//! | [`And`], [`Or`], [`Xor`] | integers | the same | an instruction |
//! | [`ArgMin`], [`ArgMax`] | numbers | [`Indexed`](crate::element::Indexed) | none |
//! | [`NanArgMin`], [`NanArgMax`] | floats | the same | none |
//! | [`MinMax`] | numbers | [`Extrema`](crate::element::Extrema) | none |
//! | [`SumAbs`] | numbers | `u64`, `f64` | none |
//! | [`SumSquares`] | numbers | `f64`; of `f64` [`ScaledSquares`](crate::element::ScaledSquares) | none |
//! | [`MeanVariance`] | numbers | [`Moments`](crate::element::Moments) | none |
//! | [`NanMeanVariance`] | floats | the same | none |
//! | [`Dot`] | pairs of numbers | `i64`, `u64`, `f64` | none |
//! | [`WeightedMean`] | pairs of numbers | `[f64; 2]` | none |
//! | [`Count`] | numbers for which a [`Predicate`] holds | `u64` | none |
//!
//! # Laws
//!
//! For every operator and all accumulators `a`, `b`, `c` that are lifted items:
//!
//! - `combine(identity(), a) == a == combine(a, identity())`, bit for bit (NaN stays NaN);
//! - `combine(a, b) == combine(b, a)`, unless the operator says that it is not
//!   [commutative](Op::COMMUTATIVE);
//! - `combine(combine(a, b), c) == combine(a, combine(b, c))`, exactly; for sums and products of
//!   floats, and for moments, up to the rounding of each step.
//!
//! A reduction may therefore group the items as the hardware likes, and order them where the operator is
//! commutative. Of the library's operators:
//!
//! - Integers wrap in their own type, whatever they accumulate in.
//! - 16-bit floats accumulate in `f32` and are rounded once, where the result is finished.
//! - [`Min`] and [`Max`] of floats are IEEE 754-2019 `minimum` and `maximum`: a NaN anywhere gives
//!   NaN. [`NanMin`] and [`NanMax`] are `minimumNumber` and `maximumNumber`: NaN only if there is
//!   no number. In all four `-0.0` is smaller than `+0.0`, so that the
//!   result depends on the set of values alone and never on their order.
//! - [`ArgMin`] and [`ArgMax`] give the first of equal values, of which the two zeros are some, and
//!   the first NaN if there is one. [`NanArgMin`] and [`NanArgMax`] give the first that is a number.
//! - For empty input the output of extrema, of [`MeanVariance`] and of [`WeightedMean`] is `None`. The result
//!   of sums is 0 (of floats `0.0`), of products 1, of [`And`] an integer of ones.

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
use crate::items::Items;
use cuda_std::warp::{WarpReduceValue, WarpReductionOp};

/// What travels to a kernel by value: an operator with what it holds.
///
/// Implemented by `#[derive(Value)]`, which asks that all fields are values, and so plain data: numbers,
/// [elements](Element), other values. A pointer is none: behind a pointer within a structure the compiler
/// does not know which memory it points into, and each access would be slow.
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
/// struct Last; // holds nothing, costs no parameter
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

/// An associative operator with an identity: how items are reduced.
///
/// A reduction lifts each item into an accumulator, combines the accumulators, and finishes the last one
/// into the result. The laws stand in the [module's documentation](self).
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
/// Read an array that the operator holds at indexes that the compiler knows: constants, or a loop that it unrolls.
/// Where the index comes from the data, each thread first copies the whole array to local memory.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an operator over `{I}`",
    label = "does not reduce `{I}`",
    note = "an operator implements `Op<{I}>`; those of the library are listed in the documentation of `warpfold`"
)]
pub trait Op<I: Items>: Value {
    /// What items are combined in: at most 128 bytes.
    type Acc: Element;

    /// What the caller of a reduction gets.
    type Output;

    /// Whether `combine(a, b)` is `combine(b, a)`. An operator for which it is not gets kernels that
    /// keep the order of the items.
    const COMMUTATIVE: bool = true;

    /// Whether [`absorb`](Self::absorb) is faster than one item after the other, so that the CPU calls it
    /// with a group of items at a time.
    const ABSORBS: bool = false;

    /// The accumulator that changes nothing: what a thread with nothing to load contributes.
    fn identity(&self) -> Self::Acc;

    /// Item `index` of the input as it enters the reduction.
    fn lift(&self, item: I, index: u64) -> Self::Acc;

    /// The two accumulators as one; of an operator that is not commutative, `a` stands before `b`.
    fn combine(&self, a: Self::Acc, b: Self::Acc) -> Self::Acc;

    /// The accumulator and items that have been loaded together, as one. Row `k` of them holds the items
    /// from index `first[k]` on.
    ///
    /// The default combines them one by one.
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

    /// What an accumulator is if its items stand `by` indices further on. **An operator whose `lift` uses the index
    /// must implement it**: arrays that are reduced in pieces give wrong indices otherwise. The identity stays what it
    /// is.
    #[inline(always)]
    fn offset(&self, acc: Self::Acc, by: u64) -> Self::Acc {
        let _ = by;
        acc
    }

    /// The result of a whole reduction, as its caller gets it: of at least one item, and of the identity unless
    /// `empty` is implemented.
    fn finish(&self, acc: Self::Acc) -> Self::Output;

    /// What a cell begins with into which values are combined by key, and what it still holds where no value
    /// had its key. The default is the identity; a sum of floats, whose identity is `-0.0`, begins with `0.0`.
    #[inline(always)]
    fn initial(&self) -> Self::Acc {
        self.identity()
    }

    /// The result of an empty input. The default finishes [`initial`](Self::initial). An operator without a
    /// result for an empty input, such as [`Min`], has an `Option` as output, and `None` here.
    #[inline(always)]
    fn empty(&self) -> Self::Output {
        self.finish(self.initial())
    }
}

/// An operator that the memory system applies by itself: `*cell = combine(*cell, value)` in one
/// indivisible step.
///
/// Relaxed ordering: the update is indivisible, but says nothing about other memory.
pub trait AtomicOp<I: Items>: Op<I> {
    /// Combines `value` into a cell of global memory, indivisibly for all threads of the device.
    ///
    /// # Safety
    ///
    /// - `cell` is valid for reads and writes and aligned.
    /// - While the kernel runs, no thread touches the cell other than atomically.
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    unsafe fn combine_atomic_device(&self, cell: *mut Self::Acc, value: Self::Acc);

    /// Combines `value` into a cell of shared memory, indivisibly for all threads of the block.
    ///
    /// # Safety
    ///
    /// - `cell` is valid for reads and writes and aligned.
    /// - Between two barriers, no thread of the block touches the cell other than atomically.
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    unsafe fn combine_atomic_block(&self, cell: *mut Self::Acc, value: Self::Acc);
}

/// An operator that the warp applies by itself in one instruction, `redux.sync` (sm_80 and above;
/// below that, `cuda_std` builds it from shuffles).
pub trait ReduxOp<I: Items>: Op<I, Acc: WarpReduceValue> {
    /// The instruction's name for this operator.
    const REDUX: WarpReductionOp;
}

/// Operators that hold nothing.
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
