//! Values at the limits of their type: NaN, infinities, signed zeros, subnormals, the smallest and the
//! largest numbers.

use std::sync::Arc;

use kernels_gpu::entry::Ladder;
use libtest_mimic::{Completion, Failed, Trial};
use warpfold::{Device, Max, Min, Sum};

use crate::lab::Lab;
use crate::ladder::{algorithms, by_atomics};
use crate::oracle::{Oracle, Subject, same};

/// Signed integers and floats. Unsigned integers are compared with the simulator.
pub fn trials(lab: &Arc<Lab>) -> Vec<Trial> {
    let mut trials = vec![];
    macro_rules! check {
        ($($op:ident $element:ident),*) => { $(
            let kernels = <$op as Ladder<$element>>::ENTRIES.iter();
            let kernels = kernels.map(|entry| entry.kernel).chain(["single_pass"]);
            for kernel in kernels {
                let name = format!("values {kernel} {} {}", stringify!($op), stringify!($element));
                trials.push(lab.trial(name, move |_, device| {
                    check::<$element, $op>(device, kernel, $element::arrays)
                }));
            }
        )* };
    }
    check!(Sum i32, Sum f32, Sum f64, Min i32, Min f32, Max i32, Max f32);
    trials
}

/// An array, its description, and whether its sum is the same in every order and with every algorithm.
struct Array<T> {
    name: &'static str,
    values: Vec<T>,
    sum: Sums,
}

#[derive(Clone, Copy, PartialEq)]
enum Sums {
    Exactly,
    /// Except for atomic additions on global memory, which treat subnormal f32 as zero.
    ExactlyWithoutAtomics,
    DependsOnTheOrder,
}

fn check<T: Subject, O: Oracle<T> + Ladder<T>>(
    device: &Device,
    kernel: &str,
    arrays: fn(usize) -> Vec<Array<T>>,
) -> Result<Completion, Failed> {
    for algorithm in algorithms(kernel) {
        let atomic = by_atomics(algorithm);
        for n in [1, 2, 33, 257, 5003] {
            for array in arrays(n) {
                let defined = match array.sum {
                    Sums::Exactly => true,
                    Sums::ExactlyWithoutAtomics => !(atomic && T::NAME == "f32"),
                    Sums::DependsOnTheOrder => false,
                };
                if O::NAME == "sum" && !defined {
                    continue;
                }
                let expected = O::expected(&array.values).value;
                let x = device.upload(&array.values)?;
                for threads in [32, 256] {
                    let reduction = device.reduce(&x, O::OP).algorithm(algorithm);
                    let got = O::value(reduction.threads(threads).run()?, n);
                    if !same(got, expected) {
                        let name = array.name;
                        return Err(format!(
                            "{algorithm:?}, {threads} threads, {n} elements, {name}: \
                             {got:?} instead of {expected:?}"
                        )
                        .into());
                    }
                }
            }
        }
    }
    Ok(Completion::Completed)
}

trait Edges: Sized {
    fn arrays(n: usize) -> Vec<Array<Self>>;
}

/// `n` times `common`, except `other` at each of `indices`.
fn with<T: Copy>(n: usize, common: T, other: T, indices: &[usize]) -> Vec<T> {
    let mut values = vec![common; n];
    for index in indices {
        values[*index] = other;
    }
    values
}

impl Edges for i32 {
    fn arrays(n: usize) -> Vec<Array<i32>> {
        let array = |name, values| Array {
            name,
            values,
            sum: Sums::Exactly,
        };
        vec![
            array("all i32::MAX", vec![i32::MAX; n]),
            array("all i32::MIN", vec![i32::MIN; n]),
            array("i32::MIN at the end", with(n, i32::MAX, i32::MIN, &[n - 1])),
            array("i32::MAX at the start", with(n, i32::MIN, i32::MAX, &[0])),
            array("-1 among zeroes", with(n, 0, -1, &[n / 2])),
        ]
    }
}

macro_rules! float_edges {
    ($element:ident, $bits:ident) => {
        impl Edges for $element {
            fn arrays(n: usize) -> Vec<Array<$element>> {
                const NAN: $element = $element::NAN;
                const INFINITY: $element = $element::INFINITY;
                let least = $element::from_bits(1);
                let array = |name, values, sum| Array { name, values, sum };
                let (exactly, without_atomics, any) = (
                    Sums::Exactly,
                    Sums::ExactlyWithoutAtomics,
                    Sums::DependsOnTheOrder,
                );
                vec![
                    array("NaN at the start", with(n, 1.0, NAN, &[0]), exactly),
                    array("NaN at the end", with(n, 1.0, NAN, &[n - 1]), exactly),
                    array("-NaN in the middle", with(n, 1.0, -NAN, &[n / 2]), exactly),
                    array(
                        "NaN among infinities",
                        with(n, INFINITY, NAN, &[n / 3]),
                        exactly,
                    ),
                    array(
                        "NaN among -infinities",
                        with(n, -INFINITY, NAN, &[n / 3]),
                        exactly,
                    ),
                    array("all NaN", vec![NAN; n], exactly),
                    array("an infinity", with(n, 1.0, INFINITY, &[n / 2]), exactly),
                    array("a -infinity", with(n, 1.0, -INFINITY, &[n - 1]), exactly),
                    array("all infinities", vec![INFINITY; n], exactly),
                    array("all -infinities", vec![-INFINITY; n], exactly),
                    array("all -0.0", vec![-0.0; n], exactly),
                    array("-0.0 at the end", with(n, 0.0, -0.0, &[n - 1]), any),
                    array("0.0 at the start", with(n, -0.0, 0.0, &[0]), exactly),
                    array("all MAX", vec![$element::MAX; n], exactly),
                    array("all MIN", vec![$element::MIN; n], exactly),
                    array(
                        "MIN among MAX",
                        with(n, $element::MAX, $element::MIN, &[n / 2]),
                        any,
                    ),
                    array("smallest subnormals", vec![least; n], without_atomics),
                    array(
                        "a -subnormal",
                        with(n, 0.0, -least, &[n / 2]),
                        without_atomics,
                    ),
                ]
            }
        }
    };
}

float_edges!(f32, u32);
float_edges!(f64, u64);
