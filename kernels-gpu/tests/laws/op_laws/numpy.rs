//! Compares the operators with NumPy. `numpy_answers.py` makes the table.

use crate::answers::text;
use kernels_gpu::element::{Element, Indexed, f16};
use kernels_gpu::op::{And, ArgMax, ArgMin, Max, Min, NanMax, NanMin, Op, Or, Product, Sum, Xor};
use std::fmt::Debug;
use std::str::FromStr;

const ANSWERS: &str = include_str!("numpy_answers.txt");

/// The result of the whole array.
fn reduce<T: Element, O: Op<T>>(op: O, values: &[T]) -> O::Output {
    let lifted = (0..).zip(values).map(|(i, value)| op.lift(*value, i));
    op.finish(lifted.fold(op.identity(), |a, b| op.combine(a, b)))
}

fn parsed<T: FromStr<Err: Debug>>(words: &str) -> Vec<T> {
    words.split(' ').map(|word| word.parse().unwrap()).collect()
}

/// NumPy treats the two zeros as equal.
fn assert_same<T: Element>(got: impl Into<Option<T>>, answer: T, row: &str) {
    let got = got.into().expect("there are values");
    assert!(
        got == answer || text(got) == text(answer),
        "{row}, but here {got:?}"
    );
}

fn assert_index<T>(got: Option<Indexed<T>>, answer: &str, row: &str)
where
    T: Copy + Debug,
{
    let got = got.expect("there are values");
    assert_eq!(got.index().to_string(), answer, "{row}, but here {got:?}");
}

#[test]
fn answers_are_those_of_numpy() {
    let mut rows = 0;
    for row in ANSWERS.lines().filter(|row| !row.starts_with('#')) {
        let (question, answer) = row.split_once(" = ").unwrap();
        let (op, question) = question.split_once(' ').unwrap();
        let (element, values) = question.split_once(' ').unwrap();
        macro_rules! rows {
            (integers $($integer:ident)*; floats $($float:ident)*) => {
                match (op, element) {
                    $(
                        ("sum", stringify!($integer)) => rows!(@value Sum $integer),
                        ("product", stringify!($integer)) => rows!(@value Product $integer),
                        ("and", stringify!($integer)) => rows!(@value And $integer),
                        ("or", stringify!($integer)) => rows!(@value Or $integer),
                        ("xor", stringify!($integer)) => rows!(@value Xor $integer),
                        ("min", stringify!($integer)) => rows!(@value Min $integer),
                        ("max", stringify!($integer)) => rows!(@value Max $integer),
                        ("arg_min", stringify!($integer)) => rows!(@index ArgMin $integer),
                        ("arg_max", stringify!($integer)) => rows!(@index ArgMax $integer),
                    )*
                    $(
                        ("min", stringify!($float)) => rows!(@value Min $float),
                        ("max", stringify!($float)) => rows!(@value Max $float),
                        ("nan_min", stringify!($float)) => rows!(@value NanMin $float),
                        ("nan_max", stringify!($float)) => rows!(@value NanMax $float),
                        ("arg_min", stringify!($float)) => rows!(@index ArgMin $float),
                        ("arg_max", stringify!($float)) => rows!(@index ArgMax $float),
                    )*
                    _ => panic!("no such operator: {row}"),
                }
            };
            (@value $op:ident $t:ident) => {
                assert_same::<$t>(reduce::<$t, $op>($op, &parsed(values)), answer.parse().unwrap(), row)
            };
            (@index $op:ident $t:ident) => {
                assert_index(reduce::<$t, $op>($op, &parsed(values)), answer, row)
            };
        }
        rows!(integers i8 i16 i32 i64 u8 u16 u32 u64; floats f16 f32 f64);
        rows += 1;
    }
    assert!(rows > 500, "{rows} rows");
}
