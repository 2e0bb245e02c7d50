//! Operators over integers: exact, in the element type's own arithmetic.

use crate::answers::{FIRST, atomic, empty, number, partials, reduced};
use crate::keep_the_laws;
use kernels_gpu::element::{Indexed, Number};
use kernels_gpu::laws::{any, proptest::prelude::*};
use kernels_gpu::op::{
    And, ArgMax, ArgMin, Count, Dot, Equal, Greater, InRange, Less, Max, MeanVariance, Min, MinMax,
    Op, Or, Product, Sum, SumAbs, SumSquares, SumWide, Xor,
};

macro_rules! integers {
    ($($t:ident)*) => { $(
        mod $t {
            use super::*;

            type Acc = <$t as Number>::Acc;
            type Wide = <SumWide as Op<$t>>::Acc;

            mod keeps_the_laws {
                use super::*;

                keep_the_laws! {
                    sum: Sum, any::<$t>();
                    sum_wide: SumWide, any::<$t>();
                    product: Product, any::<$t>();
                    min: Min, any::<$t>();
                    max: Max, any::<$t>();
                    and: And, any::<$t>();
                    or: Or, any::<$t>();
                    xor: Xor, any::<$t>();
                    dot: Dot, (any::<$t>(), any::<$t>());
                    count: Count(Less(2 as $t)), any::<$t>();
                    min_max: MinMax, any::<$t>();
                    arg_min: ArgMin, any::<$t>();
                    arg_max: ArgMax, any::<$t>();
                    arg_min_of_partials: ArgMin, any::<Indexed<Acc>>();
                    arg_max_of_partials: ArgMax, any::<Indexed<Acc>>();
                    sum_abs: SumAbs, any::<$t>();
                    sum_squares: SumSquares, any::<$t>(), .tolerance(1e-13);
                    mean_variance: MeanVariance, 0..100 as $t, .close(|a, b| {
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
                fn numbers(x in three()) {
                    let of = |own: fn($t, $t) -> $t| x.into_iter().reduce(own).unwrap();
                    number(Sum, x, of($t::wrapping_add))?;
                    number(Product, x, of($t::wrapping_mul))?;
                    number(Min, x, of(|a, b| a.min(b)))?;
                    number(Max, x, of(|a, b| a.max(b)))?;
                    number(And, x, of(|a, b| a & b))?;
                    number(Or, x, of(|a, b| a | b))?;
                    number(Xor, x, of(|a, b| a ^ b))?;
                    let both = reduced(MinMax, x).unwrap();
                    prop_assert_eq!(Some(both.min()), reduced(Min, x));
                    prop_assert_eq!(Some(both.max()), reduced(Max, x));
                }

                #[test]
                fn wide(x in three(), y in three()) {
                    partials(SumWide, x)?;
                    atomic(SumWide, x)?;
                    let sum = x.iter().map(|x| i128::from(*x)).sum::<i128>();
                    prop_assert_eq!(reduced(SumWide, x), sum as Wide);
                    let pairs = [0, 1, 2].map(|i| (x[i], y[i]));
                    let products = pairs.map(|(x, y)| i128::from(x).wrapping_mul(i128::from(y)));
                    let sum = products.into_iter().fold(0, i128::wrapping_add);
                    prop_assert_eq!(reduced(Dot, pairs), sum as Wide);
                }

                #[test]
                fn count(x in three(), value in any::<$t>(), below in any::<$t>()) {
                    let number = |holds: fn($t, $t) -> bool| x.iter().filter(|x| holds(**x, value)).count();
                    prop_assert_eq!(reduced(Count(Less(value)), x), number(|x, y| x < y) as u64);
                    prop_assert_eq!(reduced(Count(Equal(value)), x), number(|x, y| x == y) as u64);
                    prop_assert_eq!(reduced(Count(Greater(value)), x), number(|x, y| x > y) as u64);
                    let within = x.iter().filter(|x| (value..below).contains(x)).count() as u64;
                    prop_assert_eq!(reduced(Count(InRange(value, below)), x), within);
                }

                #[test]
                fn index(x in three()) {
                    partials(ArgMin, x)?;
                    partials(ArgMax, x)?;
                    let first = |value: $t| {
                        let index = x.iter().position(|x| *x == value).unwrap();
                        Indexed::new(value, FIRST + index as u64)
                    };
                    prop_assert_eq!(reduced(ArgMin, x), reduced(Min, x).map(first));
                    prop_assert_eq!(reduced(ArgMax, x), reduced(Max, x).map(first));
                }
            }

            #[test]
            fn of_no_values() {
                let results = [empty::<$t, _>(Sum), empty::<$t, _>(Product), empty::<$t, _>(And), empty::<$t, _>(Or), empty::<$t, _>(Xor)];
                assert_eq!(results, [0, 1, !0, 0, 0]);
                let none = [empty::<$t, _>(Min), empty::<$t, _>(Max)];
                assert_eq!(none, [None; 2]);
                let none = [empty::<$t, _>(ArgMin), empty::<$t, _>(ArgMax)];
                assert_eq!(none, [None; 2]);
                assert_eq!(empty::<$t, _>(MinMax), None);
                assert_eq!(empty::<$t, _>(MeanVariance), None);
                assert_eq!(empty::<$t, _>(Count(Less($t::MAX))), 0);
                assert_eq!(empty::<($t, $t), _>(Dot), 0);
            }
        }
    )* };
}

integers!(i8 i16 i32 i64 u8 u16 u32 u64);
