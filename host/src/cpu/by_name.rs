//! Exact sums by the name of their operator, for items whose type is known only to the compiler.

use std::any::TypeId;

use kernels_gpu::element::{Element, bf16, f16};
use kernels_gpu::exact::Accumulator;
use kernels_gpu::items::{Each, Items, Map};

use super::exact::{dot, sum, sum_abs, sum_squares};
use crate::input::Slices;

/// An array of floats.
#[derive(Clone, Copy)]
enum Floats<'a> {
    F16(&'a [f16]),
    Bf16(&'a [bf16]),
    F32(&'a [f32]),
    F64(&'a [f64]),
}

impl<'a> Floats<'a> {
    /// The array, if its elements are floats.
    fn of<T: Element>(x: &'a [T]) -> Option<Self> {
        None.or_else(|| same(x).map(Self::F16))
            .or_else(|| same(x).map(Self::Bf16))
            .or_else(|| same(x).map(Self::F32))
            .or_else(|| same(x).map(Self::F64))
    }
}

/// The same array, if the types are the same.
fn same<T: Element, U: Element>(x: &[T]) -> Option<&[U]> {
    // SAFETY: the types are the same.
    (TypeId::of::<T>() == TypeId::of::<U>())
        .then(|| unsafe { std::slice::from_raw_parts(x.as_ptr().cast(), x.len()) })
}

/// The exact sum by the operator with this name, of which there is an exact kernel for these items.
pub(crate) fn accumulate<'a, I: Items>(op: &str, items: I::Of<Slices<'a>>) -> Accumulator {
    struct Arrays<'a>(Vec<Floats<'a>>);

    struct Nothing;

    impl Each for Nothing {
        type Of<T: Element> = ();
    }

    impl<'a> Map<Slices<'a>, Nothing> for Arrays<'a> {
        fn map<T: Element>(&mut self, x: &'a [T]) {
            self.0.extend(Floats::of(x));
        }
    }

    let mut arrays = Arrays(vec![]);
    I::map(items, &mut arrays);
    let sum = match arrays.0[..] {
        [Floats::F16(x)] => of_one(op, x),
        [Floats::Bf16(x)] => of_one(op, x),
        [Floats::F32(x)] => of_one(op, x),
        [Floats::F64(x)] => of_one(op, x),
        [Floats::F16(x), Floats::F16(y)] if op == "dot" => Some(dot(x, y)),
        [Floats::Bf16(x), Floats::Bf16(y)] if op == "dot" => Some(dot(x, y)),
        [Floats::F32(x), Floats::F32(y)] if op == "dot" => Some(dot(x, y)),
        [Floats::F64(x), Floats::F64(y)] if op == "dot" => Some(dot(x, y)),
        _ => None,
    };
    sum.expect("the list of kernels has an exact sum by this operator")
}

fn of_one<T: kernels_gpu::exact::Float>(op: &str, x: &[T]) -> Option<Accumulator> {
    match op {
        "sum" => Some(sum(x)),
        "sum_abs" => Some(sum_abs(x)),
        "sum_squares" => Some(sum_squares(x)),
        _ => None,
    }
}
