//! What to reduce by.

use kernels_gpu::element::{Indexed, bf16, f16};
use kernels_gpu::op::{
    And, ArgMax, ArgMin, Max, MeanVariance, Min, MinMax, NanMax, NanMin, Op, Or, Product, Sum,
    SumAbs, SumSquares, SumWide, Xor,
};

use crate::cpu;
use crate::element::Element;

/// An operator of elements `T`: [`Sum`], [`SumWide`], [`Product`], [`Min`], [`Max`], [`MinMax`],
/// [`ArgMin`], [`ArgMax`], [`SumAbs`], [`SumSquares`] and [`MeanVariance`] of all numbers, [`And`],
/// [`Or`] and [`Xor`] of integers, [`NanMin`] and [`NanMax`] of floats.
///
/// By which kernels is [`ENTRIES`](kernels_gpu::entry::ENTRIES); other combinations are
/// [`Error::NotAvailable`](crate::Error::NotAvailable).
///
/// The trait is sealed, since a kernel is found by the operator's name, and one of that name
/// with another meaning would get the wrong kernel's value:
///
/// ```compile_fail,E0277
/// #[derive(Clone, Copy)]
/// struct Square;
///
/// impl kernels_gpu::op::Op<i32> for Square {
///     const NAME: &'static str = "sum";
///     type Acc = i32;
///     const IDENTITY: i32 = 1;
///     type Output = i32;
///
///     fn lift(value: i32, _: usize) -> i32 {
///         value
///     }
///
///     fn combine(a: i32, b: i32) -> i32 {
///         a.wrapping_mul(b)
///     }
///
///     fn finish(acc: i32) -> i32 {
///         acc
///     }
/// }
/// impl warpfold::Operator<i32> for Square {} // it is not `Sealed`
/// ```
pub trait Operator<T: Element>: sealed::Sealed<T> + Op<T, Acc: Element> {}

impl<T: Element, O: sealed::Sealed<T> + Op<T, Acc: Element>> Operator<T> for O {}

mod sealed {
    use super::{Element, Op, cpu};

    pub trait Sealed<T: Element>: Op<T> {
        /// Combines all of `input` on the CPU; the identity when it is empty.
        fn reduce_on_cpu(input: &[T]) -> Self::Acc {
            cpu::reduce::<T, Self>(input)
        }

        /// What elements come to that stand `by` places behind where they were combined.
        fn moved(acc: Self::Acc, by: u64) -> Self::Acc {
            let _ = by; // only places change
            acc
        }
    }
}

macro_rules! operators {
    ($($op:ident)*) => { $(
        impl<T: Element> sealed::Sealed<T> for $op where $op: Op<T> {}
    )* };
}

operators!(Sum SumWide Product Min Max MinMax NanMin NanMax And Or Xor SumAbs SumSquares);

impl<T: Element> sealed::Sealed<T> for MeanVariance
where
    MeanVariance: Op<T>,
{
    fn reduce_on_cpu(input: &[T]) -> Self::Acc {
        cpu::reduce_in_turn::<T, Self>(input)
    }
}

/// The index where there was no element.
const NOWHERE: u64 = u64::MAX;

/// Places of elements, and of what is a place already.
macro_rules! operators_with_places {
    ($($op:ident)*, of $elements:tt and $values:tt) => {
        $(operators_with_places!(@$op $elements $values);)*
    };
    (@$op:ident [$($element:ident)*] [$($value:ident)*]) => {
        $(impl sealed::Sealed<$element> for $op {
            fn reduce_on_cpu(input: &[$element]) -> Self::Acc {
                cpu::reduce_places::<$element, Self>(input)
            }

            fn moved(acc: Self::Acc, by: u64) -> Self::Acc {
                match acc.index() {
                    NOWHERE => acc,
                    index => Indexed::new(acc.value(), index + by),
                }
            }
        })*
        $(impl sealed::Sealed<Indexed<$value>> for $op {})*
    };
}

operators_with_places!(
    ArgMin ArgMax,
    of [i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64] and [i32 i64 u32 u64 f32 f64]
);
