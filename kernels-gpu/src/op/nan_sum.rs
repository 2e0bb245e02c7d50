//! The sum, with every NaN counted as 0.

use super::{Combine, Op, Sum};
use crate::element::Number;

/// The sum of the floats with every NaN counted as 0, as NumPy's `nansum`. Otherwise like [`Sum`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NanSum;

impl<T: Number> Op<T> for NanSum
where
    Sum: Combine<T::Acc>,
{
    type Acc = T::Acc;
    type Output = T;

    #[inline(always)]
    fn identity(&self) -> T::Acc {
        <Sum as Combine<T::Acc>>::IDENTITY
    }

    #[inline(always)]
    fn lift(&self, value: T, _: u64) -> T::Acc {
        let value = value.widen();
        match value.partial_cmp(&value) {
            Some(_) => value,
            None => <Sum as Combine<T::Acc>>::INITIAL,
        }
    }

    #[inline(always)]
    fn combine(&self, a: T::Acc, b: T::Acc) -> T::Acc {
        <Sum as Combine<T::Acc>>::combine(a, b)
    }

    #[inline(always)]
    fn finish(&self, acc: T::Acc) -> T {
        T::wrap(acc)
    }

    #[inline(always)]
    fn initial(&self) -> T::Acc {
        <Sum as Combine<T::Acc>>::INITIAL
    }
}
