//! How elements are reduced: the operators.
//!
//! | operator | of | accumulates in | atomic |
//! |---|---|---|---|
//! | [`Sum`] | numbers | [`Number::Acc`](crate::element::Number::Acc) | an instruction |
//! | [`SumWide`] | numbers | `i64`, `u64`, `f64` | an instruction |
//! | [`Product`] | numbers | the same | a compare-and-swap loop |
//! | [`Min`], [`Max`] | numbers | the same | an instruction; of floats that of an integer, by the sign |
//! | [`NanMin`], [`NanMax`] | floats | the same | as the former |
//! | [`And`], [`Or`], [`Xor`] | integers | the same | an instruction |
//! | [`ArgMin`], [`ArgMax`] | numbers | [`Indexed`](crate::element::Indexed) | none |
//! | [`MinMax`] | numbers | [`Extrema`](crate::element::Extrema) | none |
//! | [`SumAbs`] | numbers | `u64`, `f64` | none |
//! | [`SumSquares`] | numbers | `f64`; of `f64` [`ScaledSquares`](crate::element::ScaledSquares) | none |
//! | [`MeanVariance`] | numbers | [`Moments`](crate::element::Moments) | none |
//!
//! A [`Predicate`] is no operator but a question about an element; what is combined is a count.
//!
//! # Laws
//!
//! For every operator `O` and all accumulators `a`, `b`, `c` that are lifted elements:
//!
//! - `combine(IDENTITY, a) == a == combine(a, IDENTITY)`, bit for bit (NaN stays NaN);
//! - `combine(a, b) == combine(b, a)`;
//! - `combine(combine(a, b), c) == combine(a, combine(b, c))`, exactly; for sums and products of
//!   floats, and for moments, up to the rounding of each step.
//!
//! A reduction may therefore group and order the elements as the hardware likes. Then:
//!
//! - Integers wrap in their own type, whatever they accumulate in.
//! - 16-bit floats accumulate in `f32` and are rounded once, where the result is finished.
//! - [`Min`] and [`Max`] of floats are IEEE 754-2019 `minimum` and `maximum`: a NaN anywhere gives
//!   NaN. [`NanMin`] and [`NanMax`] are `minimumNumber` and `maximumNumber`: NaN only if there is
//!   no number, of an empty array too. In all four `-0.0` is smaller than `+0.0`, so that the
//!   result depends on the set of values alone and never on their order.
//! - [`ArgMin`] and [`ArgMax`] give the first of equal values, of which the two zeros are some, and
//!   the first NaN if there is one. Of nothing they give the index [`u64::MAX`].

#[macro_use]
mod number;

mod arg_extremum;
mod bits;
mod by_cas;
mod by_sign;
mod extremum;
mod mean_variance;
mod min_max;
mod nan_extremum;
mod one_instruction;
mod predicate;
mod product;
mod sum;
mod sum_abs;
mod sum_squares;
mod sum_wide;
mod unrolled;

pub use arg_extremum::{ArgMax, ArgMin, Rank};
pub use bits::{And, Or, Xor};
pub use by_cas::{ByCas, Replace};
pub use extremum::{Max, Min};
pub use mean_variance::MeanVariance;
pub use min_max::MinMax;
pub use nan_extremum::{NanMax, NanMin};
pub use number::{Combine, CombineAtomic};
pub use predicate::{Equal, Greater, IsNan, Less, Predicate};
pub use product::Product;
pub use sum::Sum;
pub use sum_abs::{Magnitude, SumAbs};
pub use sum_squares::{Squares, SumSquares};
pub use sum_wide::{SumWide, Wide};
pub(crate) use unrolled::unrolled;

use crate::element::Element;
use cuda_std::warp::{WarpReduceValue, WarpReductionOp};

/// An associative, commutative operator with an identity. The laws stand in the [module's
/// documentation](self) and are tested for every operator and element type.
///
/// A reduction lifts each element into an accumulator, combines the accumulators in any order, and
/// its caller finishes what is left. Where partials are reduced by a launch of their own, the operator
/// is one over its own accumulators too, which it lifts as they are.
pub trait Op<T: Element>: Copy + Send + Sync + 'static {
    /// The operator's name as it stands in the names of entry points: `"sum"`.
    const NAME: &'static str;

    /// What values are combined in; what scratch and partials hold.
    type Acc: Element;

    /// The value that changes nothing: what an empty array reduces to, and what a thread with
    /// nothing to load contributes.
    const IDENTITY: Self::Acc;

    /// Element `index` of the array as it enters the reduction.
    fn lift(value: T, index: usize) -> Self::Acc;

    /// The two values as one.
    fn combine(a: Self::Acc, b: Self::Acc) -> Self::Acc;

    /// An accumulator and elements that have been loaded together, as one. Row `k` of them holds
    /// the elements of the array from `first[k]` on.
    ///
    /// One by one, unless an operator knows better.
    #[inline(always)]
    fn absorb<const N: usize, const K: usize>(
        mut acc: Self::Acc,
        rows: [[T; N]; K],
        first: [usize; K],
    ) -> Self::Acc {
        unrolled!(|k < K, e < N| acc = Self::combine(acc, Self::lift(rows[k][e], first[k] + e)));
        acc
    }

    /// What the caller of a whole reduction gets.
    type Output;

    /// The result of a whole reduction as its caller gets it.
    fn finish(acc: Self::Acc) -> Self::Output;
}

/// An operator that the memory system applies by itself: `*cell = combine(*cell, value)` in one
/// indivisible step.
///
/// Relaxed ordering: the update is indivisible, but says nothing about other memory.
pub trait AtomicOp<T: Element>: Op<T> {
    /// Combines `value` into a cell of global memory, indivisibly for all threads of the device.
    ///
    /// # Safety
    ///
    /// - `cell` is valid for reads and writes and aligned.
    /// - While the kernel runs, no thread touches the cell other than atomically.
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    unsafe fn combine_atomic_device(cell: *mut Self::Acc, value: Self::Acc);

    /// Combines `value` into a cell of shared memory, indivisibly for all threads of the block.
    ///
    /// # Safety
    ///
    /// - `cell` is valid for reads and writes and aligned.
    /// - Between two barriers, no thread of the block touches the cell other than atomically.
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    unsafe fn combine_atomic_block(cell: *mut Self::Acc, value: Self::Acc);
}

/// An operator that the warp applies by itself in one instruction, `redux.sync` (sm_80 and above;
/// below that, `cuda_std` builds it from shuffles).
pub trait ReduxOp<T: Element>: Op<T, Acc: WarpReduceValue> {
    /// The instruction's name for this operator.
    const REDUX: WarpReductionOp;
}
