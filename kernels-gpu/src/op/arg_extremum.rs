//! The index of the smallest and of the largest value.

use super::one_instruction::OneInstruction;
use super::{Op, unrolled};
use crate::element::{Element, Indexed, Number};

/// The smallest value and its index, as NumPy's `argmin`; `None` for empty input.
///
/// Of equal values, the first. A NaN counts as smaller than all numbers; the two zeros are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArgMin;

/// The largest value and its index, as NumPy's `argmax`; `None` for empty input.
///
/// Of equal values, the first. A NaN counts as larger than all numbers; the two zeros are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArgMax;

/// The smallest float that is not a NaN, and its index, as NumPy's `nanargmin`; `None` if there is none.
///
/// Of equal values, the first; the two zeros are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NanArgMin;

/// The largest float that is not a NaN, and its index, as NumPy's `nanargmax`. Otherwise like [`NanArgMin`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NanArgMax;

/// An order of values, without their indices.
pub trait Rank<V: Copy> {
    /// A value that comes before no other.
    const LAST: V;

    /// Whether `a` comes before `b`. False if they are equal.
    fn before(a: V, b: V) -> bool;

    /// The value that comes first, or one that equals it. Of a value that [counts](Self::counts) and one that does not,
    /// the former.
    #[inline(always)]
    fn extreme(a: V, b: V) -> V {
        if Self::before(b, a) { b } else { a }
    }

    /// Of equal values with different bits, such as the two zeros, the same one in either order.
    #[inline(always)]
    fn either(a: V, _: V) -> V {
        a
    }

    /// Whether the value can be a result. A value that cannot comes before no other.
    #[inline(always)]
    fn counts(_: V) -> bool {
        true
    }
}

macro_rules! arg_extremum {
    ($($op:ident)*) => { $(
        impl<T: Number> Op<T> for $op
        where
            $op: Rank<T::Acc>,
            Indexed<T::Acc>: Element,
        {
            type Acc = Indexed<T::Acc>;
            type Output = Option<Indexed<T>>;
            const ABSORBS: bool = true;
            const ANY_ORDER: bool = true;
            const SELECTS: bool = true;

            #[inline(always)]
            fn precedes(&self, a: T, b: T) -> bool {
                let (a, b) = (a.widen(), b.widen());
                Self::before(a, b) || (Self::counts(a) && !Self::counts(b))
            }

            #[inline(always)]
            fn preceding(&self, a: T, b: T) -> T {
                T::saturate(Self::extreme(a.widen(), b.widen()))
            }

            #[inline(always)]
            fn identity(&self) -> Indexed<T::Acc> {
                Indexed::new(Self::LAST, u64::MAX)
            }

            #[inline(always)]
            fn lift(&self, value: T, index: u64) -> Indexed<T::Acc> {
                let value = value.widen();
                match Self::counts(value) {
                    true => Indexed::new(value, index),
                    false => <$op as Op<T>>::identity(self),
                }
            }

            #[inline(always)]
            fn combine(&self, a: Indexed<T::Acc>, b: Indexed<T::Acc>) -> Indexed<T::Acc> {
                first_of::<_, $op>(a, b)
            }

            /// On the GPU, absorbs eight elements at a time if a row has as many. More elements, each of which
            /// is used twice, would need too many registers.
            #[inline(always)]
            fn absorb<const N: usize, const K: usize>(
                &self,
                mut acc: Indexed<T::Acc>,
                rows: [[T; N]; K],
                first: [u64; K],
            ) -> Indexed<T::Acc> {
                if const { N * K == 1 } {
                    let lifted = <$op as Op<T>>::lift(self, rows[0][0], first[0]);
                    return first_of::<_, $op>(acc, lifted);
                }
                if const { cfg!(not(target_arch = "nvptx64")) || !N.is_multiple_of(PART) } {
                    return absorb_rows::<T, $op, N, K>(acc, rows, first);
                }
                unrolled!(|k < K, e < N| if e % PART == 0 {
                    let mut part = [rows[k][e]; PART];
                    unrolled!(|i < PART| part[i] = rows[k][e + i]);
                    acc = absorb_rows::<T, $op, PART, 1>(acc, [part], [first[k] + e as u64]);
                });
                acc
            }

            #[inline(always)]
            fn offset(&self, acc: Indexed<T::Acc>, by: u64) -> Indexed<T::Acc> {
                match acc.index() {
                    u64::MAX => acc,
                    index => Indexed::new(acc.value(), index + by),
                }
            }

            #[inline(always)]
            fn finish(&self, acc: Indexed<T::Acc>) -> Option<Indexed<T>> {
                let best = result(acc)?;
                Some(Indexed::new(T::saturate(best.value()), best.index()))
            }
        }

        impl<V: Number> Op<Indexed<V>> for $op
        where
            $op: Rank<V>,
            Indexed<V>: Element,
        {
            type Acc = Indexed<V>;
            type Output = Option<Indexed<V>>;
            const ANY_ORDER: bool = true;

            #[inline(always)]
            fn identity(&self) -> Indexed<V> {
                Indexed::new(Self::LAST, u64::MAX)
            }

            #[inline(always)]
            fn lift(&self, value: Indexed<V>, _: u64) -> Indexed<V> {
                match Self::counts(value.value()) {
                    true => value,
                    false => <$op as Op<Indexed<V>>>::identity(self),
                }
            }

            #[inline(always)]
            fn combine(&self, a: Indexed<V>, b: Indexed<V>) -> Indexed<V> {
                first_or_either::<_, $op>(a, b)
            }

            #[inline(always)]
            fn finish(&self, acc: Indexed<V>) -> Option<Indexed<V>> {
                result(acc)
            }
        }
    )* };
}

