//! The sum of the absolute values.

use super::{Combine, Op, Sum};
use crate::element::Number;
#[cfg(not(target_arch = "nvptx64"))]
use crate::exact::Accumulator;

/// The 1-norm: the sum of the absolute values in 64 bits, a `u64` for integers, which wraps, and an `f64` for
/// floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SumAbs;

/// A type with an absolute value.
pub trait Magnitude {
    /// A 64-bit type that can represent the absolute value.
    type Magnitude: Number;

    /// The absolute value; exact.
    fn magnitude(self) -> Self::Magnitude;
}

macro_rules! magnitude {
    ($($acc:ident in $wide:ident, |$value:ident| $magnitude:expr;)*) => { $(
        impl Magnitude for $acc {
            type Magnitude = $wide;

            #[inline(always)]
            fn magnitude(self) -> $wide {
                let $value = self;
                $magnitude
            }
        }
    )* };
}

magnitude! {
    i32 in u64, |value| value.unsigned_abs().into();
    u32 in u64, |value| value.into();
    i64 in u64, |value| value.unsigned_abs();
    u64 in u64, |value| value;
    f32 in f64, |value| value.abs().into();
    f64 in f64, |value| value.abs();
}

impl<T, A, W> Op<T> for SumAbs
where
    T: Number<Acc = A>,
    A: Magnitude<Magnitude = W>,
    W: Number,
    Sum: Combine<W>,
{
    type Acc = W;
    type Output = W;
    const ANY_ORDER: bool = <Sum as Combine<W>>::ANY_ORDER;

    #[inline(always)]
    fn identity(&self) -> W {
        <Sum as Combine<W>>::IDENTITY
    }

    #[inline(always)]
    fn lift(&self, value: T, _: u64) -> W {
        value.widen().magnitude()
    }

    #[inline(always)]
    fn combine(&self, a: W, b: W) -> W {
        <Sum as Combine<W>>::combine(a, b)
    }

    #[inline(always)]
    fn finish(&self, acc: W) -> W {
        acc
    }

    #[cfg(not(target_arch = "nvptx64"))]
    fn of_exact(&self, sum: &Accumulator) -> Option<W> {
        W::of_exact(sum)
    }

    #[inline(always)]
    fn initial(&self) -> W {
        <Sum as Combine<W>>::INITIAL
    }
}
