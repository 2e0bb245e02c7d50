//! Operators of floats: extrema are exact; sums and products round, in the accumulator's type.

use crate::laws::{
    FIRST, atomic, empty, exact, identity_and_order, lifted, partials, reduced, round_trip,
};
use crate::values::{Bits, Values};
use kernels_gpu::element::{Indexed, Number, bf16, f16};
use kernels_gpu::op::{
    ArgMax, ArgMin, AtomicOp, Count, Equal, Greater, IsNan, Less, Max, Min, NanMax, NanMin, Op,
    Product, Sum, SumWide,
};
use proptest::prelude::*;
use std::cmp::Ordering;

macro_rules! laws {
    ($($of:ident: $t:ident in $acc:ident;)*) => { $(
        mod $of {
            use super::*;

            type Acc = <$t as Number>::Acc;

            fn three() -> impl Strategy<Value = [$t; 3]> {
                [$t::values(), $t::values(), $t::values()]
            }

            proptest! {
                #[test]
                fn sum(x in three()) {
                    let [a, b, c] = rounded(Sum, x, |a, b| a + b)?;
                    // Each addition rounds once: three values in two orders differ by at most
                    // four roundings of the largest partial.
                    let size = a.abs() + b.abs() + c.abs();
                    let off = ((a + b) + c) - (a + (b + c));
                    if size.is_finite() {
                        prop_assert!(off.abs() <= 4.0 * $acc::EPSILON * size, "{off}");
                    }
                }

                #[test]
                fn sum_wide(x in three()) {
                    identity_and_order(SumWide, x)?;
                    partials(SumWide, x)?;
                    atomic(SumWide, x)?;
                    let [a, b, c] = x.map(f64::from);
                    prop_assert_eq!(reduced(SumWide, x).bits(), ((a + b) + c).bits());
                    let off = ((a + b) + c) - (a + (b + c));
                    let size = a.abs() + b.abs() + c.abs();
                    if size.is_finite() {
                        prop_assert!(off.abs() <= 4.0 * f64::EPSILON * size, "{off}");
                    }
                }

                #[test]
                fn product(x in three()) {
                    let [a, b, c] = rounded(Product, x, |a, b| a * b)?;
                    // Each multiplication rounds once, unless a product is subnormal.
                    let (left, right) = ((a * b) * c, a * (b * c));
                    let normal = [a * b, b * c, left, right].iter().all(|x| x.is_normal());
                    if normal {
                        let off = (left - right).abs();
                        prop_assert!(off <= 2.0 * $acc::EPSILON * left.abs(), "{off}");
                    }
                }

                #[test]
                fn min(x in three()) {
                    extremum(Min, x, Ordering::Less, true)?;
                }

                #[test]
                fn max(x in three()) {
                    extremum(Max, x, Ordering::Greater, true)?;
                }

                #[test]
                fn nan_min(x in three()) {
                    extremum(NanMin, x, Ordering::Less, false)?;
                }

                #[test]
                fn nan_max(x in three()) {
                    extremum(NanMax, x, Ordering::Greater, false)?;
                }

                #[test]
                fn count(x in three(), value in $t::values()) {
                    exact(Count(Less(value)), x)?;
                    let number = |holds: fn($t, $t) -> bool| {
                        x.iter().filter(|x| holds(**x, value)).count() as u64
                    };
                    prop_assert_eq!(reduced(Count(Less(value)), x), number(|x, y| x < y));
                    prop_assert_eq!(reduced(Count(Equal(value)), x), number(|x, y| x == y));
                    prop_assert_eq!(reduced(Count(Greater(value)), x), number(|x, y| x > y));
                    prop_assert_eq!(reduced(Count(IsNan), x), number(|x, _| x.is_nan()));
                }

                #[test]
                fn arg_min(x in three()) {
                    place(ArgMin, x, |a, b| a < b)?;
                }

                #[test]
                fn arg_max(x in three()) {
                    place(ArgMax, x, |a, b| a > b)?;
                }
            }

            /// The three values as they enter.
            fn rounded<O>(op: O, x: [$t; 3], own: fn(Acc, Acc) -> Acc) -> Result<[Acc; 3], TestCaseError>
            where
                O: Op<$t, Acc = Acc, Output = $t> + Op<Acc, Acc = Acc>,
                O: AtomicOp<$t>,
            {
                identity_and_order::<$t, O>(op, x)?;
                partials::<$t, Acc, O>(op, x)?;
                round_trip::<$t, O>(op, x)?;
                atomic::<$t, O>(op, x)?;
                let [a, b, c] = lifted::<$t, O>(op, x);
                prop_assert_eq!([a, b, c].map(f64::from).map(Bits::bits), x.map(f64::from).map(Bits::bits));
                let right = <$t as Number>::wrap(own(own(a, b), c));
                prop_assert_eq!(reduced::<$t, O>(op, x).bits(), right.bits());
                Ok([a, b, c])
            }

            /// By the total order of the bits, in which -0.0 is smaller than 0.0.
            fn extremum<O>(op: O, x: [$t; 3], wins: Ordering, nan_wins: bool) -> Result<(), TestCaseError>
            where
                O: Op<$t, Acc = Acc, Output = $t> + Op<Acc, Acc = Acc>,
                O: AtomicOp<$t>,
            {
                exact::<$t, O>(op, x)?;
                partials::<$t, Acc, O>(op, x)?;
                round_trip::<$t, O>(op, x)?;
                atomic::<$t, O>(op, x)?;
                let mut right = $t::NAN;
                for value in x {
                    let nan = value.is_nan();
                    if right.is_nan() || (!nan && value.total_cmp(&right) == wins) {
                        right = value;
                    }
                }
                if nan_wins && x.iter().any(|value| value.is_nan()) {
                    right = $t::NAN;
                }
                prop_assert_eq!(reduced::<$t, O>(op, x).bits(), right.bits());
                Ok(())
            }

            fn place<O>(op: O, x: [$t; 3], before: fn($t, $t) -> bool) -> Result<(), TestCaseError>
            where
                O: Op<$t, Acc = Indexed<Acc>, Output = Indexed<$t>>,
                O: Op<Indexed<Acc>, Acc = Indexed<Acc>>,
            {
                exact::<$t, O>(op, x)?;
                partials::<$t, Indexed<Acc>, O>(op, x)?;
                let mut first = 0;
                for i in 1..3 {
                    if !x[first].is_nan() && (x[i].is_nan() || before(x[i], x[first])) {
                        first = i;
                    }
                }
                let got = reduced::<$t, O>(op, x);
                prop_assert_eq!(got.value().bits(), x[first].bits());
                prop_assert_eq!(got.index(), FIRST + first as u64);
                Ok(())
            }

            #[test]
            fn of_no_values() {
                assert_eq!(empty::<$t, _>(Sum).bits(), (-$t::from(0i8)).bits());
                assert_eq!(empty::<$t, _>(Product).bits(), $t::from(1i8).bits());
                assert_eq!(empty::<$t, _>(Min).bits(), $t::INFINITY.bits());
                assert_eq!(empty::<$t, _>(Max).bits(), $t::NEG_INFINITY.bits());
                assert_eq!(empty::<$t, _>(NanMin).bits(), $t::NAN.bits());
                assert_eq!(empty::<$t, _>(NanMax).bits(), $t::NAN.bits());
            }
        }
    )* };
}

laws! {
    of_f16: f16 in f32;
    of_bf16: bf16 in f32;
    of_f32: f32 in f32;
    of_f64: f64 in f64;
}

/// 16-bit floats are added in `f32`, and rounded where the sum is finished.
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
