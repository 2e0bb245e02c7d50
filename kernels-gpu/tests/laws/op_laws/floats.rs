//! Operators over floats: extrema are exact; sums and products round in the accumulator's type.

use crate::answers::{FIRST, atomic, empty, number, partials, reduced, text};
use crate::keep_the_laws;
use kernels_gpu::element::{Element, Indexed, Number, bf16, f16};
use kernels_gpu::laws::{any, proptest::prelude::*, proptest::sample::select};
use kernels_gpu::op::{
    ArgMax, ArgMin, Count, Dot, Equal, Greater, InRange, IsNan, Less, Max, MeanVariance, Min,
    MinMax, NanArgMax, NanArgMin, NanMax, NanMeanVariance, NanMin, NanSum, Op, Product, Sum,
    SumAbs, SumSquares, SumWide, WeightedMean,
};
use std::cmp::Ordering;

macro_rules! floats {
    ($($of:ident: $t:ident in $acc:ident;)*) => { $(
        mod $of {
            use super::*;

            /// More than the roundings of a list of items, relative to their sum.
            const TOLERANCE: f64 = 160.0 * $acc::EPSILON as f64;
            const TOLERANCE_64: f64 = 160.0 * f64::EPSILON;

            fn near(x: f64) -> $t {
                <$t as Number>::wrap(x as $acc)
            }

            /// Values of which 160 can be added without overflow.
            fn terms() -> impl Strategy<Value = $t> {
                any::<$t>().prop_map(|x| if x.is_finite() { x / near(256.0) } else { x })
            }

            /// Values of which 160 can be multiplied without overflow or underflow.
            fn factors() -> impl Strategy<Value = $t> {
                let special = [0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
                prop_oneof![
                    50 => 0.75..1.5,
                    50 => -1.5..-0.75,
                    1 => select(special.to_vec()),
                ]
                .prop_map(near)
            }

            fn moderate() -> impl Strategy<Value = $t> {
                (-1e3..1e3).prop_map(near)
            }

            /// Some values are NaN, also many in a row.
            fn with_nan() -> impl Strategy<Value = $t> {
                prop_oneof![2 => moderate(), 1 => Just(near(f64::NAN))]
            }

            mod keeps_the_laws {
                use super::*;

                keep_the_laws! {
                    sum: Sum, terms(), .tolerance(TOLERANCE);
                    sum_wide: SumWide, terms(), .tolerance(TOLERANCE_64);
                    nan_sum: NanSum, terms(), .tolerance(TOLERANCE);
                    product: Product, factors(), .close(|a, b| {
                        (a - b).abs() <= TOLERANCE as $acc * a.abs()
                    });
                    min: Min, any::<$t>();
                    max: Max, any::<$t>();
                    nan_min: NanMin, any::<$t>();
                    nan_max: NanMax, any::<$t>();
                    min_max: MinMax, any::<$t>();
                    // Rows that are absorbed together give the index of the first zero, with either sign.
                    // For two zeros with the same index either may be kept; arrays contain no such values.
                    arg_min: ArgMin, any::<$t>(), .zeros_equal();
                    arg_max: ArgMax, any::<$t>(), .zeros_equal();
                    arg_min_of_partials: ArgMin, any::<Indexed<$acc>>();
                    arg_max_of_partials: ArgMax, any::<Indexed<$acc>>();
                    count: Count(Less(near(2.0))), any::<$t>();
                    nan_arg_min: NanArgMin, any::<$t>(), .zeros_equal();
                    nan_arg_max: NanArgMax, any::<$t>(), .zeros_equal();
                    nan_arg_min_of_nan: NanArgMin, with_nan();
                    nan_arg_max_of_partials: NanArgMax, any::<Indexed<$acc>>();
                    count_in_range: Count(InRange(near(-1.0), near(2.0))), any::<$t>();
                    weighted_mean: WeightedMean, (moderate(), moderate()), .tolerance(TOLERANCE_64);
                    count_nan: Count(IsNan), any::<$t>();
                    dot: Dot, (moderate(), moderate()), .tolerance(TOLERANCE_64);
                    sum_abs: SumAbs, terms(), .tolerance(TOLERANCE_64);
                    sum_squares: SumSquares, any::<$t>(), .tolerance(TOLERANCE_64);
                    mean_variance: MeanVariance, moderate(), .close(|a, b| {
                        a.count() == b.count()
                            && (a.mean() - b.mean()).abs() < 1e-9
                            && (a.squares() - b.squares()).abs() < 1e-6
                    });
                    nan_mean_variance: NanMeanVariance, with_nan(), .close(|a, b| {
                        a.count() == b.count()
                            && (a.mean() - b.mean()).abs() < 1e-9
                            && (a.squares() - b.squares()).abs() < 1e-6
                    });
                }
            }

            fn three() -> impl Strategy<Value = [$t; 3]> {
                [any(), any(), any()]
            }

            proptest! {
                #[test]
                fn rounded(x in three()) {
                    let [a, b, c] = x.map(Number::widen);
                    number(Sum, x, <$t as Number>::wrap((a + b) + c))?;
                    number(Product, x, <$t as Number>::wrap((a * b) * c))?;
                    partials(SumWide, x)?;
                    atomic(SumWide, x)?;
                    let [a, b, c] = x.map(f64::from);
                    prop_assert_eq!(text(reduced(SumWide, x)), text((a + b) + c));
                }

                #[test]
                fn extrema(x in three()) {
                    number(Min, x, extremum(x, Ordering::Less, true))?;
                    number(Max, x, extremum(x, Ordering::Greater, true))?;
                    number(NanMin, x, extremum(x, Ordering::Less, false))?;
                    number(NanMax, x, extremum(x, Ordering::Greater, false))?;
                    let both = reduced(MinMax, x).unwrap();
                    prop_assert_eq!(text(Some(both.min())), text(reduced(Min, x)));
                    prop_assert_eq!(text(Some(both.max())), text(reduced(Max, x)));
                }

                #[test]
                fn count(x in three(), value in any::<$t>(), below in any::<$t>()) {
                    let number = |holds: fn($t, $t) -> bool| {
                        x.iter().filter(|x| holds(**x, value)).count() as u64
                    };
                    prop_assert_eq!(reduced(Count(Less(value)), x), number(|x, y| x < y));
                    prop_assert_eq!(reduced(Count(Equal(value)), x), number(|x, y| x == y));
                    prop_assert_eq!(reduced(Count(Greater(value)), x), number(|x, y| x > y));
                    prop_assert_eq!(reduced(Count(IsNan), x), number(|x, _| x.is_nan()));
                    let within = x.iter().filter(|x| (value..below).contains(x)).count() as u64;
                    prop_assert_eq!(reduced(Count(InRange(value, below)), x), within);
                }

                #[test]
                fn index(x in three()) {
                    partials(ArgMin, x)?;
                    partials(ArgMax, x)?;
                    prop_assert_eq!(text(reduced(ArgMin, x)), text(Some(first(x, |a, b| a < b))));
                    prop_assert_eq!(text(reduced(ArgMax, x)), text(Some(first(x, |a, b| a > b))));
                }

                #[test]
                fn without_nan(x in [with_nan(), with_nan(), with_nan()]) {
                    let numbers = (FIRST..).zip(x).filter(|(_, x)| !x.is_nan());
                    let numbers: Vec<_> = numbers.map(|(i, x)| Indexed::new(x, i)).collect();
                    let least = numbers.iter().copied().reduce(|a, b| if b.value() < a.value() { b } else { a });
                    let most = numbers.iter().copied().reduce(|a, b| if b.value() > a.value() { b } else { a });
                    prop_assert_eq!(reduced(NanArgMin, x), least);
                    prop_assert_eq!(reduced(NanArgMax, x), most);
                    let zeros = x.map(|x| if x.is_nan() { near(0.0) } else { x });
                    prop_assert_eq!(text(reduced(NanSum, x)), text(reduced(Sum, zeros)));
                    let moments = numbers.iter().map(|x| Op::<$t>::lift(&MeanVariance, x.value(), 0));
                    let moments = moments.reduce(|a, b| a.merge(b));
                    prop_assert_eq!(reduced(NanMeanVariance, x), moments);
                }

                #[test]
                fn weights(x in [moderate(), moderate(), moderate()], w in [factors(), factors(), factors()]) {
                    let pairs = [0, 1, 2].map(|i| (x[i], w[i]));
                    let [a, b, c] = pairs.map(|(x, w)| f64::from(x) * f64::from(w));
                    let [u, v, w] = w.map(f64::from);
                    let (sum, weight) = ((a + b) + c, (u + v) + w);
                    let right = (weight != 0.0).then(|| sum / weight);
                    prop_assert_eq!(text(reduced(WeightedMean, pairs)), text(right));
                }
            }

            /// In the total order of the bits, in which -0.0 is smaller than 0.0.
            fn extremum(x: [$t; 3], wins: Ordering, nan_wins: bool) -> $t {
                let mut right = $t::NAN;
                for value in x {
                    let nan = value.is_nan();
                    if nan && nan_wins {
                        return value;
                    }
                    if right.is_nan() || (!nan && value.total_cmp(&right) == wins) {
                        right = value;
                    }
                }
                right
            }

            /// The first NaN, or else the first of the values that come before all others.
            fn first(x: [$t; 3], before: fn($t, $t) -> bool) -> Indexed<$t> {
                let mut first = 0;
                for i in 1..3 {
                    if !x[first].is_nan() && (x[i].is_nan() || before(x[i], x[first])) {
                        first = i;
                    }
                }
                Indexed::new(x[first], FIRST + first as u64)
            }

            #[test]
            fn of_no_values() {
                let results = [empty::<$t, _>(Sum), empty::<$t, _>(NanSum), empty::<$t, _>(Product)];
                assert_eq!(text(results), "[0.0, 0.0, 1.0]");
                assert_eq!(text(empty::<$t, _>(SumWide)), "0.0");
                assert_eq!(text(empty::<$t, _>(SumAbs)), "0.0");
                assert_eq!(text(empty::<($t, $t), _>(Dot)), "0.0");
                let none = [empty::<$t, _>(Min), empty::<$t, _>(Max), empty::<$t, _>(NanMin), empty::<$t, _>(NanMax)];
                assert_eq!(none, [None; 4]);
                let none = [empty::<$t, _>(ArgMin), empty::<$t, _>(ArgMax), empty::<$t, _>(NanArgMin), empty::<$t, _>(NanArgMax)];
                assert_eq!(none, [None; 4]);
                assert_eq!(empty::<$t, _>(MinMax), None);
                assert_eq!(empty::<$t, _>(MeanVariance), None);
                assert_eq!(empty::<$t, _>(NanMeanVariance), None);
                assert_eq!(empty::<($t, $t), _>(WeightedMean), None);
            }

            /// A cell with the initial value contains the sum of the values, except for the sign of a zero.
            #[test]
            fn initial_sums() {
                let initial: $acc = Op::<$t>::initial(&Sum);
                assert_eq!(text(initial), "0.0");
                assert_eq!(text(Op::<$t>::combine(&Sum, initial, -0.0)), "0.0");
                assert_eq!(text(Op::<$t>::combine(&Sum, initial, -1.5)), "-1.5");
            }
        }
    )* };
}

floats! {
    of_f16: f16 in f32;
    of_bf16: bf16 in f32;
    of_f32: f32 in f32;
    of_f64: f64 in f64;
}

/// 16-bit floats are added in `f32`, and rounded when the sum is finished.
#[test]
fn halves_lose_nothing_on_the_way() {
    fn ones<T: Number<Acc = f32>>(n: usize) -> f32
    where
        Sum: Op<T, Acc = f32>,
    {
        let of_half = |sum, _| Op::<T>::combine(&Sum, sum, 1.0);
        (0..n).fold(Op::<T>::identity(&Sum), of_half)
    }
    assert_eq!(ones::<f16>(4097), 4097.0);
    let half = |sum| Op::<f16>::finish(&Sum, sum);
    assert_eq!(half(ones::<f16>(4097)), f16::from_f32(4096.0));
    assert_eq!(half(ones::<f16>(70_000)), f16::INFINITY);
    let brain = Op::<bf16>::finish(&Sum, ones::<bf16>(70_000));
    assert_eq!(brain, bf16::from_f32(70_144.0));
}

/// Of equal values at the same index, the result's bits do not depend on the order: of two zeros it is -0.0.
#[test]
fn equal_values_at_the_same_index() {
    fn check<V: Number, O: Op<Indexed<V>, Acc = Indexed<V>>>(op: O, of: fn(f64) -> V)
    where
        Indexed<V>: Element,
    {
        let combined = |a, b| {
            let [a, b] = [a, b].map(|(value, index)| Indexed::new(of(value), index));
            let both = op.combine(a, b);
            (both.value().to_f64(), both.index())
        };
        for (a, b) in [(0.0, -0.0), (-0.0, 0.0), (0.0, 0.0), (-0.0, -0.0)] {
            let negative = f64::is_sign_negative(a) || f64::is_sign_negative(b);
            let (value, index) = combined((a, 7), (b, 7));
            assert_eq!((value, index), (0.0, 7));
            assert_eq!(value.is_sign_negative(), negative, "{a} and {b}");
            // Of different indices the first counts, whatever the sign.
            let (value, index) = combined((a, 8), (b, 7));
            assert_eq!((value.to_bits(), index), (b.to_bits(), 7));
        }
        assert!(combined((f64::NAN, 7), (-f64::NAN, 7)).0.is_nan());
    }

    macro_rules! check {
        ($($op:ident)*) => { $(
            check::<f32, _>($op, |x| x as f32);
            check::<f64, _>($op, |x| x);
        )* };
    }

    check!(ArgMin ArgMax NanArgMin NanArgMax);
}
