//! The operators of the suite whole, with one interface.

use anyhow::Result;
#[cfg(feature = "sweeps")]
use kernels_gpu::element::{bf16, f16};
use warpfold::{
    Algorithm, ArgMax, ArgMin, Dot, Input, Items, Max, MeanVariance, Min, Op, Plan, Reduction,
    SinglePass, Sum, View,
};

use super::answers::Answer;
use super::data::Number;
use crate::rungs::{Rungs, no_kernel};

/// An operator over elements `T`, with its items and its output.
pub trait Case<T: Number> {
    /// Its items: elements, or pairs of them.
    type Items: Items;

    /// The operator.
    type Op: SinglePass<Self::Items>;

    const OP: Self::Op;

    /// Its input: one array, or both.
    fn input<'a>(a: View<'a, T>, b: View<'a, T>) -> impl Input<'a, Self::Items> + Copy + 'a;

    /// Converts its output.
    fn answer(output: OutputOf<T, Self>) -> Option<Answer<T>>;

    /// Plans the reduction with an algorithm other than the default; [`BadOption`](crate::options::BadOption)
    /// if there is no such kernel.
    fn plan<'a>(
        reduction: Reduction<'a, Self::Items, Self::Op>,
        algorithm: Algorithm,
    ) -> Result<Plan<'a, OutputOf<T, Self>>>;
}

/// The output of a case's operator.
pub type OutputOf<T, C> = <<C as Case<T>>::Op as Op<<C as Case<T>>::Items>>::Output;

/// Runs the body with `$C` as the [`Case`] of an operation.
macro_rules! with_case {
    ($operation:expr, |$C:ident| $body:expr) => {
        $crate::sweep::cases::with_case!(@ $operation, $C, $body,
            Sum, Min, Max, ArgMin, ArgMax, Dot, MeanVariance)
    };
    (@ $operation:expr, $C:ident, $body:expr, $($name:ident),*) => {
        match $operation {
            $($crate::sweep::options::Operation::$name => {
                type $C = warpfold::$name;
                $body
            })*
        }
    };
}

pub(crate) use with_case;

macro_rules! cases {
    ($($element:ident)*) => { $(
        cases!(@ $element Sum, ladder, |sum| Some(Answer::Element(sum)));
        cases!(@ $element Min, ladder, |least| least.map(Answer::Element));
        cases!(@ $element Max, ladder, |largest| largest.map(Answer::Element));
        cases!(@ $element ArgMin, single_pass, |at| at.map(|at| Answer::At(at.value(), at.index())));
        cases!(@ $element ArgMax, single_pass, |at| at.map(|at| Answer::At(at.value(), at.index())));
        cases!(@ $element MeanVariance, single_pass, |moments| moments.map(|moments| {
            Answer::Moments(moments.count(), moments.mean(), moments.variance())
        }));

        impl Case<$element> for Dot {
            type Items = ($element, $element);
            type Op = Self;
            const OP: Self = Self;

            fn input<'a>(
                a: View<'a, $element>,
                b: View<'a, $element>,
            ) -> impl Input<'a, Self::Items> + Copy + 'a {
                (a, b)
            }

            fn answer(output: OutputOf<$element, Self>) -> Option<Answer<$element>> {
                Some(dot_answer(output))
            }

            cases!(@single_pass $element);
        }
    )* };

    (@ $element:ident $op:ident, $way:ident, |$output:ident| $answer:expr) => {
        impl Case<$element> for $op {
            type Items = $element;
            type Op = Self;
            const OP: Self = Self;

            fn input<'a>(
                a: View<'a, $element>,
                _: View<'a, $element>,
            ) -> impl Input<'a, $element> + Copy + 'a {
                a
            }

            fn answer($output: OutputOf<$element, Self>) -> Option<Answer<$element>> {
                $answer
            }

            cases!(@$way $element);
        }
    };

    (@ladder $element:ident) => {
        fn plan<'a>(
            reduction: Reduction<'a, Self::Items, Self>,
            algorithm: Algorithm,
        ) -> Result<Plan<'a, OutputOf<$element, Self>>> {
            Rungs::plan(reduction, algorithm, None)
        }
    };

    (@single_pass $element:ident) => {
        fn plan<'a>(
            _: Reduction<'a, Self::Items, Self>,
            algorithm: Algorithm,
        ) -> Result<Plan<'a, OutputOf<$element, Self>>> {
            Err(no_kernel(algorithm, <Self as SinglePass<Self::Items>>::ENTRY))
        }
    };
}

#[cfg(feature = "sweeps")]
cases!(i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64);
// The ladder has one type.
#[cfg(not(feature = "sweeps"))]
cases!(i32);

/// A dot product: an integer or a float of 64 bits.
trait DotProduct {
    fn answer<T>(self) -> Answer<T>;
}

impl DotProduct for i64 {
    fn answer<T>(self) -> Answer<T> {
        Answer::Integer(self.into())
    }
}

impl DotProduct for u64 {
    fn answer<T>(self) -> Answer<T> {
        Answer::Integer(self.into())
    }
}

impl DotProduct for f64 {
    fn answer<T>(self) -> Answer<T> {
        Answer::Float(self)
    }
}

fn dot_answer<T>(product: impl DotProduct) -> Answer<T> {
    product.answer()
}