arg_extremum! {
    ArgMin
    ArgMax
    NanArgMin
    NanArgMax
}

/// The result, if at least one value could be one.
fn result<V: Copy>(acc: Indexed<V>) -> Option<Indexed<V>> {
    (acc.index() != u64::MAX).then_some(acc)
}

/// The number of elements of a long row that are absorbed at a time.
const PART: usize = 8;

/// Combines the accumulator with the rows, whose indices ascend. First it compares only the values. It looks for the first of
/// them that equals the best one only if that comes before the accumulator's.
#[inline(always)]
fn absorb_rows<T: Number, O: Rank<T::Acc>, const N: usize, const K: usize>(
    acc: Indexed<T::Acc>,
    rows: [[T; N]; K],
    first: [u64; K],
) -> Indexed<T::Acc> {
    let mut columns = [O::LAST; N];
    unrolled!(|k < K, e < N| {
        let value = rows[k][e].widen();
        columns[e] = if k > 0 { O::extreme(columns[e], value) } else { value };
    });
    let mut best = columns[0];
    unrolled!(|e < N| if e > 0 {
        best = O::extreme(best, columns[e]);
    });
    let known =
        O::before(acc.value(), best) || (!O::before(best, acc.value()) && acc.index() < first[0]);
    if known {
        return acc;
    }
    // From the last item to the first, because a selection takes less than a comparison of indices.
    let (mut at, mut found) = (K * N, best);
    unrolled!(|k < K, e < N| {
        let (k, e) = (K - 1 - k, N - 1 - e);
        let value = rows[k][e].widen();
        // No value comes before the best one.
        if !O::before(best, value) && O::counts(value) {
            (at, found) = (k * N + e, value);
        }
    });
    let mut index = u64::MAX;
    unrolled!(|k < K| if at / N == k {
        index = first[k] + (at % N) as u64;
    });
    first_of::<_, O>(acc, Indexed::new(found, index))
}

/// The value that comes first; of equal values, the one with the smaller index.
#[inline(always)]
fn first_of<V: Copy, O: Rank<V>>(a: Indexed<V>, b: Indexed<V>) -> Indexed<V> {
    let (x, y) = (a.value(), b.value());
    let keep = O::before(x, y) || (!O::before(y, x) && a.index() <= b.index());
    if keep { a } else { b }
}

