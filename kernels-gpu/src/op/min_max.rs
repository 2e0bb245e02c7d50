//! The smallest and the largest value, at once.

use super::{Combine, Max, Min, Op};
use crate::element::{Element, Extrema, Number};

/// The smaller and the larger of the two, as [`Min`] and [`Max`] would give them: one pass over the
/// array for both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MinMax;

impl<T: Number> Op<T> for MinMax
where
    Min: Combine<T::Acc>,
    Max: Combine<T::Acc>,
    Extrema<T::Acc>: Element,
{
    const NAME: &'static str = "min_max";
    type Acc = Extrema<T::Acc>;
    const IDENTITY: Extrema<T::Acc> = Extrema::new(
        <Min as Combine<T::Acc>>::IDENTITY,
        <Max as Combine<T::Acc>>::IDENTITY,
    );
    type Output = Extrema<T>;

    #[inline(always)]
    fn lift(value: T, _: usize) -> Extrema<T::Acc> {
        Extrema::new(value.widen(), value.widen())
    }

    #[inline(always)]
    fn combine(a: Extrema<T::Acc>, b: Extrema<T::Acc>) -> Extrema<T::Acc> {
        Extrema::new(
            <Min as Combine<T::Acc>>::combine(a.min(), b.min()),
            <Max as Combine<T::Acc>>::combine(a.max(), b.max()),
        )
    }

    #[inline(always)]
    fn finish(acc: Extrema<T::Acc>) -> Extrema<T> {
        Extrema::new(T::saturate(acc.min()), T::saturate(acc.max()))
    }
}
