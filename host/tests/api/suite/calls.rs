//! The calls of the library by name.

use std::fmt::Debug;

use libtest_mimic::Failed;
use warpfold::{
    And, ArgMax, ArgMin, Device, Error, Indexed, Max, Min, NanArgMax, NanArgMin, NanMax, NanMin,
    NanSum, Or, Product, SinglePass, Sum, SumWide, View, Xor, bf16, f16,
};

use super::answers::{Array, Part, arrays};
use super::compare::{close, context, equal, same};
use super::number::Number;
use super::{Test, differences};

pub fn tests() -> Vec<Test> {
    let mut tests = vec![];
    integers::<i8, i64>(&mut tests);
    integers::<i16, i64>(&mut tests);
    integers::<i32, i64>(&mut tests);
    integers::<i64, i64>(&mut tests);
    integers::<u8, u64>(&mut tests);
    integers::<u16, u64>(&mut tests);
    integers::<u32, u64>(&mut tests);
    integers::<u64, u64>(&mut tests);
    floats::<f16>(&mut tests);
    floats::<bf16>(&mut tests);
    floats::<f32>(&mut tests);
    floats::<f64>(&mut tests);
    tests
}

/// A test of `call` on every part of every array of `T`; `check` compares the results.
pub fn test<T: Number, R: Debug + 'static>(
    name: &str,
    call: fn(&Device, View<'_, T>) -> Result<R, Error>,
    check: fn(R, &Array<T>, &Part) -> Result<(), String>,
) -> Test {
    Test::new(format!("{name}/{}", T::NAME), move |device| {
        for array in arrays::<T>() {
            let buffer = array.upload(device)?;
            for part in &array.parts {
                let got = call(device, part.view(&buffer)?)?;
                check(got, &array, part).map_err(|wrong| {
                    Failed::from(format!("{}: {wrong}", context::<T>(array.name, part)))
                })?;
            }
        }
        Ok(())
    })
}

fn integers<T: Number, W: Number>(tests: &mut Vec<Test>)
where
    Sum: SinglePass<T, Output = T>,
    SumWide: SinglePass<T, Output = W>,
    Product: SinglePass<T, Output = T>,
    And: SinglePass<T, Output = T>,
    Or: SinglePass<T, Output = T>,
    Xor: SinglePass<T, Output = T>,
    Min: SinglePass<T, Output = Option<T>>,
    Max: SinglePass<T, Output = Option<T>>,
    ArgMin: SinglePass<T, Output = Option<Indexed<T>>>,
    ArgMax: SinglePass<T, Output = Option<Indexed<T>>>,
{
    tests.extend([
        test::<T, T>(
            "sum",
            |device, x| device.sum(x),
            |got, _, part| same(got, part.number("sum").expect("never null")),
        ),
        test::<T, W>(
            "sum_wide",
            |device, x| device.sum_wide(x),
            |got, _, part| same(got, part.number("sum_wide").expect("never null")),
        ),
        test::<T, T>(
            "product",
            |device, x| device.product(x),
            |got, _, part| same(got, part.number("prod").expect("never null")),
        ),
        test::<T, T>(
            "and",
            |device, x| device.reduce(x, And).run(),
            |got, _, part| same(got, part.number("and").expect("never null")),
        ),
        test::<T, T>(
            "or",
            |device, x| device.reduce(x, Or).run(),
            |got, _, part| same(got, part.number("or").expect("never null")),
        ),
        test::<T, T>(
            "xor",
            |device, x| device.reduce(x, Xor).run(),
            |got, _, part| same(got, part.number("xor").expect("never null")),
        ),
    ]);
    comparisons::<T>(tests);
}

