//! What whole-array reductions give, and whether it is right.
//!
//! | operator | compared with | exact |
//! |---|---|---|
//! | `sum`, `min`, `max` | loops on the host | as [`data`] says |
//! | `arg_min`, `arg_max` | the first index of the value, and the value | yes |
//! | `dot` | the sum of the products in 64 bits | of integers, which wrap, and of floats of 32 bits and less; of `f64`, and of someone's own floats, to the roundings of a tree of additions |
//! | `mean_variance` | the mean, then the mean squared distance from it, in `f64` | to 1e-10 of the standard deviation and 1e-9 of the variance |
//!
//! PyTorch and CuPy give dot products and moments in the type of the elements, and are checked with its precision.
//! Of equal extremes they may give any index.

use anyhow::{Context, Result};
use rayon::prelude::*;

use super::data::{self, CHUNK, Expected, Number, TREE};
use super::options::Operation;
use super::rounds::Verdict;

/// What a reduction gave.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Answer<T> {
    /// A value of the elements' type.
    Element(T),
    /// A value, and where it is.
    At(T, u64),
    /// A product of integers.
    Integer(i128),
    /// A product of floats.
    Float(f64),
    /// How many elements there are, their mean and their variance.
    Moments(f64, f64, f64),
}

/// What a reduction should give.
#[derive(Clone, Copy, Debug)]
pub struct Truth<T> {
    pub answer: Answer<T>,
    /// How far a sum, a product or the mean may be off.
    within: f64,
    /// The sum of the magnitudes of the products, or the standard deviation.
    scale: f64,
}

/// A part of a variance that it may be off.
const OF_VARIANCE: f64 = 1e-9;

/// A part of a standard deviation that a mean may be off.
const OF_DEVIATION: f64 = 1e-10;

/// What the reduction of these elements gives, with `b` as the second array; they are drawn here or `foreign`.
pub fn truth<T: Number>(
    operation: Operation,
    (a, b): (&[T], &[T]),
    foreign: bool,
) -> Result<Truth<T>> {
    let exactly = |answer| Truth {
        answer,
        within: 0.0,
        scale: 0.0,
    };
    if let Some(op) = operation.of_elements() {
        let Expected { value, within } =
            data::expected(a, op, foreign).context("an empty array")?;
        return Ok(match operation {
            Operation::ArgMin | Operation::ArgMax => {
                let index = a.par_iter().position_first(|x| *x == value);
                let index = index.context("the extreme is an element")?;
                exactly(Answer::At(value, index as u64))
            }
            _ => Truth {
                within,
                ..exactly(Answer::Element(value))
            },
        });
    }
    if operation == Operation::Dot {
        let (answer, scale) = T::dot(a, b);
        let is_exact = !foreign && size_of::<T>() < size_of::<f64>();
        let within = match (answer, is_exact) {
            (Answer::Float(_), false) => TREE * f64::EPSILON * scale,
            _ => 0.0,
        };
        return Ok(Truth {
            answer,
            within,
            scale,
        });
    }
    let count = a.len() as f64;
    let mean = sum_of(a, |x| x) / count;
    let variance = sum_of(a, |x| (x - mean) * (x - mean)) / count;
    let scale = variance.sqrt();
    Ok(Truth {
        answer: Answer::Moments(count, mean, variance),
        within: OF_DEVIATION * scale + TREE * f64::EPSILON * mean.abs(),
        scale,
    })
}

/// What loops that anyone would write give, on one core.
pub fn naive<T: Number>(operation: Operation, (a, b): (&[T], &[T])) -> Answer<T> {
    match (operation, operation.of_elements()) {
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

/// In `f64`.
fn sum_of<T: Number>(values: &[T], of: impl Fn(f64) -> f64 + Sync) -> f64 {
    let chunks = values.par_chunks(CHUNK);
    let sums = chunks.map(|chunk| chunk.iter().map(|x| of(x.to_f64())).sum::<f64>());
    sums.sum()
}

impl<T: Number> Truth<T> {
    /// Whether this is the answer.
    pub fn check(&self, got: Option<Answer<T>>) -> Verdict {
        self.check_by(got, (self.within, OF_VARIANCE))
    }

    fn check_by(&self, got: Option<Answer<T>>, (within, of_variance): (f64, f64)) -> Verdict {
        let right = match (got, self.answer) {
            (Some(Answer::Element(got)), Answer::Element(value)) => {
                return data::check(got, Expected { value, within });
            }
            (Some(Answer::Float(got)), Answer::Float(value)) => (got - value).abs() <= within,
            (Some(Answer::Moments(n, mean, variance)), Answer::Moments(count, m, v)) => {
                n == count && (mean - m).abs() <= within && (variance - v).abs() <= of_variance * v
            }
            (got, answer) => got == Some(answer),
        };
        match right {
            true => Ok(()),
            false => Err((format!("{got:?}"), format!("{:?}", self.answer))),
        }
    }

    /// Whether a text of PyTorch's or CuPy's is the answer, of these elements: a number, an index, or mean and
    /// variance.
    pub fn check_text(&self, text: &str, values: &[T]) -> Verdict {
        let wrong = || Err((text.to_owned(), format!("{:?}", self.answer)));
        // Some additions, and the rounding of the result.
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
                Ok(got) => self.check_by(
                    Some(Answer::Float(got)),
                    (self.within + precision * self.scale, 0.0),
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
                let within = precision * (self.scale + mean.abs());
                self.check_by(got, (within, precision))
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
    fn one_element_left_out_is_wrong_for_every_operator() {
        fn check<T: Number>() {
            let mut a = data::draw::<T>(4096, 5).unwrap();
            let b = data::draw::<T>(4096, 6).unwrap();
            for operation in ALL {
                let planted = operation
                    .of_elements()
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
                // Of few bits several elements may have the extreme.
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
    fn texts_are_judged_by_the_precision_of_the_type() {
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
