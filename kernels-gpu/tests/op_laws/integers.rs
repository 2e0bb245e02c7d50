//! Operators of integers: exact, in the arithmetic of the element's own type.

use crate::laws::{FIRST, atomic, empty, exact, partials, reduced, round_trip};
use crate::values::Values;
use kernels_gpu::element::{Indexed, Number};
use kernels_gpu::op::{
    And, ArgMax, ArgMin, AtomicOp, Count, Dot, Equal, Greater, Less, Max, Min, MinMax, Op, Or,
    Product, Sum, SumWide, Xor,
};
use proptest::prelude::*;

macro_rules! laws {
    ($($t:ident)*) => { $(
        mod $t {
            use super::*;

            type Acc = <$t as Number>::Acc;

            fn three() -> impl Strategy<Value = [$t; 3]> {
                [$t::values(), $t::values(), $t::values()]
            }

            proptest! {
                #[test]
                fn sum(x in three()) {
                    number(Sum, x, |a, b| a.wrapping_add(b))?;
                }

                #[test]
                fn sum_wide(x in three()) {
                    type Wide = <SumWide as Op<$t>>::Acc;
                    exact(SumWide, x)?;
                    partials(SumWide, x)?;
                    atomic(SumWide, x)?;
                    let sum = x.iter().map(|x| i128::from(*x)).sum::<i128>();
                    prop_assert_eq!(reduced(SumWide, x), sum as Wide);
                }

                #[test]
                fn product(x in three()) {
                    number(Product, x, |a, b| a.wrapping_mul(b))?;
                }

                #[test]
                fn min(x in three()) {
                    number(Min, x, |a, b| a.min(b))?;
                }

                #[test]
                fn max(x in three()) {
                    number(Max, x, |a, b| a.max(b))?;
                }

                #[test]
                fn and(x in three()) {
                    number(And, x, |a, b| a & b)?;
                }

                #[test]
                fn or(x in three()) {
                    number(Or, x, |a, b| a | b)?;
                }

                #[test]
                fn xor(x in three()) {
                    number(Xor, x, |a, b| a ^ b)?;
                }

                #[test]
                fn dot(x in three(), y in three()) {
                    type Wide = <SumWide as Op<$t>>::Acc;
                    let pairs = [0, 1, 2].map(|i| (x[i], y[i]));
                    exact(Dot, pairs)?;
                    let products = pairs.map(|(x, y)| i128::from(x).wrapping_mul(i128::from(y)));
                    let sum = products.into_iter().fold(0, i128::wrapping_add);
                    prop_assert_eq!(reduced(Dot, pairs), sum as Wide);
                }

                #[test]
                fn count(x in three(), value in $t::values()) {
                    let number = |holds: fn($t, $t) -> bool| x.iter().filter(|x| holds(**x, value)).count();
                    exact(Count(Less(value)), x)?;
                    prop_assert_eq!(reduced(Count(Less(value)), x), number(|x, y| x < y) as u64);
                    prop_assert_eq!(reduced(Count(Equal(value)), x), number(|x, y| x == y) as u64);
                    prop_assert_eq!(reduced(Count(Greater(value)), x), number(|x, y| x > y) as u64);
                }

                #[test]
                fn min_max(x in three()) {
                    let both = reduced(MinMax, x);
                    prop_assert_eq!((both.min(), both.max()), (reduced(Min, x), reduced(Max, x)));
                }

                #[test]
                fn arg_min(x in three()) {
                    place(ArgMin, x, x.iter().min().unwrap())?;
                }

                #[test]
                fn arg_max(x in three()) {
                    place(ArgMax, x, x.iter().max().unwrap())?;
                }
            }

            fn number<O>(op: O, x: [$t; 3], own: fn($t, $t) -> $t) -> Result<(), TestCaseError>
            where
                O: Op<$t, Acc = Acc, Output = $t> + Op<Acc, Acc = Acc>,
                O: AtomicOp<$t>,
            {
                exact::<$t, O>(op, x)?;
                partials::<$t, Acc, O>(op, x)?;
                round_trip::<$t, O>(op, x)?;
                atomic::<$t, O>(op, x)?;
                let [a, b, c] = x;
                prop_assert_eq!(reduced::<$t, O>(op, x), own(own(a, b), c));
                Ok(())
            }

            fn place<O>(op: O, x: [$t; 3], wins: &$t) -> Result<(), TestCaseError>
            where
                O: Op<$t, Acc = Indexed<Acc>, Output = Indexed<$t>>,
                O: Op<Indexed<Acc>, Acc = Indexed<Acc>>,
            {
                exact::<$t, O>(op, x)?;
                partials::<$t, Indexed<Acc>, O>(op, x)?;
                let first = x.iter().position(|value| value == wins).unwrap();
                let got = reduced::<$t, O>(op, x);
                prop_assert_eq!((got.value(), got.index()), (*wins, FIRST + first as u64));
                Ok(())
            }

            #[test]
            fn of_no_values() {
                assert_eq!((empty::<$t, _>(Sum), empty::<$t, _>(Product)), (0, 1));
                assert_eq!((empty::<$t, _>(Min), empty::<$t, _>(Max)), ($t::MAX, $t::MIN));
                assert_eq!((empty::<$t, _>(And), empty::<$t, _>(Or), empty::<$t, _>(Xor)), (!0, 0, 0));
                assert_eq!(empty::<$t, _>(ArgMin), Indexed::new($t::MAX, u64::MAX));
                assert_eq!(empty::<$t, _>(ArgMax), Indexed::new($t::MIN, u64::MAX));
                assert_eq!(empty::<$t, _>(Count(Less($t::MAX))), 0);
                assert_eq!(empty::<($t, $t), _>(Dot), 0);
                let none = empty::<$t, _>(MinMax);
                assert_eq!((none.min(), none.max()), ($t::MAX, $t::MIN));
            }
        }
    )* };
}

laws!(i8 i16 i32 i64 u8 u16 u32 u64);
