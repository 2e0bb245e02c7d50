//! The dot product.

use super::{Combine, Op, Sum, Wide};
use crate::element::Number;
#[cfg(not(target_arch = "nvptx64"))]
use crate::exact::Accumulator;

/// The dot product: the sum of the products of two arrays' elements, as an `i64`, a `u64` or an `f64`.
///
/// Products of floats of up to 32 bits are exact. Integers wrap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dot;

impl<T, A, W> Op<(T, T)> for Dot
where
    T: Number<Acc = A>,
    A: Wide<Wide = W>,
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
    fn lift(&self, (x, y): (T, T), _: u64) -> W {
        A::product(x.widen(), y.widen())
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
