//! The functions of `cuda_std::float`: their reference values, arguments and error bounds.

use cuda_std::float::{ApproxFloat, GpuFloat};
use rand::{RngExt, rngs::StdRng};

use crate::element::Element;
use crate::model::real::{self, Double, Real};

/// `f32` or `f64`.
pub trait Float: GpuFloat + Send + Sync + 'static {
    /// Its name in kernels.
    const ELEMENT: Element;
    /// Bits of the significand.
    const SIGNIFICANT_BITS: i32;
    /// The exponent of the largest value.
    const LARGEST_EXPONENT: i32;

    /// The value from the low bits of a word.
    fn from_word(word: u64) -> Self;
    /// The value in the low bits of a word.
    fn word(self) -> u64;
    /// The nearest value to an `f64`.
    fn nearest(value: f64) -> Self;
    /// The same value as `f64`.
    fn wide(self) -> f64;
    /// All functions of `GpuFloat`.
    fn functions() -> Vec<Function<Self>>;
}

/// A function with three arguments; unused ones are 1.
type Call<T> = fn([T; 3]) -> T;

/// The reference of a function.
pub enum Reference<T> {
    /// `std`'s function, which is exact: the bits must be equal.
    Bits(Call<T>),
    /// `std`'s function in `f64`, for the value, NaN, infinity and the sign of 0.
    Value(Call<f64>, fn([f64; 3]) -> Real),
}

/// A function of `GpuFloat`.
pub struct Function<T> {
    /// Its name.
    pub name: &'static str,
    /// How many arguments it has.
    pub arguments: usize,
    /// Where most values of the first argument come from.
    range: (f64, f64),
    /// The largest error in ulps.
    pub bound: f64,
    /// The function.
    pub call: Call<T>,
    /// The reference.
    pub reference: Reference<T>,
}

macro_rules! functions {
    ($float:ident:
        exact { $($exact:ident($($exact_argument:ident),+);)* }
        close { $($name:ident($($argument:ident),+) in $range:expr,
            $bound_f32:literal $bound_f64:literal: $call:expr, $std:expr, $real:expr;)* }
    ) => {
        vec![
            $(Function {
                name: stringify!($exact),
                arguments: [$(stringify!($exact_argument)),+].len(),
                range: (-1000.0, 1000.0),
                bound: 0.0,
                call: |x| functions!(@apply x GpuFloat::$exact($($exact_argument),+)),
                reference: Reference::Bits(|x| functions!(@apply x $float::$exact($($exact_argument),+))),
            },)*
            $(Function {
                name: stringify!($name),
                arguments: [$(stringify!($argument)),+].len(),
                range: $range,
                bound: functions!(@bound $float $bound_f32 $bound_f64),
                call: |x| functions!(@apply x $call, ($($argument),+)),
                reference: Reference::Value(
                    |x| functions!(@apply x $std, ($($argument),+)),
                    |x| functions!(@real $float x $std, $real, ($($argument),+)),
                ),
            },)*
        ]
    };

    (@apply $x:ident $($path:ident)::+($a:ident)) => { $($path)::+($x[0]) };
    (@apply $x:ident $($path:ident)::+($a:ident, $b:ident)) => { $($path)::+($x[0], $x[1]) };
    (@apply $x:ident $($path:ident)::+($a:ident, $b:ident, $c:ident)) => {
        $($path)::+($x[0], $x[1], $x[2])
    };
    (@apply $x:ident $call:expr, ($a:ident)) => { $call($x[0]) };
    (@apply $x:ident $call:expr, ($a:ident, $b:ident)) => { $call($x[0], $x[1]) };
    // An `f64` has more digits than needed to measure an `f32`.
    (@real f32 $x:ident $std:expr, $real:expr, $arguments:tt) => {
        Real::from(functions!(@apply $x $std, $arguments))
    };
    (@real f64 $x:ident $std:expr, $real:expr, $arguments:tt) => {
        functions!(@apply $x $real, $arguments)
    };
    (@bound f32 $bound_f32:literal $bound_f64:literal) => { $bound_f32 };
    (@bound f64 $bound_f32:literal $bound_f64:literal) => { $bound_f64 };
}

