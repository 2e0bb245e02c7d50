//! What to reduce by.

use kernels_gpu::element::{Indexed, Number};
use kernels_gpu::op::{
    And, ArgMax, ArgMin, Max, Min, NanMax, NanMin, Op, Or, Product, Rank, Sum, SumWide, Xor,
};

use crate::cpu;
use crate::element::Element;

/// An operator of elements `T`: [`Sum`], [`SumWide`], [`Product`], [`Min`], [`Max`], [`ArgMin`] and
/// [`ArgMax`] of all numbers, [`And`], [`Or`] and [`Xor`] of integers, [`NanMin`] and [`NanMax`] of floats.
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
    }
}

macro_rules! operators {
    ($($op:ident)*) => { $(
        impl<T: Element> sealed::Sealed<T> for $op where $op: Op<T> {}
    )* };
}

operators!(Sum SumWide Product Min Max NanMin NanMax And Or Xor);

macro_rules! operators_with_places {
    ($($op:ident)*) => { $(
        impl<T: Element + Number> sealed::Sealed<T> for $op
        where
            $op: Op<T, Acc = Indexed<T::Acc>> + Rank<T::Acc>,
        {
            fn reduce_on_cpu(input: &[T]) -> Indexed<T::Acc> {
                cpu::reduce_places::<T, Self>(input)
            }
        }
    )* };
}

operators_with_places!(ArgMin ArgMax);
