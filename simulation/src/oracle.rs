//! What the right answer is: naive loops in exact or wider arithmetic, and how far a sum of
//! floats may be from it.

use std::cmp::Ordering;

use cuda_sim::Plain;
use kernels_gpu::element::Element;
use kernels_gpu::op::{Max, Min, Op, Sum};
use rand::RngExt;
use rand::rngs::StdRng;

/// An element type as the tests see it.
pub trait Subject: Element + Plain {
    /// Any integer; a float from -1 to 1.
    fn rough(rng: &mut StdRng) -> Self;
    /// Any integer; a float from -4 to 4 without a fraction. 2^22 of them add up exactly in
    /// every order, even in f32.
    fn whole(rng: &mut StdRng) -> Self;
    /// The total order in which -0.0 is smaller than 0.0.
    fn order(&self, other: &Self) -> Ordering;
    /// Whether it is NaN.
    fn is_nan(&self) -> bool;
    /// The sum, wrapped or rounded once; and what is needed to judge another rounding of it.
    fn sum(values: &[Self]) -> Expected<Self>;
    /// The nearest `f64`.
    fn to_f64(self) -> f64;
    /// Half a unit in the last place of 1; 0 for integers.
    const ROUNDOFF: f64;
    /// The greatest finite value.
    const GREATEST: Self;
    /// Zeroes of both signs, or zero and the integer whose bits are all ones.
    const ZEROES: [Self; 2];
    /// NaN, or the smallest integer.
    const ODD: Self;
}

/// A right answer.
#[derive(Clone, Copy, Debug)]
pub struct Expected<T> {
    /// The value itself; a sum of floats rounded once.
    pub value: T,
    /// The part of a sum that its rounding lost.
    pub rest: f64,
    /// The sum of the magnitudes.
    pub magnitude: f64,
}

impl<T> Expected<T> {
    fn exact(value: T) -> Self {
        Self {
            value,
            rest: 0.0,
            magnitude: 0.0,
        }
    }
}

/// An operator with its naive loop.
pub trait Oracle<T: Subject>: Op<T> {
    /// The operator as a value.
    const OP: Self;
    /// What `values` are together.
    fn expected(values: &[T]) -> Expected<T>;
}

impl<T: Subject> Oracle<T> for Sum
where
    Sum: Op<T>,
{
    const OP: Self = Sum;
    fn expected(values: &[T]) -> Expected<T> {
        T::sum(values)
    }
}

impl<T: Subject> Oracle<T> for Min
where
    Min: Op<T>,
{
    const OP: Self = Min;
    fn expected(values: &[T]) -> Expected<T> {
        Expected::exact(extremum(values, <Min as Op<T>>::IDENTITY, Ordering::Less))
    }
}

impl<T: Subject> Oracle<T> for Max
where
    Max: Op<T>,
{
    const OP: Self = Max;
    fn expected(values: &[T]) -> Expected<T> {
        Expected::exact(extremum(
            values,
            <Max as Op<T>>::IDENTITY,
            Ordering::Greater,
        ))
    }
}

/// The element that comes before all others in the direction; the first NaN when there is one.
fn extremum<T: Subject>(values: &[T], empty: T, wins: Ordering) -> T {
    let mut best = match values {
        [] => return empty,
        [first, ..] => *first,
    };
    for value in values {
        if value.is_nan() {
            return *value;
        }
        if value.order(&best) == wins {
            best = *value;
        }
    }
    best
}

/// The same bits, or both NaN.
pub fn same<T: Subject>(one: T, other: T) -> bool {
    (one.is_nan() && other.is_nan()) || (!one.is_nan() && one.order(&other) == Ordering::Equal)
}

/// Judges a sum whose longest chain of additions is `chain`, by the standard bound on
/// floating-point summation in any order: |error| <= gamma(chain) * sum of magnitudes, where
/// gamma(k) = k u / (1 - k u). Integers, minima and maxima must be right to the bit.
pub fn close<T: Subject>(got: T, expected: &Expected<T>, chain: f64) -> Result<(), String> {
    if same(got, expected.value) {
        return Ok(());
    }
    let ku = chain * T::ROUNDOFF;
    let tolerance = ku / (1.0 - ku) * expected.magnitude;
    let error = ((got.to_f64() - expected.value.to_f64()) - expected.rest).abs();
    // Written so that a NaN fails.
    if ku < 1.0 && error <= tolerance {
        return Ok(());
    }
    Err(format!(
        "{got:?} instead of {:?} (error {error:e}, tolerance {tolerance:e})",
        expected.value
    ))
}

macro_rules! integers {
    ($($element:ident),*) => {
        $(impl Subject for $element {
            const ROUNDOFF: f64 = 0.0;
            const GREATEST: Self = Self::MAX;
            const ZEROES: [Self; 2] = [0, !0];
            const ODD: Self = Self::MIN;
            fn rough(rng: &mut StdRng) -> Self { rng.random() }
            fn whole(rng: &mut StdRng) -> Self { rng.random() }
            fn order(&self, other: &Self) -> Ordering { self.cmp(other) }
            fn is_nan(&self) -> bool { false }
            fn to_f64(self) -> f64 { self as f64 }
            fn sum(values: &[Self]) -> Expected<Self> {
                // Below 2^63 of them the exact sum fits; the low bits are the wrapped sum.
                Expected::exact(values.iter().map(|value| i128::from(*value)).sum::<i128>() as Self)
            }
        })*
    };
}

integers!(i32, u32, i64, u64);

macro_rules! floats {
    ($($element:ident),*) => {
        $(impl Subject for $element {
            const ROUNDOFF: f64 = $element::EPSILON as f64 / 2.0;
            const GREATEST: Self = Self::MAX;
            const ZEROES: [Self; 2] = [0.0, -0.0];
            const ODD: Self = Self::NAN;
            fn rough(rng: &mut StdRng) -> Self { rng.random::<Self>() * 2.0 - 1.0 }
            fn whole(rng: &mut StdRng) -> Self { Self::from(rng.random_range(-4i8..=4)) }
            fn order(&self, other: &Self) -> Ordering { self.total_cmp(other) }
            fn is_nan(&self) -> bool { $element::is_nan(*self) }
            fn to_f64(self) -> f64 { f64::from(self) }
            fn sum(values: &[Self]) -> Expected<Self> {
                let (high, low) = double_sum(values.iter().map(|value| f64::from(*value)));
                // Nothing lost: the sum as it stands, whose zero has a sign.
                let value = if low == 0.0 { high } else { high + low } as Self;
                Expected {
                    value,
                    rest: (high - f64::from(value)) + low,
                    magnitude: values.iter().map(|value| f64::from(*value).abs()).sum(),
                }
            }
        })*
    };
}

floats!(f32, f64);

/// The sum in about twice the precision of f64: what each addition rounds away is added up on
/// the side.
fn double_sum(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((-0.0, -0.0), |(high, low), value| {
        let sum = high + value;
        if !sum.is_finite() {
            return (sum, -0.0);
        }
        let part = sum - high;
        let lost = (high - (sum - part)) + (value - part);
        (sum, low + lost)
    })
}