/// The table for each type.
macro_rules! table {
    ($float:ident, $far:expr) => {{
        // The exponential of these values overflows or underflows.
        let far: f64 = $far;
        functions! { $float:
            exact {
                floor(x); ceil(x); round(x); trunc(x); fract(x); abs(x); signum(x); copysign(x, y);
                mul_add(x, y, z); div_euclid(x, y); rem_euclid(x, y); sqrt(x);
            }
            close {
                rsqrt(x) in (0.0, 100.0), 1.5 1.5: GpuFloat::rsqrt, |x: f64| 1.0 / x.sqrt(),
                    |x| Real::from(1.0).over(Real::from(x).sqrt());
                cbrt(x) in (-100.0, 100.0), 0.51 0.51: GpuFloat::cbrt, f64::cbrt, |x| Real::from(x).cbrt();
                exp(x) in (-far, far), 1.0 1.0: GpuFloat::exp, f64::exp, |x| Double::from(x).exp();
                exp2(x) in (-1.6 * far, 1.5 * far), 0.51 1.0: GpuFloat::exp2, f64::exp2, real::exp2;
                exp_m1(x) in (-far, far), 1.0 1.0: GpuFloat::exp_m1, f64::exp_m1,
                    |x| Double::from(x).exp_m1();
                ln(x) in (0.0, 4.0), 1.0 1.0: GpuFloat::ln, f64::ln, |x| Real::from(x).ln().into();
                log2(x) in (0.0, 4.0), 1.0 1.0: GpuFloat::log2, f64::log2,
                    |x| (Real::from(x).ln() / real::LN_2).into();
                log10(x) in (0.0, 4.0), 1.0 1.0: GpuFloat::log10, f64::log10,
                    |x| (Real::from(x).ln() / real::LN_10).into();
                ln_1p(x) in (-1.0, 4.0), 1.0 1.0: GpuFloat::ln_1p, f64::ln_1p,
                    |x| Double::from(x).ln_1p().into();
                log(x, y) in (0.0, 4.0), 4.0 4.0: GpuFloat::log, f64::log,
                    |x, y| (Real::from(x).ln() / Real::from(y).ln()).into();
                powf(x, y) in (0.0, 4.0), 1.0 1.0: GpuFloat::powf, f64::powf, real::powf;
                powi(x, y) in (-4.0, 4.0), 1.0 1.0: |x, y| GpuFloat::powi(x, y as i32),
                    |x, y: f64| f64::powf(x, (y as i32).into()),
                    |x, y: f64| real::powf(x, (y as i32).into());
                hypot(x, y) in (-100.0, 100.0), 1.25 1.25: GpuFloat::hypot, f64::hypot, real::hypot;
                sin(x) in (-10.0, 10.0), 0.51 1.0: GpuFloat::sin, f64::sin, |x| real::sin_cos(x).0.into();
                cos(x) in (-10.0, 10.0), 0.51 1.0: GpuFloat::cos, f64::cos, |x| real::sin_cos(x).1.into();
                sin_of_both(x) in (-10.0, 10.0), 0.51 1.0: |x| GpuFloat::sin_cos(x).0, f64::sin,
                    |x| real::sin_cos(x).0.into();
                cos_of_both(x) in (-10.0, 10.0), 0.51 1.0: |x| GpuFloat::sin_cos(x).1, f64::cos,
                    |x| real::sin_cos(x).1.into();
                tan(x) in (-10.0, 10.0), 1.0 1.0: GpuFloat::tan, f64::tan, real::tan;
                asin(x) in (-1.0, 1.0), 1.0 1.0: GpuFloat::asin, f64::asin, real::asin;
                acos(x) in (-1.0, 1.0), 1.0 1.0: GpuFloat::acos, f64::acos, real::acos;
                atan(x) in (-10.0, 10.0), 1.0 1.0: GpuFloat::atan, f64::atan,
                    |x| Double::from(x).atan().into();
                atan2(x, y) in (-10.0, 10.0), 1.75 1.75: GpuFloat::atan2, f64::atan2, real::atan2;
                sinh(x) in (-far, far), 2.0 2.0: GpuFloat::sinh, f64::sinh, real::sinh;
                cosh(x) in (-far, far), 1.5 1.5: GpuFloat::cosh, f64::cosh, real::cosh;
                tanh(x) in (-20.0, 20.0), 2.25 2.25: GpuFloat::tanh, f64::tanh, real::tanh;
                asinh(x) in (-10.0, 10.0), 2.0 2.0: GpuFloat::asinh, f64::asinh, real::asinh;
                acosh(x) in (1.0, 10.0), 2.25 2.25: GpuFloat::acosh, f64::acosh, real::acosh;
                atanh(x) in (-1.0, 1.0), 2.0 2.0: GpuFloat::atanh, f64::atanh, real::atanh;
            }
        }
    }};
}

