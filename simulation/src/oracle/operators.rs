//! The operators' naive loops.

use std::cmp::Ordering;
use std::ops::{BitAnd, BitOr, BitXor};

use kernels_gpu::element::Indexed;
use kernels_gpu::op::{
    And, ArgMax, ArgMin, Max, Min, NanArgMax, NanArgMin, NanMax, NanMin, NanSum, Op, Or, Product,
    Sum, SumWide, Xor,
};

use super::{Expected, Oracle, Subject, Total, Value};

impl<A: Total> Oracle<A> for Sum
where
    Sum: Op<A, Acc = A>,
{
    const OP: Self = Sum;
    fn expected(values: &[A]) -> Expected<A> {
        A::sum(values)
    }
}

/// The sum of elements without a NaN.
impl<A: Total> Oracle<A> for NanSum
where
    NanSum: Op<A, Acc = A>,
{
    const OP: Self = NanSum;
    fn expected(values: &[A]) -> Expected<A> {
        A::sum(values)
    }
}

impl<A: Total> Oracle<A> for SumWide
where
    SumWide: Op<A, Acc = A>,
{
    const OP: Self = SumWide;
    fn expected(values: &[A]) -> Expected<A> {
        A::sum(values)
    }
}

impl<A: Total> Oracle<A> for Product
where
    Product: Op<A, Acc = A>,
{
    const OP: Self = Product;
    const EXACT_ON_WHOLE: bool = false;
    fn expected(values: &[A]) -> Expected<A> {
        A::product(values)
    }
}

macro_rules! extrema {
    ($($op:ident: $wins:ident, NaN wins $nan:literal;)*) => { $(
        impl<A: Subject> Oracle<A> for $op
        where
            $op: Op<A, Acc = A>,
        {
            const OP: Self = $op;
            fn expected(values: &[A]) -> Expected<A> {
                let best = extremum(values, Ordering::$wins, $nan);
                Expected::exact(best.unwrap_or_else(|| Op::<A>::identity(&$op)))
            }
        }
    )* };
}

extrema! {
    Min: Less, NaN wins true;
    Max: Greater, NaN wins true;
    NanMin: Less, NaN wins false;
    NanMax: Greater, NaN wins false;
}

/// The first element in the direction's order. A NaN precedes all others, or is never first.
fn extremum<A: Subject>(values: &[A], wins: Ordering, nan_wins: bool) -> Option<A> {
    let mut best: Option<A> = None;
    for value in values {
        match (value.is_nan(), best) {
            (true, _) if nan_wins => return Some(*value),
            (true, _) => {}
            (false, Some(best)) if value.order(&best) != wins => {}
            (false, _) => best = Some(*value),
        }
    }
    best
}

macro_rules! bitwise {
    ($($op:ident: $bit:ident, $bit_op:ident, $none:expr;)*) => { $(
        impl<A: Subject + $bit<Output = A>> Oracle<A> for $op
        where
            $op: Op<A, Acc = A>,
        {
            const OP: Self = $op;
            fn expected(values: &[A]) -> Expected<A> {
                let all = values.iter().copied().reduce(A::$bit_op);
                Expected::exact(all.unwrap_or($none))
            }
        }
    )* };
}

// For empty input: zero, and the integer with all bits set.
bitwise! {
    And: BitAnd, bitand, A::ZEROES[1];
    Or: BitOr, bitor, A::ZEROES[0];
    Xor: BitXor, bitxor, A::ZEROES[0];
}

macro_rules! places {
    ($($op:ident: $wins:ident;)*) => { $(
        impl<V: Subject + PartialOrd> Oracle<Indexed<V>> for $op
        where
            Indexed<V>: Value,
            $op: Op<Indexed<V>, Acc = Indexed<V>>,
        {
            const OP: Self = $op;
            fn expected(values: &[Indexed<V>]) -> Expected<Indexed<V>> {
                let best = first(values, Ordering::$wins);
                Expected::exact(best.unwrap_or_else(|| Op::<Indexed<V>>::identity(&$op)))
            }
        }
    )* };
}

places! {
    ArgMin: Less;
    ArgMax: Greater;
    // Elements without a NaN.
    NanArgMin: Less;
    NanArgMax: Greater;
}

/// In index order: the first NaN, or the first element that no other precedes.
fn first<V: Subject + PartialOrd>(values: &[Indexed<V>], wins: Ordering) -> Option<Indexed<V>> {
    let mut sorted = values.to_vec();
    sorted.sort_by_key(|value| value.index());
    let nan = sorted.iter().find(|value| value.value().is_nan());
    nan.copied().or_else(|| {
        sorted
            .into_iter()
            .reduce(|best, next| match next.value().partial_cmp(&best.value()) {
                Some(order) if order == wins => next,
                _ => best,
            })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::{close, same};

    #[test]
    fn a_product_may_round_in_any_order() {
        let values: Vec<f32> = (1..30).map(|i| 1.0 + 1.0 / i as f32).collect();
        let expected = Product::expected(&values);
        let backwards = values.iter().rev().product();
        close(backwards, &expected, 0.0).unwrap();
        close(backwards * 1.001, &expected, 0.0).unwrap_err();
    }

    #[test]
    fn a_product_is_not_checked_where_the_order_decides() {
        let values = [f32::MAX, f32::MAX, 1e-38, 1e-38];
        let expected = Product::expected(&values);
        close(f32::INFINITY, &expected, 0.0).unwrap();
        // Equal in every order.
        let overflow = Product::expected(&values[..2]);
        assert_eq!(overflow.value, f32::INFINITY);
        close(f32::MAX, &overflow, 0.0).unwrap_err();
    }

    #[test]
    fn integers_wrap() {
        assert_eq!(Product::expected(&[i32::MAX; 3]).value, i32::MAX);
        assert_eq!(Product::expected(&[u64::MAX; 4]).value, 1);
        assert_eq!(Sum::expected(&[u64::MAX; 4]).value, u64::MAX - 3);
    }

    #[test]
    fn nan_wins_or_does_not_count() {
        let values = [1.0, f64::NAN, -0.0, 0.0];
        assert!(Min::expected(&values).value.is_nan());
        assert!(same(NanMin::expected(&values).value, -0.0));
        assert!(same(NanMax::expected(&values[1..]).value, 0.0));
        assert!(NanMax::expected(&[f64::NAN]).value.is_nan());
    }

    #[test]
    fn the_first_of_equals_wins_whatever_the_order() {
        let at = |value: f32, index| Indexed::new(value, index);
        let values = [at(0.0, 7), at(-0.0, 3), at(1.0, 0)];
        assert_eq!(ArgMin::expected(&values).value.index(), 3);
        assert_eq!(ArgMax::expected(&values).value.index(), 0);
        let values = [at(f32::NAN, 7), at(-1.0, 3), at(f32::NAN, 5)];
        assert_eq!(ArgMin::expected(&values).value.index(), 5);
        assert_eq!(
            ArgMin::expected(&[] as &[Indexed<f32>]).value.index(),
            u64::MAX
        );
    }

    #[test]
    fn what_does_not_round_must_be_the_same() {
        let expected = ArgMin::expected(&[Indexed::new(5, 3), Indexed::new(4, 7)]);
        close(Indexed::new(4, 7), &expected, 10.0).unwrap();
        close(Indexed::new(4, 6), &expected, 10.0).unwrap_err();
        close(0.0, &Min::expected(&[0.0, -0.0]), 10.0).unwrap_err();
    }
}
