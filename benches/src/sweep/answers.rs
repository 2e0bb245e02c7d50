//! The answers of whole-array reductions, and their checks.
//!
//! | operator | compared with | exact |
//! |---|---|---|
//! | `sum`, `min`, `max` | loops on the host | see [`data`] |
//! | `arg_min`, `arg_max` | the extreme and its first index | yes |
//! | `dot` | the sum of the products in 64 bits | yes, but rounded for `f64` and for floats from a file |
//! | `mean_variance` | the mean, then the mean squared deviation, in `f64` | see the constants below |
//!
//! PyTorch and CuPy compute dot products and moments in the element type, and are checked with its precision.
//! If several elements are the extreme, they may return the index of any.

use anyhow::{Context, Result};
use rayon::prelude::*;

use super::data::{self, CHUNK, Expected, Number, TREE};
use super::options::Operation;
use super::rounds::Verdict;

/// The answer of a reduction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Answer<T> {
    /// A value of the element type.
    Element(T),
    /// A value and its index.
    At(T, u64),
    /// A dot product of integers.
    Integer(i128),
    /// A dot product of floats.
    Float(f64),
    /// Count, mean and variance.
    Moments(f64, f64, f64),
}

/// The expected answer of a reduction.
#[derive(Clone, Copy, Debug)]
pub struct Truth<T> {
    pub answer: Answer<T>,
    /// The tolerance of a sum, a dot product or a mean.
    tolerance: f64,
    /// The sum of the magnitudes of the products, or the standard deviation.
    scale: f64,
}

/// The relative tolerance of a variance.
const VARIANCE_TOLERANCE: f64 = 1e-9;

/// The tolerance of a mean, relative to the standard deviation.
const MEAN_TOLERANCE: f64 = 1e-10;

/// The expected answer for the elements `a` and a second array `b`, which were drawn or read from a file.
pub fn truth<T: Number>(
    operation: Operation,
    (a, b): (&[T], &[T]),
    is_from_file: bool,
) -> Result<Truth<T>> {
    let exactly = |answer| Truth {
        answer,
        tolerance: 0.0,
        scale: 0.0,
    };
    if let Some(op) = operation.element_op() {
        let Expected { value, tolerance } =
            data::expected(a, op, is_from_file).context("the array is empty")?;
        return Ok(match operation {
            Operation::ArgMin | Operation::ArgMax => {
                let index = a.par_iter().position_first(|x| *x == value);
                let index = index.context("the extreme is an element")?;
                exactly(Answer::At(value, index as u64))
            }
            _ => Truth {
                tolerance,
                ..exactly(Answer::Element(value))
            },
        });
    }
    if operation == Operation::Dot {
        let (answer, scale) = T::dot(a, b);
        let is_exact = !is_from_file && size_of::<T>() < size_of::<f64>();
        let tolerance = match (answer, is_exact) {
            (Answer::Float(_), false) => TREE * f64::EPSILON * scale,
            _ => 0.0,
        };
        return Ok(Truth {
            answer,
            tolerance,
            scale,
        });
    }
    let count = a.len() as f64;
    let mean = sum_of(a, |x| x) / count;
    let variance = sum_of(a, |x| (x - mean) * (x - mean)) / count;
    let scale = variance.sqrt();
    Ok(Truth {
        answer: Answer::Moments(count, mean, variance),
        tolerance: MEAN_TOLERANCE * scale + TREE * f64::EPSILON * mean.abs(),
        scale,
    })
}

/// The answer of plain loops on one core.
pub fn naive<T: Number>(operation: Operation, (a, b): (&[T], &[T])) -> Answer<T> {
    match (operation, operation.element_op()) {
        (Operation::ArgMin | Operation::ArgMax, Some(op)) => {
            let (index, value) = data::naive_extreme(a, op);
            Answer::At(value, index as u64)
        }
        (_, Some(op)) => Answer::Element(data::naive(a, op)),
        (Operation::Dot, None) => T::naive_dot(a, b),
        (_, None) => {
            let count = a.len() as f64;
            let mean = a.iter().map(|x| x.to_f64()).sum::<f64>() / count;
            let squares = a.iter().map(|x| (x.to_f64() - mean) * (x.to_f64() - mean));
            Answer::Moments(count, mean, squares.sum::<f64>() / count)
        }
    }
}

/// The sum of `term(x)` over all elements, in `f64`.
fn sum_of<T: Number>(values: &[T], term: impl Fn(f64) -> f64 + Sync) -> f64 {
    let chunks = values.par_chunks(CHUNK);
    let sums = chunks.map(|chunk| chunk.iter().map(|x| term(x.to_f64())).sum::<f64>());
    sums.sum()
}

impl<T: Number> Truth<T> {
    /// Checks an answer.
    pub fn check(&self, got: Option<Answer<T>>) -> Verdict {
        self.check_within(got, (self.tolerance, VARIANCE_TOLERANCE))
    }

    fn check_within(
        &self,
        got: Option<Answer<T>>,
        (tolerance, of_variance): (f64, f64),
    ) -> Verdict {
        let right = match (got, self.answer) {
            (Some(Answer::Element(got)), Answer::Element(value)) => {
                return data::check(got, Expected { value, tolerance });
            }
            (Some(Answer::Float(got)), Answer::Float(value)) => (got - value).abs() <= tolerance,
            (Some(Answer::Moments(n, mean, variance)), Answer::Moments(count, m, v)) => {
                n == count
                    && (mean - m).abs() <= tolerance
                    && (variance - v).abs() <= of_variance * v
            }
            (got, answer) => got == Some(answer),
        };
        match right {
            true => Ok(()),
            false => Err((format!("{got:?}"), format!("{:?}", self.answer))),
        }
    }

