//! Real numbers with about 100 significant bits, as the sum of two `f64`, and the elementary functions of
//! them: what functions of `f64` are measured against.
//!
//! Textbook methods that share nothing with the functions they judge: Taylor series for the exponential and
//! the sine, Newton's method for their inverses.

use std::f64::consts;
use std::ops::{Add, Div, Mul, Neg, Sub};
use std::sync::LazyLock;

/// `high + low`, where `low` is at most half an ulp of `high`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Double {
    /// The nearest `f64`.
    pub high: f64,
    /// The rest.
    pub low: f64,
}

/// A number whose exponent no `f64` may have: `mantissa * 2^exponent`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Real {
    /// The digits.
    pub mantissa: Double,
    /// Of 2.
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

/// The bits of 2 / π behind the binary point.
const TWO_OVER_PI: [u64; 22] = [
    0xA2F9836E4E441529,
    0xFC2757D1F534DDC0,
    0xDB6295993C439041,
    0xFE5163ABDEBBC561,
    0xB7246E3A424DD2E0,
    0x06492EEA09D1921C,
    0xFE1DEB1CB129A73E,
    0xE88235F52EBB4484,
    0xE99C7026B45F7E41,
    0x3991D639835339F4,
    0x9C845F8BBDF9283B,
    0x1FF897FFDE05980F,
    0xEF2F118B5A0A6D1F,
    0x6D367ECF27CB09B7,
    0x4F463F669E5FEA2D,
    0x7527BAC7EBE5F17B,
    0x3D0739F78A5292EA,
    0x6BFB5FB11F8D5D08,
    0x56033046FC7B6BAB,
    0xF0CFBC209AF4361D,
    0xA9E391615EE61B08,
    0x6599855F14A06840,
];

