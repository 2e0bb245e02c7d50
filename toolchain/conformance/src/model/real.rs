//! Real numbers with about 100 significant bits, as the sum of two `f64`, and elementary functions of them:
//! the reference for functions of `f64`.
//!
//! Textbook methods, independent of the functions under test: Taylor series for the exponential and the sine,
//! Newton's method for their inverses.

mod angle;
mod functions;
#[cfg(test)]
mod tests;

pub use angle::{sin_cos, tan};
pub use functions::{acos, acosh, asin, asinh, atan2, atanh, cosh, exp2, hypot, powf, sinh, tanh};

use std::f64::consts;
use std::ops::{Add, Div, Mul, Neg, Sub};
use std::sync::LazyLock;

/// `high + low`, where `low` is at most half an ulp of `high`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Double {
    /// The nearest `f64`.
    pub high: f64,
    /// The remainder.
    pub low: f64,
}

/// A number with a large exponent: `mantissa * 2^exponent`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Real {
    /// The mantissa.
    pub mantissa: Double,
    /// The exponent of 2.
    pub exponent: i32,
}

const fn double(high: f64, low: f64) -> Double {
    Double { high, low }
}

const ONE: Double = double(1.0, 0.0);
/// π / 2.
pub const FRAC_PI_2: Double = double(consts::FRAC_PI_2, 6.123233995736766e-17);
/// π.
pub const PI: Double = double(consts::PI, 1.2246467991473532e-16);
/// ln 2.
pub const LN_2: Double = double(consts::LN_2, 2.3190468138462996e-17);
/// ln 10.
pub const LN_10: Double = double(consts::LN_10, -2.1707562233822494e-16);

/// 2 to the power of `exponent`, which may be outside the range of `f64`.
pub fn scale(value: f64, exponent: i32) -> f64 {
    // In steps that are exact, except possibly the last one.
    let mut value = value;
    let mut left = exponent;
    while left > 1000 {
        value *= 2.0_f64.powi(1000);
        left -= 1000;
    }
    while left < -900 && value.abs() > 2.0_f64.powi(-100) {
        value *= 2.0_f64.powi(-900);
        left += 900;
    }
    match left {
        -1022.. => value * 2.0_f64.powi(left),
        _ => value * 2.0_f64.powi(-1022) * 2.0_f64.powi((left + 1022).max(-1022)),
    }
}

/// Splits `value` into a number from 1 to 2 with its sign, and an exponent. Zero and non-finite values are
/// returned unchanged.
fn parts(value: f64) -> (f64, i32) {
    if value == 0.0 || !value.is_finite() {
        return (value, 0);
    }
    if value.abs() < f64::MIN_POSITIVE {
        let (mantissa, exponent) = parts(value * 2.0_f64.powi(100));
        return (mantissa, exponent - 100);
    }
    let exponent = (value.to_bits() >> 52 & 0x7FF) as i32 - 1023;
    let mantissa = value.to_bits() & !(0x7FF << 52) | 1023 << 52;
    (f64::from_bits(mantissa), exponent)
}

/// The exponent of a finite number other than 0.
pub fn exponent(value: f64) -> i32 {
    parts(value).1
}

/// The exact sum of two numbers.
fn sum(a: f64, b: f64) -> Double {
    let high = a + b;
    let of_b = high - a;
    double(high, (a - (high - of_b)) + (b - of_b))
}

/// The exact product of two numbers.
fn product(a: f64, b: f64) -> Double {
    let high = a * b;
    double(high, a.mul_add(b, -high))
}

impl From<f64> for Double {
    fn from(value: f64) -> Self {
        double(value, 0.0)
    }
}

impl Add for Double {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let high = sum(self.high, other.high);
        let low = sum(self.low, other.low);
        let high = sum(high.high, high.low + low.high);
        sum(high.high, high.low + low.low)
    }
}

impl Neg for Double {
    type Output = Self;

    fn neg(self) -> Self {
        double(-self.high, -self.low)
    }
}

impl Sub for Double {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Mul for Double {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        let high = product(self.high, other.high);
        let low = self.high.mul_add(other.low, self.low * other.high);
        sum(high.high, high.low + low)
    }
}

impl Div for Double {
    type Output = Self;

    fn div(self, other: Self) -> Self {
        let first = self.high / other.high;
        let rest = self - other * first.into();
        let second = rest.high / other.high;
        let rest = rest - other * second.into();
        sum(first, second) + (rest.high / other.high).into()
    }
}

/// 1 / n! for each n.
static INVERSE_FACTORIALS: LazyLock<[Double; 30]> = LazyLock::new(|| {
    let mut factorial = ONE;
    std::array::from_fn(|n| {
        factorial = factorial * (n.max(1) as f64).into();
        ONE / factorial
    })
});

/// The sum of 1 / n! times powers of `x`, from power 0 upwards, for these n, the last one first.
fn series(n: impl Iterator<Item = usize>, x: Double) -> Double {
    n.fold(0.0.into(), |sum, n| INVERSE_FACTORIALS[n] + x * sum)
}

impl Double {
    /// Multiplies by a power of 2, exactly.
    fn times(self, factor: f64) -> Self {
        double(self.high * factor, self.low * factor)
    }

    fn abs(self) -> Self {
        if self.high < 0.0 { -self } else { self }
    }