    /// Checks PyTorch's or CuPy's answer as text: a number, an index of `values`, or mean and variance.
    pub fn check_text(&self, text: &str, values: &[T]) -> Verdict {
        let wrong = || Err((text.to_owned(), format!("{:?}", self.answer)));
        // For some additions, and for the rounding of the result.
        let precision = TREE * T::PRECISION;
        match self.answer {
            Answer::Element(_) => match T::parse(text) {
                Some(got) => self.check(Some(Answer::Element(got))),
                None => wrong(),
            },
            Answer::At(value, _) => {
                let at = text.parse().ok().and_then(|at: usize| values.get(at));
                if at == Some(&value) { Ok(()) } else { wrong() }
            }
            Answer::Integer(_) => wrong(),
            Answer::Float(_) => match text.parse() {
                Ok(got) => self.check_within(
                    Some(Answer::Float(got)),
                    (self.tolerance + precision * self.scale, 0.0),
                ),
                Err(_) => wrong(),
            },
            Answer::Moments(count, mean, _) => {
                let numbers: Vec<f64> = text
                    .split(' ')
                    .map_while(|part| part.parse().ok())
                    .collect();
                let [m, v] = numbers[..] else { return wrong() };
                let got = Some(Answer::Moments(count, m, v));
                let tolerance = precision * (self.scale + mean.abs());
                self.check_within(got, (tolerance, precision))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Operation; 7] = [
        Operation::Sum,
        Operation::Min,
        Operation::Max,
        Operation::ArgMin,
        Operation::ArgMax,
        Operation::Dot,
        Operation::MeanVariance,
    ];

    fn of<T: Number>(operation: Operation, a: &[T], b: &[T]) -> Answer<T> {
        truth(operation, (a, b), false).unwrap().answer
    }

    #[test]
    fn naive_answers() {
        let (a, b) = ([3i8, -7, 100, 100, -7], [1, 2, 3, 4, 5]);
        let answers = ALL.map(|operation| of(operation, &a, &b));
        let expected = [
            Answer::Element(-67),
            Answer::Element(-7),
            Answer::Element(100),
            Answer::At(-7, 1),
            Answer::At(100, 2),
            Answer::Integer(3 - 14 + 300 + 400 - 35),
            Answer::Moments(5.0, 37.8, 2592.56),
        ];
        assert_eq!(answers[..6], expected[..6]);
        let loops = ALL.map(|operation| naive(operation, (&a, &b)));
        assert_eq!(loops[..6], expected[..6]);
        assert!(
            truth(Operation::MeanVariance, (&a, &b), false)
                .unwrap()
                .check(Some(expected[6]))
                .is_ok()
        );
        let wide = of(Operation::Dot, &[u64::MAX, 2], &[u64::MAX, 3]);
        assert_eq!(wide, Answer::Integer(7), "wraps in 64 bits");
        assert_eq!(
            of(Operation::Dot, &[0.5f32, 2.0], &[4.0, 0.25]),
            Answer::Float(2.5)
        );
        assert!(truth::<f32>(Operation::ArgMin, (&[], &[]), false).is_err());
    }

    #[test]
    fn a_missing_element_is_detected_for_every_operator() {
        fn check<T: Number>() {
            let mut a = data::draw::<T>(4096, 5).unwrap();
            let b = data::draw::<T>(4096, 6).unwrap();
            for operation in ALL {
                let planted = operation
                    .element_op()
                    .and_then(|op| data::plant(&mut a, op, 9));
                let truth = truth(operation, (&a, &b), false).unwrap();
                assert_eq!(truth.check(Some(truth.answer)), Ok(()));
                let (mut less_a, mut less_b) = (a.clone(), b.clone());
                let at = match (operation, truth.answer) {
                    (_, Answer::At(_, at)) => at as usize,
                    (Operation::Min | Operation::Max, Answer::Element(extreme)) => {
                        a.iter().position(|x| *x == extreme).unwrap()
                    }
                    _ => 1000,
                };
                less_a.remove(at);
                less_b.remove(at);
                let less = of(operation, &less_a, &less_b);
                // With few bits, several elements may be the extreme.
                let has_another = less == truth.answer;
                assert!(
                    has_another || truth.check(Some(less)).is_err(),
                    "{operation:?}"
                );
                assert!(
                    !has_another || size_of::<T>() <= 2,
                    "{operation:?} {}",
                    T::NAME
                );
                assert!(truth.check(None).is_err());
                if let Some((at, value)) = planted {
                    a[at] = value;
                }
            }
        }
        check::<i8>();
        check::<u16>();
        check::<i64>();
        check::<f32>();
        check::<f64>();
    }

    #[test]
    fn texts_are_checked_with_the_precision_of_the_type() {
        let values = [1.0f32, 3.0, 3.0, 1.0];
        let check = |operation, text: &str| {
            let truth = truth(operation, (&values, &values), false).unwrap();
            truth.check_text(text, &values).is_ok()
        };
        assert!(check(Operation::Sum, "8.0") && !check(Operation::Sum, "8.1"));
        assert!(check(Operation::ArgMax, "1") && check(Operation::ArgMax, "2"));
        assert!(!check(Operation::ArgMax, "3") && !check(Operation::ArgMax, "4"));
        assert!(check(Operation::Dot, "20.000001") && !check(Operation::Dot, "20.1"));
        assert!(check(Operation::MeanVariance, "2.000001 1.0"));
        assert!(!check(Operation::MeanVariance, "2.0 1.1"));
        for text in ["", "nan", "2.0", "2.0 1.0 1.0", "nan nan"] {
            assert!(!check(Operation::MeanVariance, text), "{text:?}");
        }
    }
}