/// 2 to the power of `exponent`, which may be beyond those of `f64`'s powers of 2.
pub fn scale(value: f64, exponent: i32) -> f64 {
    // In steps that lose nothing but in the last one.
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

/// A number from 1 to 2 with the sign of `value`, and the exponent that is left. Of what has no exponent,
/// itself.
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

/// The exponent of a finite number that is not 0.
pub fn exponent(value: f64) -> i32 {
    parts(value).1
}

/// The sum of two numbers, exactly.
fn sum(a: f64, b: f64) -> Double {
    let high = a + b;
    let of_b = high - a;
    double(high, (a - (high - of_b)) + (b - of_b))
}

/// The product of two numbers, exactly.
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

/// The sum of 1 / n! times powers of `x` that rise from 0 on, for these n, the last one first.
fn series(n: impl Iterator<Item = usize>, x: Double) -> Double {
    n.fold(0.0.into(), |sum, n| INVERSE_FACTORIALS[n] + x * sum)
}

impl Double {
    /// Times a power of 2 that loses nothing.
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

    /// `exp(self) - 1` for numbers up to 1/2 and a little more.
    fn exp_m1_small(self) -> Self {
        const HALVINGS: i32 = 9;
        let x = self.times(2.0_f64.powi(-HALVINGS));
        let mut result = x * series((1..11).rev(), x);
        for _ in 0..HALVINGS {
            result = result.times(2.0) + result * result;
        }
        result
    }

    /// The power of e.
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

    /// Sine and cosine of an angle up to π / 4 and a little more.
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
    /// As the sum of two `f64`; for numbers that are far from `f64`'s limits.
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
        // `ln_1p`, whose own way out would come back here.
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

    /// Times a power of 2.
    pub fn shifted(self, exponent: i32) -> Self {
        Self {
            exponent: self.exponent + exponent,
            ..self
        }
    }

    /// With the other sign.
    pub fn negative(self) -> Self {
        Self {
            mantissa: -self.mantissa,
            ..self
        }
    }
}

/// The quarter turns in an angle, 0 to 3, and the rest, at most half a quarter.
fn quarters(angle: f64) -> (u64, Double) {
    const LIMBS: usize = 5;
    let (magnitude, negative) = (angle.abs(), angle < 0.0);
    if magnitude < 0.78 {
        return (0, angle.into());
    }
    let exponent = (magnitude.to_bits() >> 52) as i32 - 1075;
    let mantissa = magnitude.to_bits() & ((1 << 52) - 1) | 1 << 52;
    // Bits of 2 / π that times the mantissa give whole turns are left out.
    let first = (exponent - 1).max(1);
    let window = |limb: usize| {
        let bit = first as usize - 1 + 64 * limb;
        let (at, shift) = (bit / 64, bit % 64);
        match shift {
            0 => TWO_OVER_PI[at],
            _ => TWO_OVER_PI[at] << shift | TWO_OVER_PI[at + 1] >> (64 - shift),
        }
    };
    // The product, its lowest limb first.
    let mut limbs = [0_u64; LIMBS + 1];
    let mut carry = 0;
    for (limb, product) in limbs.iter_mut().take(LIMBS).enumerate() {
        carry += u128::from(mantissa) * u128::from(window(LIMBS - 1 - limb));
        *product = carry as u64;
        carry >>= 64;
    }
    limbs[LIMBS] = carry as u64;
    // Its bits from this one on are whole quarters.
    let point = 64 * LIMBS as i32 - (exponent - first + 1);
    let (at, shift) = (point as usize / 64, point as usize % 64);
    let mut quarters = limbs[at] >> shift;
    if shift > 0 && at < LIMBS {
        quarters |= limbs[at + 1] << (64 - shift);
    }
    let below_point = |limbs: &mut [u64; LIMBS + 1]| {
        limbs[at] &= (1 << shift) - 1;
        limbs[at + 1..].fill(0);
    };
    below_point(&mut limbs);
    // From half a quarter on, the next quarter and what is missing to it, while all digits are there.
    let half = point as usize - 1;
    let is_more = limbs[half / 64] >> (half % 64) & 1 == 1;
    if is_more {
        quarters += 1;
        let mut carry = true;
        for limb in &mut limbs {
            (*limb, carry) = (!*limb).overflowing_add(carry.into());
        }
        below_point(&mut limbs);
    }
    let mut rest = Double::from(0.0);
    for (limb, bits) in limbs.iter().enumerate().rev() {
        for (half, bits) in [(32, bits >> 32), (0, bits & 0xFFFF_FFFF)] {
            let weight = 64 * limb as i32 + half - point;
            rest = rest + (bits as f64 * 2.0_f64.powi(weight)).into();
        }
    }
    if is_more {
        rest = -rest;
    }
    let rest = rest * FRAC_PI_2;
    match negative {
        true => (quarters.wrapping_neg() & 3, -rest),
        false => (quarters & 3, rest),
    }
}

/// Sine and cosine of any angle.
pub fn sin_cos(angle: f64) -> (Double, Double) {
    let (quarters, rest) = quarters(angle);
    let (sin, cos) = rest.sin_cos_small();
    match quarters {
        0 => (sin, cos),
        1 => (cos, -sin),
        2 => (-sin, -cos),
        _ => (-cos, sin),
    }
}

/// The tangent of any angle.
pub fn tan(angle: f64) -> Real {
    let (sin, cos) = sin_cos(angle);
    (sin / cos).into()
}

/// 2 to the power of `x`.
pub fn exp2(x: f64) -> Real {
    let whole = x.round().clamp(-1e6, 1e6);
    let rest = LN_2 * (x - whole).clamp(-1.0, 1.0).into();
    rest.exp().shifted(whole as i32)
}

/// `x` to the power of `n`, which is whole where `x` is negative.
pub fn powf(x: f64, n: f64) -> Real {
    let logarithm = Real::from(x.abs()).ln();
    // What is far beyond any exponent may be beyond `f64`, too.
    let power = match logarithm.high * n {
        far @ (..-1e6 | 1e6..) => Double::from(if far < 0.0 { 0.0 } else { f64::INFINITY }).into(),
        _ => (logarithm * n.into()).exp(),
    };
    match x < 0.0 && n % 2.0 != 0.0 {
        true => power.negative(),
        false => power,
    }
}

/// `sqrt(x * x + y * y)`.
pub fn hypot(x: f64, y: f64) -> Real {
    let (long, short) = (x.abs().max(y.abs()), x.abs().min(y.abs()));
    let (long, exponent) = parts(long);
    let short = scale(short, -exponent);
    let root = (product(long, long) + product(short, short)).sqrt();
    Real::from(root).shifted(exponent)
}

/// The angle of a point, of which not both are 0.
fn angle(y: Real, x: Real) -> Real {
    let positive = |r: Real| Real {
        mantissa: r.mantissa.abs(),
        ..r
    };
    let ratio = positive(y).over(positive(x));
    let result: Real = match ratio.exponent {
        _ if x.mantissa.high == 0.0 => FRAC_PI_2.into(),
        ..-200 if x.mantissa.high > 0.0 => ratio,
        ..-200 => PI.into(),
        200.. => FRAC_PI_2.into(),
        _ if x.mantissa.high > 0.0 => ratio.near().atan().into(),
        _ => (PI - ratio.near().atan()).into(),
    };
    match y.mantissa.high.is_sign_negative() {
        true => result.negative(),
        false => result,
    }
}

/// The angle of a point, of which not both are 0.
pub fn atan2(y: f64, x: f64) -> Real {
    angle(y.into(), x.into())
}

/// `sqrt((1 - x) * (1 + x))`.
fn other_leg(x: f64) -> Real {
    (sum(1.0, -x) * sum(1.0, x)).sqrt().into()
}

/// The arcsine.
pub fn asin(x: f64) -> Real {
    angle(x.into(), other_leg(x))
}

/// The arccosine.
pub fn acos(x: f64) -> Real {
    angle(other_leg(x), x.into())
}

/// From here on the hyperbolic functions are exponentials, or 1.
const FAR: f64 = 45.0;

/// The hyperbolic sine.
pub fn sinh(x: f64) -> Real {
    let magnitude = match x.abs() {
        ..1e-30 => return x.into(),
        FAR.. => Double::from(x.abs()).exp(),
        near => {
            let e = Double::from(near).exp_m1().near();
            (e + e / (e + ONE)).into()
        }
    };
    let magnitude = magnitude.shifted(-1);
    if x < 0.0 {
        magnitude.negative()
    } else {
        magnitude
    }
}

/// The hyperbolic cosine.
pub fn cosh(x: f64) -> Real {
    let power = Double::from(x.abs()).exp();
    let sum = match x.abs() {
        FAR.. => power,
        _ => (power.near() + ONE / power.near()).into(),
    };
    sum.shifted(-1)
}

/// The hyperbolic tangent.
pub fn tanh(x: f64) -> Real {
    match x.abs() {
        ..1e-30 => x.into(),
        FAR.. => 1.0_f64.copysign(x).into(),
        _ => {
            let e = Double::from(2.0 * x).exp_m1().near();
            (e / (e + double(2.0, 0.0))).into()
        }
    }
}

/// From here on `sqrt(x * x + 1)` is `x`.
const HUGE: f64 = 1e18;

/// The inverse hyperbolic sine.
pub fn asinh(x: f64) -> Real {
    let magnitude: Real = match x.abs() {
        ..1e-30 => return x.into(),
        HUGE.. => (Real::from(x.abs()).ln() + LN_2).into(),
        near => {
            let square = product(near, near);
            let rest = square / (ONE + (ONE + square).sqrt());
            (Double::from(near) + rest).ln_1p().into()
        }
    };
    if x < 0.0 {
        magnitude.negative()
    } else {
        magnitude
    }
}

/// The inverse hyperbolic cosine.
pub fn acosh(x: f64) -> Real {
    match x {
        HUGE.. => (Real::from(x).ln() + LN_2).into(),
        _ => {
            let above = sum(x, -1.0);
            let root = (above * above + above.times(2.0)).sqrt();
            (above + root).ln_1p().into()
        }
    }
}

/// The inverse hyperbolic tangent.
pub fn atanh(x: f64) -> Real {
    match x.abs() {
        ..1e-30 => x.into(),
        _ => Real::from((Double::from(2.0 * x) / sum(1.0, -x)).ln_1p()).shifted(-1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Functions with arguments and values of 80 digits (mpmath's), which are rounded to two `f64` here.
    type Known = (fn(f64) -> Real, f64, f64, f64);

    const KNOWN: [Known; 42] = [
        (
            |x| Double::from(x).exp(),
            0.7,
            2.0137527074704766,
            -2.0058243549764793e-16,
        ),
        (
            |x| Double::from(x).exp(),
            -30.25,
            7.287724095819692e-14,
            2.3339070041631973e-30,
        ),
        (
            |x| Double::from(x).exp(),
            600.5,
            6.22065882492659e+260,
            5.3357371553824244e+244,
        ),
        (exp2, 100.7, 2.0593044755556034e+30, -39899919515258.91),
        (
            |x| Double::from(x).exp_m1(),
            1e-09,
            1.0000000005000001e-09,
            -7.443897403844588e-26,
        ),
        (
            |x| Double::from(x).exp_m1(),
            -0.3,
            -0.2591817793182821,
            -1.805530505953e-18,
        ),
        (
            |x| Double::from(x).exp_m1(),
            3.5,
            32.11545195869231,
            2.2435601403927554e-15,
        ),
        (
            |x| Real::from(x).ln().into(),
            1.0000000009313226,
            9.313225741817976e-10,
            2.692645221273596e-28,
        ),
        (
            |x| Real::from(x).ln().into(),
            1e-300,
            -690.7755278982137,
            -2.3670096176709832e-14,
        ),
        (
            |x| Real::from(x).ln().into(),
            12345.678,
            9.421061321291832,
            -1.9085650743481053e-16,
        ),
        (
            |x| Double::from(x).ln_1p().into(),
            1e-10,
            9.999999999500001e-11,
            -3.389513322121794e-27,
        ),
        (
            |x| Double::from(x).ln_1p().into(),
            -0.29,
            -0.3424903089467759,
            -1.7582174471307058e-17,
        ),
        (
            |x| Double::from(x).ln_1p().into(),
            77.0,
            4.356708826689592,
            4.0941700741242464e-17,
        ),
        (
            |x| sin_cos(x).0.into(),
            0.5,
            0.479425538604203,
            -5.103969860556013e-18,
        ),
        (
            |x| sin_cos(x).0.into(),
            3.0,
            0.1411200080598672,
            8.577269787017502e-18,
        ),
        (
            |x| sin_cos(x).0.into(),
            1e+22,
            -0.8522008497671888,
            -6.7806825896773284e-18,
        ),
        (
            |x| sin_cos(x).0.into(),
            1.0715086071862673e+301,
            -0.15920170308624243,
            -8.410182334689326e-18,
        ),
        (
            |x| sin_cos(x).1.into(),
            consts::FRAC_PI_2,
            6.123233995736766e-17,
            -1.4973849048591698e-33,
        ),
        (
            |x| sin_cos(x).1.into(),
            100000.0,
            -0.9993608074382124,
            -2.3447088905187402e-17,
        ),
        (
            |x| sin_cos(x).1.into(),
            1e+300,
            -0.5753861119575491,
            2.6770761918787068e-17,
        ),
        (tan, 0.3, 0.30933624960962325, -2.7475966183811927e-17),
        (tan, 11.0, -225.95084645419513, -1.2217000310482306e-14),
        (
            |x| Double::from(x).atan().into(),
            1e-05,
            9.999999999666668e-06,
            -4.575803486027043e-22,
        ),
        (
            |x| Double::from(x).atan().into(),
            0.9,
            0.7328151017865066,
            5.30568089079825e-17,
        ),
        (
            |x| Double::from(x).atan().into(),
            30.0,
            1.5374753309166493,
            8.116858600761242e-17,
        ),
        (asin, 0.3, 0.3046926540153975, -2.7469740051157017e-17),
        (asin, 0.9999999, 1.5703491131957876, -4.9012190641525995e-17),
        (
            acos,
            0.9999999,
            0.00044721359910904126,
            -1.8830342882148272e-20,
        ),
        (acos, -0.5, 2.0943951023931957, -2.144163532902182e-16),
        (sinh, 0.01, 0.010000166667500003, -5.644562789430375e-19),
        (sinh, 20.0, 242582597.70489514, -7.865629467297586e-10),
        (cosh, 0.5, 1.1276259652063807, 8.703480114456192e-17),
        (tanh, 0.001, 0.0009999996666668, 1.7800613799166557e-20),
        (tanh, 2.0, 0.9640275800758169, -1.9413550547557176e-17),
        (asinh, 0.001, 0.0009999998333334083, 1.0227947063237223e-19),
        (asinh, 50.0, 4.605270170991424, 1.6498845942706117e-16),
        (
            acosh,
            1.0000001,
            0.0004472135919037347,
            2.6565376465076346e-20,
        ),
        (acosh, 50.0, 4.6050701709847575, -3.0107997280726587e-16),
        (atanh, 0.001, 0.0010000003333335333, 3.1873786512008025e-20),
        (atanh, 0.999, 3.8002011672501994, 1.7973237658080288e-16),
        (
            |x| Real::from(x).cbrt(),
            2.0,
            1.2599210498948732,
            -2.589933375300507e-17,
        ),
        (
            |x| Real::from(x).cbrt(),
            1e-300,
            1e-100,
            -1.1638869190866631e-117,
        ),
    ];

    /// The difference of two numbers by the second.
    fn error(got: Real, high: f64, low: f64) -> f64 {
        let got = double(
            scale(got.mantissa.high, got.exponent),
            scale(got.mantissa.low, got.exponent),
        );
        ((got - double(high, low)).high / high).abs()
    }

    #[test]
    fn functions_have_ninety_bits() {
        for (i, (function, x, high, low)) in KNOWN.into_iter().enumerate() {
            let error = error(function(x), high, low);
            assert!(error < 2.0_f64.powi(-90), "{i} of {x}: {error:e}");
        }
        for (got, high, low) in [
            (
                powf(1.7, 300.3),
                1.5988624016232495e+69,
                8.484550299292943e+52,
            ),
            (hypot(3.1, 4.7e-5), 3.10000000035629, 2.1403272432844254e-16),
            (
                atan2(-2.5, -7.1),
                -2.803036958678109,
                -5.416251858515105e-17,
            ),
        ] {
            assert!(error(got, high, low) < 2.0_f64.powi(-90), "{got:?}");
        }
    }

    #[test]
    fn scaling_is_exact() {
        assert_eq!(scale(f64::from_bits(1), 1074), 1.0);
        assert_eq!(scale(1.0, -1074), f64::from_bits(1));
        assert_eq!(scale(f64::from_bits(3), 2000), 3.0 * 2.0_f64.powi(926));
        assert_eq!(scale(3.0 * 2.0_f64.powi(926), -2000), f64::from_bits(3));
    }
}
