//! Operators of integers: exact, in the arithmetic of the element's own type.

use crate::laws::{atomic, exact, reduced, round_trip};
use crate::values::Values;
use kernels_gpu::element::{Indexed, Number};
use kernels_gpu::op::{
    And, ArgMax, ArgMin, AtomicOp, Max, Min, Op, Or, Product, Sum, SumWide, Xor,
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
                    number::<Sum>(x, |a, b| a.wrapping_add(b))?;
                }

                #[test]
                fn sum_wide(x in three()) {
                    type Wide = <SumWide as Op<$t>>::Acc;
                    exact::<$t, Wide, SumWide>(x)?;
                    atomic::<$t, Wide, SumWide>(x)?;
                    let sum = x.iter().map(|x| i128::from(*x)).sum::<i128>();
                    prop_assert_eq!(reduced::<$t, SumWide>(x), sum as Wide);
                }

                #[test]
                fn product(x in three()) {
                    number::<Product>(x, |a, b| a.wrapping_mul(b))?;
                }

                #[test]
                fn min(x in three()) {
                    number::<Min>(x, |a, b| a.min(b))?;
                }

                #[test]
                fn max(x in three()) {
                    number::<Max>(x, |a, b| a.max(b))?;
                }

                #[test]
                fn and(x in three()) {
                    number::<And>(x, |a, b| a & b)?;
                }

                #[test]
                fn or(x in three()) {
                    number::<Or>(x, |a, b| a | b)?;
                }

                #[test]
                fn xor(x in three()) {
                    number::<Xor>(x, |a, b| a ^ b)?;
                }

                #[test]
                fn arg_min(x in three()) {
                    place::<ArgMin>(x, x.iter().min().unwrap())?;
                }

                #[test]
                fn arg_max(x in three()) {
                    place::<ArgMax>(x, x.iter().max().unwrap())?;
                }
            }

            fn number<O>(x: [$t; 3], own: fn($t, $t) -> $t) -> Result<(), TestCaseError>
            where
                O: Op<$t, Acc = Acc, Output = $t> + Op<Acc, Acc = Acc>,
                O: AtomicOp<$t>,
            {
                exact::<$t, Acc, O>(x)?;
                round_trip::<$t, O>(x)?;
                atomic::<$t, Acc, O>(x)?;
                let [a, b, c] = x;
                prop_assert_eq!(reduced::<$t, O>(x), own(own(a, b), c));
                Ok(())
            }

            fn place<O>(x: [$t; 3], wins: &$t) -> Result<(), TestCaseError>
            where
                O: Op<$t, Acc = Indexed<Acc>, Output = Indexed<$t>>,
                O: Op<Indexed<Acc>, Acc = Indexed<Acc>>,
            {
                exact::<$t, Indexed<Acc>, O>(x)?;
                let first = x.iter().position(|value| value == wins).unwrap();
                let got = reduced::<$t, O>(x);
                prop_assert_eq!((got.value(), got.index()), (*wins, 7 + first as u64));
                Ok(())
            }

            /// Nothing at all, as the caller gets it.
            #[test]
            fn empty() {
                fn of<O: Op<$t>>() -> O::Output {
                    O::finish(O::IDENTITY)
                }
                assert_eq!((of::<Sum>(), of::<Product>()), (0, 1));
                assert_eq!((of::<Min>(), of::<Max>()), ($t::MAX, $t::MIN));
                assert_eq!((of::<And>(), of::<Or>(), of::<Xor>()), (!0, 0, 0));
                assert_eq!(of::<ArgMin>(), Indexed::new($t::MAX, u64::MAX));
                assert_eq!(of::<ArgMax>(), Indexed::new($t::MIN, u64::MAX));
            }
        }
    )* };
}

laws!(i8 i16 i32 i64 u8 u16 u32 u64);
