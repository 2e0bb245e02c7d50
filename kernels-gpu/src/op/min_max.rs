//! The smallest and the largest value together.

use super::{Combine, Max, Min, Op};
use crate::element::{Element, Extrema, Number};

/// The smallest and the largest value, as [`Min`] and [`Max`] compute them, in one pass; `None` for empty
/// input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MinMax;

impl<T: Number> Op<T> for MinMax
where
    Min: Combine<T::Acc>,
    Max: Combine<T::Acc>,
    Extrema<T::Acc>: Element,
{
    type Acc = Extrema<T::Acc>;
    type Output = Option<Extrema<T>>;
    const ANY_ORDER: bool = true;

    #[inline(always)]
    fn identity(&self) -> Extrema<T::Acc> {
        Extrema::new(
            <Min as Combine<T::Acc>>::IDENTITY,
            <Max as Combine<T::Acc>>::IDENTITY,
        )
    }

    #[inline(always)]
    fn lift(&self, value: T, _: u64) -> Extrema<T::Acc> {
        Extrema::new(value.widen(), value.widen())
    }

    #[inline(always)]
    fn combine(&self, a: Extrema<T::Acc>, b: Extrema<T::Acc>) -> Extrema<T::Acc> {
        Extrema::new(
            <Min as Combine<T::Acc>>::combine(a.min(), b.min()),
            <Max as Combine<T::Acc>>::combine(a.max(), b.max()),
        )
    }

    #[inline(always)]
    fn finish(&self, acc: Extrema<T::Acc>) -> Option<Extrema<T>> {
        Some(Extrema::new(T::saturate(acc.min()), T::saturate(acc.max())))
    }

    #[inline(always)]
    fn empty(&self) -> Option<Extrema<T>> {
        None
    }
}