/// The same; of equal values with the same index, one that does not depend on their order. Elements of an array have
/// different indices, but items that have an index may have the same.
#[inline(always)]
fn first_or_either<V: Copy, O: Rank<V>>(a: Indexed<V>, b: Indexed<V>) -> Indexed<V> {
    let (x, y) = (a.value(), b.value());
    let are_equal = !O::before(x, y) && !O::before(y, x) && a.index() == b.index();
    if are_equal {
        return Indexed::new(O::either(x, y), a.index());
    }
    first_of::<_, O>(a, b)
}

macro_rules! rank {
    ($op:ident: $(
        $value:ident, $last:expr, |$a:ident, $b:ident| $before:expr $(, $extreme:expr, $either:expr)?;
    )*) => { $(
        impl Rank<$value> for $op {
            const LAST: $value = $last;

            #[inline(always)]
            #[allow(clippy::neg_cmp_op_on_partial_ord, reason = "true of NaN, too")]
            fn before($a: $value, $b: $value) -> bool {
                $before
            }

            $(
                #[inline(always)]
                fn extreme($a: $value, $b: $value) -> $value {
                    match $extreme {
                        Some(extreme) => extreme,
                        None if Self::before($b, $a) => $b,
                        None => $a,
                    }
                }

                #[inline(always)]
                fn either($a: $value, $b: $value) -> $value {
                    $either
                }
            )?
        }
    )* };
}

/// The float with the bits of both: of the two zeros -0.0, of two NaN a NaN.
macro_rules! with_bits {
    ($float:ident, $a:ident, $b:ident) => {
        $float::from_bits($a.to_bits() | $b.to_bits())
    };
}

// Of floats without a condition between the comparisons, so that each is one instruction.
rank! { ArgMin:
    i32, i32::MAX, |a, b| a < b;
    u32, u32::MAX, |a, b| a < b;
    i64, i64::MAX, |a, b| a < b;
    u64, u64::MAX, |a, b| a < b;
    f32, f32::INFINITY, |a, b| !(a >= b) & !b.is_nan(), f32::smaller(a, b), with_bits!(f32, a, b);
    f64, f64::INFINITY, |a, b| !(a >= b) & !b.is_nan(), f64::smaller(a, b), with_bits!(f64, a, b);
}

rank! { ArgMax:
    i32, i32::MIN, |a, b| a > b;
    u32, u32::MIN, |a, b| a > b;
    i64, i64::MIN, |a, b| a > b;
    u64, u64::MIN, |a, b| a > b;
    f32, f32::NEG_INFINITY, |a, b| !(a <= b) & !b.is_nan(), f32::larger(a, b), with_bits!(f32, a, b);
    f64, f64::NEG_INFINITY, |a, b| !(a <= b) & !b.is_nan(), f64::larger(a, b), with_bits!(f64, a, b);
}

macro_rules! nan_rank {
    ($op:ident: $last:ident, |$a:ident, $b:ident| $before:expr, $extreme:ident, $($float:ident)*) => { $(
        impl Rank<$float> for $op {
            const LAST: $float = $float::$last;

            #[inline(always)]
            fn before($a: $float, $b: $float) -> bool {
                $before
            }

            #[inline(always)]
            fn extreme($a: $float, $b: $float) -> $float {
                // Of a number and a NaN, the number.
                $a.$extreme($b)
            }

            #[inline(always)]
            fn either($a: $float, $b: $float) -> $float {
                with_bits!($float, $a, $b)
            }

            #[inline(always)]
            fn counts(value: $float) -> bool {
                !value.is_nan()
            }
        }
    )* };
}

nan_rank!(NanArgMin: INFINITY, |a, b| a < b, min, f32 f64);
nan_rank!(NanArgMax: NEG_INFINITY, |a, b| a > b, max, f32 f64);
