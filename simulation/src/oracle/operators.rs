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
