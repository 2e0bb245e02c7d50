//! The elements of each type, and what naive loops over them give.

use std::cmp::Ordering;

use kernels_gpu::element::{bf16, f16};
use rand::rngs::SmallRng;
use rand::{Rng, RngExt};
use warpfold::Element;

/// What a reduction gave.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Answer {
    Whole(i128),
    Real(f64),
}

/// What it should give, and how far it may be off.
#[derive(Clone, Copy, Debug)]
pub struct Expected {
    value: Answer,
    tolerance: f64,
}

impl Expected {
    pub fn exact(value: impl Into<Answer>) -> Expected {
        Expected {
            value: value.into(),
            tolerance: 0.0,
        }
    }

    /// Whether the answer is right.
    pub fn is(&self, got: Answer) -> bool {
        match (self.value, got) {
            (Answer::Real(value), Answer::Real(got)) => (got - value).abs() <= self.tolerance,
            (value, got) => value == got,
        }
    }
}

/// Of all reductions of one array.
pub struct AllExpected {
    pub sum: Expected,
    pub sum_wide: Expected,
    pub product: Expected,
    pub min: Expected,
    pub max: Expected,
    pub argmin: Expected,
}

/// A type whose reductions are measured.
pub trait Number: Element + Into<Answer> {
    /// As many random elements.
    fn draw(n: usize, rng: &mut SmallRng) -> Vec<Self>;

    /// What naive loops give.
    fn expected(data: &[Self]) -> AllExpected;
}

/// The extrema: of all, in the order that `compare` gives.
fn extrema<T: Number>(
    data: &[T],
    compare: impl Fn(&T, &T) -> Ordering,
) -> (Expected, Expected, Expected) {
    let (mut min, mut max) = (0, 0);
    for (i, value) in data.iter().enumerate() {
        if compare(value, &data[min]).is_lt() {
            min = i;
        }
        if compare(value, &data[max]).is_gt() {
            max = i;
        }
    }
    let place = Expected::exact(min as u64);
    (
        Expected::exact(data[min]),
        Expected::exact(data[max]),
        place,
    )
}

macro_rules! integers {
    ($($number:ident in $wide:ident),*) => { $(
        impl From<$number> for Answer {
            fn from(value: $number) -> Answer {
                Answer::Whole(value.into())
            }
        }

        impl Number for $number {
            fn draw(n: usize, rng: &mut SmallRng) -> Vec<Self> {
                (0..n).map(|_| rng.next_u64() as Self).collect()
            }

            fn expected(data: &[Self]) -> AllExpected {
                let sum = data.iter().fold(0, |sum: $wide, x| sum.wrapping_add($wide::from(*x)));
                let product = data.iter().fold(1, |all: Self, x| all.wrapping_mul(*x));
                let (min, max, argmin) = extrema(data, Self::cmp);
                AllExpected {
                    sum: Expected::exact(sum as Self),
                    sum_wide: Expected::exact(sum),
                    product: Expected::exact(product),
                    min,
                    max,
                    argmin,
                }
            }
        }
    )* };
}

integers!(i8 in i64, i16 in i64, i32 in i64, i64 in i64, u8 in u64, u16 in u64, u32 in u64, u64 in u64);

impl From<i128> for Answer {
    fn from(value: i128) -> Answer {
        Answer::Whole(value)
    }
}

/// Roundings on the way of an element, at most: some of its block, and one for each level above.
const ROUNDINGS: f64 = 96.0;

macro_rules! floats {
    ($($number:ident: $to:expr, $from:expr, $roundoff:expr, $last:expr;)*) => { $(
        impl From<$number> for Answer {
            fn from(value: $number) -> Answer {
                Answer::Real($to(value))
            }
        }

        impl Number for $number {
            // The logarithms have a mean of zero, and every second element is the inverse of
            // the one before it: neither the product nor a part of it comes near zero or infinity.
            fn draw(n: usize, rng: &mut SmallRng) -> Vec<Self> {
                let mut last = 1.0;
                (0..n)
                    .map(|i| {
                        let sign = if rng.random() { 1.0 } else { -1.0 };
                        let size = match i % 2 {
                            0 => rng.random_range(-1.0f64..1.0).exp2(),
                            _ => 1.0 / last,
                        };
                        let value = $from(sign * size);
                        last = $to(value).abs();
                        value
                    })
                    .collect()
            }

            fn expected(data: &[Self]) -> AllExpected {
                // The unit of roundoff where it adds, and where it is rounded last.
                let roundoff: f64 = $roundoff;
                let last: f64 = $last;
                let (sum, magnitude) = sum(data.iter().map(|x| $to(*x)));
                let product: f64 = data.iter().map(|x| $to(*x)).product();
                let (min, max, argmin) = extrema(data, Self::total_cmp);
                let near = |value: f64, tolerance| Expected {
                    value: Answer::Real(value),
                    tolerance,
                };
                let steps = data.len() as f64;
                AllExpected {
                    sum: near(sum, ROUNDINGS * roundoff * magnitude + last * sum.abs()),
                    sum_wide: near(sum, ROUNDINGS * f64::EPSILON * magnitude),
                    product: near(product, (steps * roundoff + last) * product.abs()),
                    min,
                    max,
                    argmin,
                }
            }
        }
    )* };
}

floats! {
    f16: f64::from, f16::from_f64, 2f64.powi(-24), 2f64.powi(-11);
    bf16: f64::from, bf16::from_f64, 2f64.powi(-24), 2f64.powi(-8);
    f32: f64::from, |x: f64| x as f32, 2f64.powi(-24), 0.0;
    f64: f64::from, f64::from, 2f64.powi(-53), 0.0;
}

/// The sum, compensated, and that of the magnitudes.
fn sum(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (mut sum, mut lost, mut magnitude) = (0.0f64, 0.0, 0.0);
    for value in values {
        let next = sum + value;
        let shift = next - sum;
        lost += (sum - (next - shift)) + (value - shift);
        sum = next;
        magnitude += value.abs();
    }
    (sum + lost, magnitude)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_answers_are_told_from_right_ones() {
        let all = f32::expected(&[1.0, 2.0, -4.0, 0.25]);
        assert!(all.sum.is(Answer::Real(-0.75)) && !all.sum.is(Answer::Real(-0.76)));
        assert!(all.product.is(Answer::Real(-2.0)) && !all.product.is(Answer::Real(-2.01)));
        assert!(!all.sum.is(Answer::Real(f64::NAN)));
        assert!(all.argmin.is(Answer::Whole(2)) && !all.argmin.is(Answer::Whole(1)));
        let all = u8::expected(&[200, 100, 100]);
        assert!(all.sum.is(Answer::Whole(144)) && all.sum_wide.is(Answer::Whole(400)));
        assert!(all.argmin.is(Answer::Whole(1)), "the first of equal ones");
    }

    #[test]
    fn a_sum_keeps_what_roundings_lose() {
        let values = [1.0, 1e-20, -1.0];
        assert_eq!(sum(values.into_iter()), (1e-20, 2.0));
    }
}
