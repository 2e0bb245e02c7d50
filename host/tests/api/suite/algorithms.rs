//! `reduce(..).algorithm(..).threads(..)`: every algorithm with every type.

use std::fmt::Debug;

use kernels_gpu::entry;
use libtest_mimic::Failed;
use warpfold::{Algorithm, Device, Error, Ladder, Max, Min, SinglePass, Sum, bf16, f16};

use super::Test;
use super::answers::{Array, Part, arrays};
use super::calls::{self, extremum};
use super::compare::{context, same};
use super::number::Number;

const THREADS: [u32; 3] = [32, 256, 512];

/// Compares a result with NumPy's answers for a part.
type Check<T, R> = fn(R, &Array<T>, &Part) -> Result<(), String>;

pub fn tests() -> Vec<Test> {
    let mut tests = vec![];
    macro_rules! single_pass_tests {
        ($($number:ident: $sum:expr;)*) => { $(
            tests.push(by_threads::<$number, Sum>(Sum, $sum));
            tests.push(by_threads::<$number, Min>(Min, min));
            tests.push(by_threads::<$number, Max>(Max, max));
        )* };
    }
    single_pass_tests! {
        i8: integer_sum; i16: integer_sum; i32: integer_sum; i64: integer_sum;
        u8: integer_sum; u16: integer_sum; u32: integer_sum; u64: integer_sum;
        f16: calls::sum; bf16: calls::sum; f32: calls::sum; f64: calls::sum;
    }
    macro_rules! ladders {
        ($($op:ident $number:ident: $check:expr;)*) => { $(
            tests.push(by_algorithm::<$number, $op>($op, $check));
        )* };
    }
    ladders! {
        Sum i32: integer_sum; Sum u32: integer_sum; Sum i64: integer_sum; Sum u64: integer_sum;
        Sum f32: calls::sum; Sum f64: calls::sum;
        Min i32: min; Min f32: min; Max i32: max; Max f32: max;
    }
    tests
}

fn integer_sum<T: Number>(got: T, _: &Array<T>, part: &Part) -> Result<(), String> {
    same(got, part.number("sum").expect("never null"))
}

fn min<T: Number>(got: Option<T>, array: &Array<T>, part: &Part) -> Result<(), String> {
    extremum(got, part.number("min"), array.of(part), true)
}

fn max<T: Number>(got: Option<T>, array: &Array<T>, part: &Part) -> Result<(), String> {
    extremum(got, part.number("max"), array.of(part), false)
}

/// The single-pass reduction, with several block sizes.
fn by_threads<T: Number, O: SinglePass<T, Output: 'static>>(
    op: O,
    check: Check<T, O::Output>,
) -> Test {
    let run = move |device: &Device| {
        for array in arrays::<T>() {
            let buffer = array.upload(device)?;
            for (part, threads) in array
                .parts
                .iter()
                .flat_map(|part| THREADS.map(|n| (part, n)))
            {
                let reduction = device.reduce(part.view(&buffer)?, op).threads(threads);
                check(reduction.run()?, &array, part).map_err(|wrong| {
                    let context = context::<T>(array.name, part);
                    Failed::from(format!("{context}, {threads} threads: {wrong}"))
                })?;
            }
        }
        Ok(())
    };
    Test::new(format!("threads/{}/{}", O::ENTRY.op, T::NAME), run)
}

/// Every algorithm that has a kernel, and the error for those without one.
fn by_algorithm<T: Number, O: SinglePass<T, Output: Debug + 'static> + Ladder<T>>(
    op: O,
    check: Check<T, O::Output>,
) -> Test {
    let run = move |device: &Device| {
        for array in arrays::<T>() {
            let buffer = array.upload(device)?;
            let cases = Algorithm::all().flat_map(|algorithm| THREADS.map(|n| (algorithm, n)));
            for (algorithm, threads) in cases {
                for part in &array.parts {
                    let reduction = device.reduce(part.view(&buffer)?, op);
                    let got = reduction.algorithm(algorithm).threads(threads).run();
                    check_one::<T, O>(algorithm, got, |got| check(got, &array, part)).map_err(
                        |wrong| {
                            let context = context::<T>(array.name, part);
                            Failed::from(format!(
                                "{context} by {algorithm:?}, {threads} threads: {wrong}"
                            ))
                        },
                    )?;
                }
            }
        }
        Ok(())
    };
    let op = <O as SinglePass<T>>::ENTRY.op;
    Test::new(format!("algorithms/{op}/{}", T::NAME), run)
}

fn check_one<T: Number, O: SinglePass<T, Output: Debug> + Ladder<T>>(
    algorithm: Algorithm,
    got: Result<O::Output, Error>,
    check: impl FnOnce(O::Output) -> Result<(), String>,
) -> Result<(), String> {
    let kernel = algorithm.kernel_name();
    let exists = algorithm == Algorithm::SinglePass
        || entry::find(<O as Ladder<T>>::ENTRIES, kernel).is_some();
    match (exists, got) {
        (true, Ok(got)) => check(got),
        (false, Err(error)) => {
            let (op, element) = (<O as SinglePass<T>>::ENTRY.op, T::NAME);
            let right = Error::NotAvailable {
                kernel,
                op,
                element,
            };
            match error == right {
                true => Ok(()),
                false => Err(error.to_string()),
            }
        }
        (_, other) => Err(format!("{other:?}")),
    }
}
