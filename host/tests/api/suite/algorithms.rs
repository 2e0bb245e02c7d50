//! `reduce(..).algorithm(..).threads(..)`: every algorithm with every type.

use kernels_gpu::entry::{ENTRIES, single_pass};
use libtest_mimic::Failed;
use warpfold::{Algorithm, Device, Error, Max, Min, Operator, Sum, bf16, f16};

use super::Test;
use super::answers::{Array, Part, arrays};
use super::calls::{self, extremum};
use super::compare::{context, same};
use super::number::Number;

const THREADS: [u32; 3] = [32, 256, 1024];

pub fn tests() -> Vec<Test> {
    let mut tests = vec![];
    macro_rules! all {
        ($($number:ident: $sum:expr;)*) => { $(
            tests.push(test::<$number, Sum>("sum", Sum, $sum));
            tests.push(test::<$number, Min>("min", Min, |got, array, part| {
                let got = (part.n > 0).then_some(got);
                extremum(got, part.number("min"), array.of(part), true)
            }));
            tests.push(test::<$number, Max>("max", Max, |got, array, part| {
                let got = (part.n > 0).then_some(got);
                extremum(got, part.number("max"), array.of(part), false)
            }));
        )* };
    }
    all! {
        i8: integer_sum; i16: integer_sum; i32: integer_sum; i64: integer_sum;
        u8: integer_sum; u16: integer_sum; u32: integer_sum; u64: integer_sum;
        f16: calls::sum; bf16: calls::sum; f32: calls::sum; f64: calls::sum;
    }
    tests
}

fn integer_sum<T: Number>(got: T, _: &Array<T>, part: &Part) -> Result<(), String> {
    same(got, part.number("sum").expect("of all"))
}

/// Every algorithm, where there is a kernel of it, and else the error that says that there is none.
fn test<T: Number, O: Operator<T, Output = T> + Copy + Send + Sync + 'static>(
    name: &str,
    op: O,
    judge: fn(T, &Array<T>, &Part) -> Result<(), String>,
) -> Test {
    let run = move |device: &Device| {
        for array in arrays::<T>() {
            let buffer = array.upload(device)?;
            let cases = Algorithm::all().flat_map(|algorithm| THREADS.map(|n| (algorithm, n)));
            for (algorithm, threads) in cases {
                for part in &array.parts {
                    let reduction = device.reduce(part.view(&buffer)?, op);
                    let got = reduction.algorithm(algorithm).threads(threads).run();
                    judge_one(algorithm, op, got, |got| judge(got, &array, part)).map_err(
                        |wrong| {
                            let of = context::<T>(array.name, part);
                            Failed::from(format!(
                                "{of} by {algorithm:?}, {threads} threads: {wrong}"
                            ))
                        },
                    )?;
                }
            }
        }
        Ok(())
    };
    Test::new(format!("algorithms/{name}/{}", T::NAME), run)
}

fn judge_one<T: Number, O: Operator<T>>(
    algorithm: Algorithm,
    _: O,
    got: Result<T, Error>,
    judge: impl FnOnce(T) -> Result<(), String>,
) -> Result<(), String> {
    let key = (algorithm.kernel_name(), O::NAME, T::NAME);
    let exists = |entry: &kernels_gpu::entry::Entry| (entry.kernel, entry.op, entry.element) == key;
    let of_single_pass = |entry: &single_pass::SinglePassEntry| {
        (
            single_pass::SinglePassEntry::KERNEL,
            entry.op,
            entry.element,
        ) == key
    };
    let exists = ENTRIES.iter().any(exists) || single_pass::ENTRIES.iter().any(of_single_pass);
    match (exists, got) {
        (true, Ok(got)) => judge(got),
        (
            false,
            Err(Error::NotAvailable {
                kernel,
                op,
                element,
            }),
        ) if (kernel, op, element) == key => Ok(()),
        (_, other) => Err(format!("{other:?}")),
    }
}