fn floats<T: Number>(tests: &mut Vec<Test>)
where
    Sum: SinglePass<T, Output = T>,
    NanSum: SinglePass<T, Output = T>,
    NanArgMin: SinglePass<T, Output = Option<Indexed<T>>>,
    NanArgMax: SinglePass<T, Output = Option<Indexed<T>>>,
    SumWide: SinglePass<T, Output = f64>,
    Product: SinglePass<T, Output = T>,
    NanMin: SinglePass<T, Output = Option<T>>,
    NanMax: SinglePass<T, Output = Option<T>>,
    Min: SinglePass<T, Output = Option<T>>,
    Max: SinglePass<T, Output = Option<T>>,
    ArgMin: SinglePass<T, Output = Option<Indexed<T>>>,
    ArgMax: SinglePass<T, Output = Option<Indexed<T>>>,
{
    tests.extend([
        test::<T, T>("sum", |device, x| device.sum(x), sum),
        test::<T, f64>(
            "sum_wide",
            |device, x| device.sum_wide(x),
            |got, array, part| {
                if part.n == 0 {
                    return same(got, part.number("sum_wide").expect("never null"));
                }
                let exact = part.number("sum_exact").expect("never null");
                close(got, exact, part.n, magnitude(array.of(part)), f64::ROUNDOFF)
            },
        ),
        test::<T, T>("product", |device, x| device.product(x), product),
        test::<T, T>(
            "nan_sum",
            |device, x| device.nan_sum(x),
            |got, array, part| {
                let elements = array.of(part).iter().copied();
                let numbers: Vec<T> = elements.filter(|x| !x.to_f64().is_nan()).collect();
                if numbers.is_empty() {
                    return same(got, part.number("nan_sum").expect("never null"));
                }
                let exact = part.number("nan_sum_exact").expect("never null");
                close(got, exact, part.n, magnitude(&numbers), T::ACCUMULATED)
            },
        ),
        test::<T, Option<usize>>(
            "nan_argmin",
            |device, x| device.nan_argmin(x),
            |got, _, part| equal(got, part.count("nan_argmin")),
        ),
        test::<T, Option<usize>>(
            "nan_argmax",
            |device, x| device.nan_argmax(x),
            |got, _, part| equal(got, part.count("nan_argmax")),
        ),
        test::<T, Option<T>>(
            "nan_min",
            |device, x| device.nan_min(x),
            |got, array, part| extremum(got, part.number("nan_min"), array.of(part), true),
        ),
        test::<T, Option<T>>(
            "nan_max",
            |device, x| device.nan_max(x),
            |got, array, part| extremum(got, part.number("nan_max"), array.of(part), false),
        ),
    ]);
    comparisons::<T>(tests);
}

/// Tests for all types, of calls whose results are never rounded.
fn comparisons<T: Number>(tests: &mut Vec<Test>)
where
    Min: SinglePass<T, Output = Option<T>>,
    Max: SinglePass<T, Output = Option<T>>,
    ArgMin: SinglePass<T, Output = Option<Indexed<T>>>,
    ArgMax: SinglePass<T, Output = Option<Indexed<T>>>,
{
    tests.extend([
        test::<T, Option<T>>(
            "reduce_min",
            |device, x| device.reduce(x, Min).run(),
            |got, array, part| extremum(got, part.number("min"), array.of(part), true),
        ),
        test::<T, Option<Indexed<T>>>(
            "reduce_argmax",
            |device, x| device.reduce(x, ArgMax).plan()?.run(),
            |got, _, part| equal(got.map(|got| got.index() as usize), part.count("argmax")),
        ),
        test::<T, Option<T>>(
            "min",
            |device, x| device.min(x),
            |got, array, part| extremum(got, part.number("min"), array.of(part), true),
        ),
        test::<T, Option<T>>(
            "max",
            |device, x| device.max(x),
            |got, array, part| extremum(got, part.number("max"), array.of(part), false),
        ),
        test::<T, Option<usize>>(
            "argmin",
            |device, x| device.argmin(x),
            |got, _, part| equal(got, part.count("argmin")),
        ),
        test::<T, Option<usize>>(
            "argmax",
            |device, x| device.argmax(x),
            |got, _, part| equal(got, part.count("argmax")),
        ),
    ]);
}

/// A float sum in the type of the elements.
pub fn sum<T: Number>(got: T, array: &Array<T>, part: &Part) -> Result<(), String> {
    if part.n == 0 {
        return same(got, part.number("sum").expect("never null"));
    }
    let exact = part.number("sum_exact").expect("never null");
    let check = |sum: T| {
        let magnitude = magnitude(array.of(part));
        close(sum, exact, part.n, magnitude, T::ACCUMULATED)
    };
    let numpy = part.number("sum").expect("never null");
    check(numpy).map_err(|wrong| format!("NumPy itself: {wrong}"))?;
    check(got)
}

fn product<T: Number>(got: T, _: &Array<T>, part: &Part) -> Result<(), String> {
    match part.number::<f64>("prod_exact") {
        Some(exact) => close(got, exact, part.n, exact.abs(), T::ACCUMULATED),
        // The result overflows or underflows in some orders of the factors.
        None => Ok(()),
    }
}

pub fn extremum<T: Number>(
    got: Option<T>,
    numpy: Option<T>,
    elements: &[T],
    smallest: bool,
) -> Result<(), String> {
    match (got, numpy) {
        (Some(got), Some(numpy)) => differences::extremum(got, numpy, elements, smallest),
        (got, None) => differences::none_for_empty_input(got),
        (None, Some(numpy)) => Err(format!("None instead of {numpy:?}")),
    }
}

/// An upper bound of the sum of the magnitudes.
pub fn magnitude<T: Number>(elements: &[T]) -> f64 {
    let sum: f64 = elements.iter().map(|element| element.to_f64().abs()).sum();
    sum * (1.0 + elements.len() as f64 * f64::EPSILON)
}
