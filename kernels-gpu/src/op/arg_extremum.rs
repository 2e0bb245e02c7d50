//! Where the smallest and the largest value are.

use super::Op;
use crate::element::{Element, Indexed, Number};

/// The smaller of the two values with its index. Of equal ones, the two zeros among them, that of
/// the smaller index; a NaN comes before all numbers: as NumPy's `argmin`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArgMin;

/// The larger of the two values with its index. Of equal ones, the two zeros among them, that of
/// the smaller index; a NaN comes before all numbers: as NumPy's `argmax`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArgMax;

/// Which values come first, whatever their indexes.
pub trait Rank<V> {
    /// A value that comes before no other.
    const LAST: V;

    /// Whether `a` comes before `b`. Neither comes before the other where they are equal.
    fn before(a: V, b: V) -> bool;
}

macro_rules! arg_extremum {
    ($($op:ident, $name:literal;)*) => { $(
        impl<T: Number> Op<T> for $op
        where
            $op: Rank<T::Acc>,
            Indexed<T::Acc>: Element,
        {
            const NAME: &'static str = $name;
            type Acc = Indexed<T::Acc>;
            const IDENTITY: Indexed<T::Acc> = Indexed::new(Self::LAST, u64::MAX);
            type Output = Indexed<T>;

            #[inline(always)]
            fn lift(value: T, index: usize) -> Indexed<T::Acc> {
                Indexed::new(value.widen(), index as u64)
            }

            #[inline(always)]
            fn combine(a: Indexed<T::Acc>, b: Indexed<T::Acc>) -> Indexed<T::Acc> {
                first::<_, $op>(a, b)
            }

            #[inline(always)]
            fn finish(acc: Indexed<T::Acc>) -> Indexed<T> {
                Indexed::new(T::saturate(acc.value()), acc.index())
            }
        }

        impl<V: Number> Op<Indexed<V>> for $op
        where
            $op: Rank<V>,
            Indexed<V>: Element,
        {
            const NAME: &'static str = $name;
            type Acc = Indexed<V>;
            const IDENTITY: Indexed<V> = Indexed::new(Self::LAST, u64::MAX);
            type Output = Indexed<V>;

            #[inline(always)]
            fn lift(value: Indexed<V>, _: usize) -> Indexed<V> {
                value
            }

            #[inline(always)]
            fn combine(a: Indexed<V>, b: Indexed<V>) -> Indexed<V> {
                first::<_, $op>(a, b)
            }

            #[inline(always)]
            fn finish(acc: Indexed<V>) -> Indexed<V> {
                acc
            }
        }
    )* };
}

arg_extremum! {
    ArgMin, "arg_min";
    ArgMax, "arg_max";
}

/// The one that comes first; of equals that of the smaller index.
#[inline(always)]
fn first<V: Copy, O: Rank<V>>(a: Indexed<V>, b: Indexed<V>) -> Indexed<V> {
    let (x, y) = (a.value(), b.value());
    let keep = O::before(x, y) || (!O::before(y, x) && a.index() <= b.index());
    if keep { a } else { b }
}

macro_rules! rank {
    ($op:ident: $($value:ident, $last:expr, |$a:ident, $b:ident| $before:expr;)*) => { $(
        impl Rank<$value> for $op {
            const LAST: $value = $last;

            #[inline(always)]
            fn before($a: $value, $b: $value) -> bool {
                $before
            }
        }
    )* };
}

rank! { ArgMin:
    i32, i32::MAX, |a, b| a < b;
    u32, u32::MAX, |a, b| a < b;
    i64, i64::MAX, |a, b| a < b;
    u64, u64::MAX, |a, b| a < b;
    f32, f32::INFINITY, |a, b| a < b || (a.is_nan() && !b.is_nan());
    f64, f64::INFINITY, |a, b| a < b || (a.is_nan() && !b.is_nan());
}

rank! { ArgMax:
    i32, i32::MIN, |a, b| a > b;
    u32, u32::MIN, |a, b| a > b;
    i64, i64::MIN, |a, b| a > b;
    u64, u64::MIN, |a, b| a > b;
    f32, f32::NEG_INFINITY, |a, b| a > b || (a.is_nan() && !b.is_nan());
    f64, f64::NEG_INFINITY, |a, b| a > b || (a.is_nan() && !b.is_nan());
}