impl Float for f32 {
    const ELEMENT: Element = Element::F32;
    const SIGNIFICANT_BITS: i32 = Self::MANTISSA_DIGITS as i32;
    const LARGEST_EXPONENT: i32 = Self::MAX_EXP - 1;

    fn from_word(word: u64) -> Self {
        Self::from_bits(word as u32)
    }

    fn word(self) -> u64 {
        self.to_bits().into()
    }

    fn nearest(value: f64) -> Self {
        value as Self
    }

    fn wide(self) -> f64 {
        self.into()
    }

    fn functions() -> Vec<Function<Self>> {
        table!(f32, 104.0)
    }
}

impl Float for f64 {
    const ELEMENT: Element = Element::F64;
    const SIGNIFICANT_BITS: i32 = Self::MANTISSA_DIGITS as i32;
    const LARGEST_EXPONENT: i32 = Self::MAX_EXP - 1;

    fn from_word(word: u64) -> Self {
        Self::from_bits(word)
    }

    fn word(self) -> u64 {
        self.to_bits()
    }

    fn nearest(value: f64) -> Self {
        value
    }

    fn wide(self) -> f64 {
        self
    }

    fn functions() -> Vec<Function<Self>> {
        table!(f64, 746.0)
    }
}

impl<T: Float> Function<T> {
    /// Where most values of the first argument come from.
    pub fn range(&self) -> (f64, f64) {
        self.range
    }

    /// The error of `result` in ulps; infinite for an error that rounding cannot explain, such as a wrong
    /// NaN, infinity or sign.
    pub fn error(&self, arguments: [T; 3], result: T) -> f64 {
        match &self.reference {
            Reference::Bits(exact) => {
                let exact = exact(arguments);
                let (exact, result) = match T::ELEMENT.is_nan(exact.word()) {
                    true => (true, T::ELEMENT.is_nan(result.word())),
                    false => (true, exact.word() == result.word()),
                };
                if exact == result { 0.0 } else { f64::INFINITY }
            }
            Reference::Value(known, value) => {
                // Without signalling NaNs, for which C's functions return other NaNs.
                let quiet = |x: f64| if x.is_nan() { f64::NAN } else { x };
                let arguments = arguments.map(|x| quiet(x.wide()));
                let known = known(arguments);
                let used = &arguments[..self.arguments];
                // Arguments where the function's value is exact or undefined.
                let special = known.is_nan() || used.iter().any(|x| *x == 0.0 || !x.is_finite());
                let value = if special {
                    known.into()
                } else {
                    value(arguments)
                };
                let value = match value.mantissa.high.is_nan() {
                    true => known.into(),
                    false => value,
                };
                let result = result.wide();
                let signs_differ =
                    result == 0.0 && result.is_sign_negative() != known.is_sign_negative();
                match signs_differ && !known.is_nan() {
                    true => f64::INFINITY,
                    false => ulps::<T>(result, value),
                }
            }
        }
    }

    /// At least `count` arguments: all combinations of special values; the function's own range; random bits.
    pub fn sample(&self, count: usize, rng: &mut StdRng) -> Vec<[T; 3]> {
        sample(self.arguments, self.range, count, rng)
    }
}

/// [`Function::sample`].
fn sample<T: Float>(
    arguments: usize,
    range: (f64, f64),
    count: usize,
    rng: &mut StdRng,
) -> Vec<[T; 3]> {
    let one = T::nearest(1.0);
    let specials = specials::<T>();
    let mut sample = Vec::with_capacity(count + specials.len().pow(2));
    for &x in &specials {
        match arguments {
            1 => sample.push([x, one, one]),
            _ => sample.extend(
                specials
                    .iter()
                    .map(|&y| [x, y, specials[rng.random_range(0..specials.len())]]),
            ),
        }
    }
    while sample.len() < count {
        sample.push(draw(range, rng));
    }
    sample
}

/// Random arguments.
fn draw<T: Float>((low, high): (f64, f64), rng: &mut StdRng) -> [T; 3] {
    let bits = |rng: &mut StdRng| T::from_word(rng.random::<u64>() & T::ELEMENT.mask());
    let usual = |rng: &mut StdRng| {
        let value = low + (high - low) * rng.random::<f64>();
        match rng.random_range(0..3) {
            0 => value,
            1 => value * 2.0_f64.powi(-rng.random_range(0..30)),
            _ => value.round() * rng.random_range(1..5) as f64 / 4.0,
        }
    };
    let x = match rng.random_range(0..3) {
        0 => bits(rng),
        _ => T::nearest(usual(rng)),
    };
    let y = match rng.random_range(0..4) {
        0 => bits(rng),
        1 => T::nearest(usual(rng)),
        // Powers that neither overflow nor underflow, with integer and half-integer exponents.
        kind => {
            let limit =
                f64::from(T::LARGEST_EXPONENT + T::SIGNIFICANT_BITS) / x.wide().abs().log2().abs();
            let limit = if limit.is_finite() { limit } else { 10.0 };
            let value = limit * (2.0 * rng.random::<f64>() - 1.0);
            T::nearest(if kind == 2 {
                value
            } else {
                (2.0 * value).round() / 2.0
            })
        }
    };
    let z = match rng.random_range(0..3) {
        0 => bits(rng),
        1 => T::nearest(usual(rng)),
        _ => T::nearest(-x.wide() * y.wide()),
    };
    [x, y, z]
}

