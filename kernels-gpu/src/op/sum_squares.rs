//! The sum of the squares.

use super::Op;
use crate::element::{Element, Number, ScaledSquares};
#[cfg(not(target_arch = "nvptx64"))]
use crate::exact::Accumulator;

/// The sum of the squares, whose square root is the Euclidean norm: an `f64`, or [`ScaledSquares`] for `f64`
/// elements, so that no square overflows or underflows.
///
/// Squares of elements of up to 32 bits are exact; 64-bit integers are rounded to `f64` before they are
/// squared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SumSquares;

/// A type with a square.
pub trait Squares {
    /// The type in which squares are added.
    type Squares: Element;

    /// The identity of [`plus`](Self::plus).
    const NONE: Self::Squares;

    /// The sum of one square, that of 0.
    const ZERO: Self::Squares;

    /// The square.
    fn square(self) -> Self::Squares;

    /// The sum of two sums of squares.
    fn plus(a: Self::Squares, b: Self::Squares) -> Self::Squares;

    /// The exact sum of squares, rounded.
    #[cfg(not(target_arch = "nvptx64"))]
    fn of_exact(sum: &Accumulator) -> Self::Squares;
}

macro_rules! squares {
    ($($acc:ident)*) => { $(
        impl Squares for $acc {
            type Squares = f64;
            const NONE: f64 = -0.0;
            const ZERO: f64 = 0.0;

            #[inline(always)]
            fn square(self) -> f64 {
                let value = self.to_f64();
                value * value
            }

            #[inline(always)]
            fn plus(a: f64, b: f64) -> f64 {
                a + b
            }

            #[cfg(not(target_arch = "nvptx64"))]
            fn of_exact(sum: &Accumulator) -> f64 {
                sum.sum()
            }
        }
    )* };
}

squares!(i32 u32 i64 u64 f32);

impl Squares for f64 {
    type Squares = ScaledSquares;
    const NONE: ScaledSquares = ScaledSquares::NONE;
    const ZERO: ScaledSquares = ScaledSquares::of(0.0);

    #[inline(always)]
    fn square(self) -> ScaledSquares {
        ScaledSquares::of(self)
    }

    #[inline(always)]
    fn plus(a: ScaledSquares, b: ScaledSquares) -> ScaledSquares {
        a.plus(b)
    }

    #[cfg(not(target_arch = "nvptx64"))]
    fn of_exact(sum: &Accumulator) -> ScaledSquares {
        ScaledSquares::of_exact(sum)
    }
}

impl<T, A, S> Op<T> for SumSquares
where
    T: Number<Acc = A>,
    A: Squares<Squares = S>,
    S: Element,
{
    type Acc = S;
    type Output = S;

    #[inline(always)]
    fn identity(&self) -> S {
        A::NONE
    }

    #[inline(always)]
    fn lift(&self, value: T, _: u64) -> S {
        value.widen().square()
    }

    #[inline(always)]
    fn combine(&self, a: S, b: S) -> S {
        A::plus(a, b)
    }

    #[inline(always)]
    fn finish(&self, acc: S) -> S {
        acc
    }

    #[cfg(not(target_arch = "nvptx64"))]
    fn of_exact(&self, sum: &Accumulator) -> Option<S> {
        Some(A::of_exact(sum))
    }

    #[inline(always)]
    fn initial(&self) -> S {
        A::ZERO
    }
}
