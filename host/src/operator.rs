//! What to reduce by.

use kernels_gpu::op::{
    And, ArgMax, ArgMin, Max, MeanVariance, Min, MinMax, NanMax, NanMin, Op, Or, Product, Sum,
    SumAbs, SumSquares, SumWide, Xor,
};

use crate::element::Element;

/// An operator of elements `T`: [`Sum`], [`SumWide`], [`Product`], [`Min`], [`Max`], [`MinMax`],
/// [`ArgMin`], [`ArgMax`], [`SumAbs`], [`SumSquares`] and [`MeanVariance`] of all numbers, [`And`],
/// [`Or`] and [`Xor`] of integers, [`NanMin`] and [`NanMax`] of floats.
///
/// By which kernels is [`ENTRIES`](kernels_gpu::entry::ENTRIES); other combinations are
/// [`Error::NotAvailable`](crate::Error::NotAvailable).
///
/// The trait is sealed, since a kernel is found by the operator's name, and one of that name
/// with another meaning would get the wrong kernel's value:
///
/// ```compile_fail,E0277
/// #[derive(Clone, Copy)]
/// struct Square;
///
/// impl kernels_gpu::op::Op<i32> for Square {
///     const NAME: &'static str = "sum";
///     type Acc = i32;
///     const IDENTITY: i32 = 1;
///     type Output = i32;
///
///     fn lift(value: i32, _: usize) -> i32 {
///         value
///     }
///
///     fn combine(a: i32, b: i32) -> i32 {
///         a.wrapping_mul(b)
///     }
///
///     fn finish(acc: i32) -> i32 {
///         acc
///     }
/// }
/// impl warpfold::Operator<i32> for Square {} // it is not `Sealed`
/// ```
pub trait Operator<T: Element>: sealed::Sealed + Op<T, Acc: Element> {}

impl<T: Element, O: sealed::Sealed + Op<T, Acc: Element>> Operator<T> for O {}

mod sealed {
    pub trait Sealed {}
}

macro_rules! operators {
    ($($op:ident)*) => { $(impl sealed::Sealed for $op {})* };
}

operators! {
    Sum SumWide Product Min Max MinMax NanMin NanMax And Or Xor ArgMin ArgMax
    SumAbs SumSquares MeanVariance
}