/// Values at which functions change their behaviour, and their neighbours, with both signs.
fn specials<T: Float>() -> Vec<T> {
    let smallest = T::from_word(1).wide();
    let normal = 2.0_f64.powi(1 - T::LARGEST_EXPONENT);
    let epsilon = 2.0_f64.powi(1 - T::SIGNIFICANT_BITS);
    let largest = 2.0_f64.powi(T::LARGEST_EXPONENT) * (2.0 - epsilon);
    let mut values = vec![
        smallest,
        normal,
        normal / 2.0,
        normal / 3.0,
        largest,
        largest / 2.0,
    ];
    values.extend([
        0.0,
        f64::INFINITY,
        f64::NAN,
        epsilon,
        epsilon / 2.0,
        1.0 + epsilon,
        1.0 - epsilon / 2.0,
    ]);
    values.extend([
        1.0,
        2.0,
        3.0,
        4.0,
        5.0,
        10.0,
        100.0,
        0.5,
        0.25,
        0.75,
        1.5,
        2.5,
        1.0 / 3.0,
        0.1,
    ]);
    values.extend((1..=8).map(|n| f64::from(n) * real::PI.high / 4.0));
    values.extend([1e3, 1e5, 1e8, 1e16, 1e22, 1e30].map(|n| n * real::PI.high));
    values.extend([0.5, 1.0, 1.5].map(|n| n * real::LN_2.high));
    values.extend([
        16777215.0,
        16777216.0,
        16777217.0,
        8388608.5,
        4503599627370496.5,
        9007199254740993.0,
    ]);
    values.extend([
        88.0,
        88.72284,
        89.0,
        103.9,
        104.0,
        709.0,
        709.782712893384,
        745.13,
        746.0,
        2147483647.0,
    ]);
    values.extend([
        22.0, 20.0, 9.0, 0.3465736, 0.4142135, 0.707, 1.0397208, 2e-4, 1e-9, 1e-20,
    ]);
    let mut specials = Vec::new();
    for value in values {
        for value in [value, -value] {
            let word = T::nearest(value).word();
            specials.push(T::from_word(word));
            // The neighbours, if they are numbers.
            let finite = T::from_word(word).wide().is_finite();
            if finite && word & (T::ELEMENT.mask() >> 1) != 0 {
                specials.extend([word - 1, word + 1].map(T::from_word));
            }
        }
    }
    specials
}

/// The error of a result, in units of the value's last digit.
pub fn ulps<T: Float>(result: f64, value: Real) -> f64 {
    let high = value.mantissa.high;
    if result.is_nan() || high.is_nan() {
        return if result.is_nan() == high.is_nan() {
            0.0
        } else {
            f64::INFINITY
        };
    }
    if high.is_infinite() {
        return if result == high { 0.0 } else { f64::INFINITY };
    }
    let exponent = match high {
        0.0 => -T::LARGEST_EXPONENT,
        _ => real::exponent(high) + value.exponent,
    };
    let beyond = exponent > T::LARGEST_EXPONENT;
    if result.is_infinite() && beyond {
        return if (result < 0.0) == (high < 0.0) {
            0.0
        } else {
            f64::INFINITY
        };
    }
    let last = exponent.max(1 - T::LARGEST_EXPONENT) + 1 - T::SIGNIFICANT_BITS;
    // Infinity stands for the next number.
    let result = match result.is_infinite() {
        true => real::scale(1.0_f64.copysign(result), T::LARGEST_EXPONENT + 1 - last),
        false => real::scale(result, -last),
    };
    let shift = value.exponent - last;
    (result - real::scale(high, shift) - real::scale(value.mantissa.low, shift)).abs()
}