    /// The square root.
    pub fn sqrt(self) -> Self {
        if self.high <= 0.0 {
            return self.high.sqrt().into();
        }
        let root = self.high.sqrt();
        let rest = self - product(root, root);
        sum(root, rest.high / (2.0 * root))
    }

    /// `exp(self) - 1` for numbers up to slightly more than 1/2.
    fn exp_m1_small(self) -> Self {
        const HALVINGS: i32 = 9;
        let x = self.times(2.0_f64.powi(-HALVINGS));
        let mut result = x * series((1..11).rev(), x);
        for _ in 0..HALVINGS {
            result = result.times(2.0) + result * result;
        }
        result
    }

    /// e to the power of `self`.
    pub fn exp(self) -> Real {
        let exponent = (self.high / LN_2.high).round();
        if exponent.abs() > 1e5 {
            let mantissa = if exponent < 0.0 { 0.0 } else { f64::INFINITY };
            return Double::from(mantissa).into();
        }
        let rest = self - LN_2 * exponent.into();
        Real {
            mantissa: ONE + rest.exp_m1_small(),
            exponent: exponent as i32,
        }
    }

    /// `exp(self) - 1`.
    pub fn exp_m1(self) -> Real {
        match self.high.abs() {
            ..1e-32 => self.into(),
            ..0.4 => self.exp_m1_small().into(),
            ..100.0 => (self.exp().near() - ONE).into(),
            _ if self.high < 0.0 => (-ONE).into(),
            _ => self.exp(),
        }
    }

    /// `ln(1 + self)`.
    pub fn ln_1p(self) -> Self {
        match self.high.abs() {
            ..1e-32 => return self,
            ..0.3 => {}
            _ => return Real::from(ONE + self).ln(),
        }
        let guess = Self::from(self.high.ln_1p());
        let reached = guess.exp_m1_small();
        guess + (self - reached) / (ONE + reached)
    }

    /// Sine and cosine of an angle up to slightly more than π / 4.
    fn sin_cos_small(self) -> (Self, Self) {
        let square = -(self * self);
        let sin = series((1..30).step_by(2).rev(), square);
        (self * sin, series((0..30).step_by(2).rev(), square))
    }

    /// The sine of an angle up to π / 4 divided by the cosine.
    fn tan_small(self) -> Self {
        let (sin, cos) = self.sin_cos_small();
        sin / cos
    }

    /// The arctangent.
    pub fn atan(self) -> Self {
        if self.high.abs() > 1.0 {
            let quarter = if self.high < 0.0 {
                -FRAC_PI_2
            } else {
                FRAC_PI_2
            };
            return quarter - (ONE / self).atan();
        }
        let guess = Self::from(self.high.atan());
        let reached = guess.tan_small();
        guess + (self - reached) / (ONE + self * reached)
    }
}

impl From<Double> for Real {
    fn from(mantissa: Double) -> Self {
        Self {
            mantissa,
            exponent: 0,
        }
    }
}

impl From<f64> for Real {
    fn from(value: f64) -> Self {
        let (mantissa, exponent) = parts(value);
        Self {
            mantissa: mantissa.into(),
            exponent,
        }
    }
}

impl Real {
    /// As the sum of two `f64`, for numbers well within `f64`'s range.
    fn near(self) -> Double {
        self.mantissa.times(2.0_f64.powi(self.exponent))
    }

    /// The natural logarithm of a positive number.
    pub fn ln(self) -> Double {
        let (mut mantissa, exponent) = parts(self.mantissa.high);
        let mut exponent = exponent;
        if mantissa > 1.4 {
            mantissa /= 2.0;
            exponent += 1;
        }
        let low = scale(self.mantissa.low, -exponent);
        let exponent = f64::from(exponent + self.exponent);
        let near_one = double(mantissa, low) - ONE;
        // `ln_1p`, whose fallback would call this function again.
        let guess = Double::from(near_one.high.ln_1p());
        let reached = guess.exp_m1_small();
        guess + (near_one - reached) / (ONE + reached) + LN_2 * exponent.into()
    }

    /// The square root.
    pub fn sqrt(self) -> Self {
        let odd = self.exponent.rem_euclid(2);
        let mantissa = self.mantissa.times(f64::from(1 + odd)).sqrt();
        Self {
            mantissa,
            exponent: (self.exponent - odd) / 2,
        }
    }

    /// The cube root.
    pub fn cbrt(self) -> Self {
        let odd = self.exponent.rem_euclid(3);
        let x = self.mantissa.times(f64::from(1 << odd));
        let guess = Double::from(x.high.cbrt());
        let square = guess * guess;
        let mantissa = match x.high {
            0.0 => x,
            _ => guess - (square * guess - x) / (square + square + square),
        };
        Self {
            mantissa,
            exponent: (self.exponent - odd) / 3,
        }
    }

    /// The quotient.
    pub fn over(self, other: Self) -> Self {
        Self {
            mantissa: self.mantissa / other.mantissa,
            exponent: self.exponent - other.exponent,
        }
    }

    /// Multiplies by a power of 2.
    pub fn shifted(self, exponent: i32) -> Self {
        Self {
            exponent: self.exponent + exponent,
            ..self
        }
    }

    /// The negated number.
    pub fn negative(self) -> Self {
        Self {
            mantissa: -self.mantissa,
            ..self
        }
    }
}