/// A function of `ApproxFloat`.
#[derive(Clone)]
pub struct Approximation {
    /// Its name.
    pub name: &'static str,
    /// How many arguments it has.
    pub arguments: usize,
    /// Where most values of the first argument come from.
    range: (f64, f64),
    /// The function.
    pub call: Call<f32>,
    /// The reference value.
    value: Call<f64>,
    /// The error bound for these arguments and this value, if there is one.
    bound: fn([f64; 3], f64) -> Option<f64>,
}

/// A relative error, plus one unit in the last digit of the smallest numbers.
fn relative(bits: f64, value: f64) -> Option<f64> {
    Some(value.abs() * (-bits).exp2() + f64::from(f32::from_bits(1)))
}

/// An error in ulps.
fn of_ulps(ulps: f64, value: f64) -> Option<f64> {
    let exponent = match value {
        0.0 => -f32::LARGEST_EXPONENT,
        _ => real::exponent(value).max(1 - f32::LARGEST_EXPONENT),
    };
    Some(ulps * 2.0_f64.powi(exponent + 1 - f32::SIGNIFICANT_BITS))
}

/// The bound of sine and cosine.
fn of_angle(angle: f64) -> Option<f64> {
    match angle.abs() / real::PI.high {
        ..=2.0 => Some(-20.4_f64),
        ..=100.0 => Some(-14.7),
        _ => None,
    }
    .map(f64::exp2)
}

macro_rules! approximations {
    ($($name:ident($($argument:ident),+) in $range:expr, $value:expr, $bound:expr;)*) => {
        vec![$(Approximation {
            name: stringify!($name),
            arguments: [$(stringify!($argument)),+].len(),
            range: $range,
            call: |x| functions!(@apply x ApproxFloat::$name($($argument),+)),
            value: |x| functions!(@apply x $value, ($($argument),+)),
            bound: $bound,
        }),*]
    };
}

/// All of `ApproxFloat`.
pub fn approximations() -> Vec<Approximation> {
    approximations! {
        exp2_approx(x) in (-150.0, 129.0), f64::exp2, |_, value| relative(22.0, value);
        exp_approx(x) in (-104.0, 89.0), f64::exp, |[x, ..], value| of_ulps(2.01 + 1.173 * x.abs(), value);
        log2_approx(x) in (0.0, 4.0), f64::log2, |[x, ..], value| match x {
            0.5..=2.0 => Some((-22.0_f64).exp2()),
            _ => relative(22.0, value),
        };
        ln_approx(x) in (0.0, 4.0), f64::ln, |[x, ..], value| match x {
            0.5..=2.0 => Some((-21.41_f64).exp2()),
            _ => of_ulps(4.0, value),
        };
        sin_approx(x) in (-20.0, 20.0), f64::sin, |[x, ..], _| of_angle(x);
        cos_approx(x) in (-20.0, 20.0), f64::cos, |[x, ..], _| of_angle(x);
        tanh_approx(x) in (-10.0, 10.0), f64::tanh, |_, value| relative(11.0, value);
        sqrt_approx(x) in (0.0, 100.0), f64::sqrt, |_, value| relative(23.0, value);
        rsqrt_approx(x) in (0.0, 100.0), |x: f64| 1.0 / x.sqrt(), |_, value| relative(22.9, value);
        recip_approx(x) in (-100.0, 100.0), f64::recip, |_, value| of_ulps(1.0, value);
        div_approx(x, y) in (-100.0, 100.0), |x: f64, y: f64| x / y, |[_, y, _], value| {
            let far = 2.0_f64.powi(126);
            (1.0 / far..=far).contains(&y.abs()).then(|| of_ulps(2.2, value))?
        };
    }
}

impl Approximation {
    /// Where most values of the first argument come from.
    pub fn range(&self) -> (f64, f64) {
        self.range
    }

    /// Arguments like those of [`Function::sample`].
    pub fn sample(&self, count: usize, rng: &mut StdRng) -> Vec<[f32; 3]> {
        sample(self.arguments, self.range, count, rng)
    }

    /// Whether a result is within the bound.
    pub fn accepts(&self, arguments: [f32; 3], result: f32) -> bool {
        let arguments = arguments.map(f64::from);
        let value = (self.value)(arguments);
        let result = f64::from(result);
        match (self.bound)(arguments, value) {
            None => true,
            _ if value.is_nan() => result.is_nan(),
            _ if value.is_infinite() => result == value,
            // Infinite, because the bound includes values beyond the largest number.
            Some(bound) if result.is_infinite() => {
                value.abs() + bound > f32::MAX.into() && result.signum() == value.signum()
            }
            Some(bound) => (result - value).abs() <= bound,
        }
    }
}
