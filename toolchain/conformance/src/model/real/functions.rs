//! Functions that are computed from the exponential, the arctangent and roots.

use super::{Double, FRAC_PI_2, LN_2, ONE, PI, Real, double, parts, product, scale, sum};

/// 2 to the power of `x`.
pub fn exp2(x: f64) -> Real {
    let whole = x.round().clamp(-1e6, 1e6);
    let rest = LN_2 * (x - whole).clamp(-1.0, 1.0).into();
    rest.exp().shifted(whole as i32)
}

/// `x` to the power of `n`, which is an integer if `x` is negative.
pub fn powf(x: f64, n: f64) -> Real {
    let logarithm = Real::from(x.abs()).ln();
    // Exponents far beyond all limits may not fit into an `f64`.
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

/// The angle of a point other than the origin.
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

/// The angle of a point other than the origin.
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

/// From here on, the hyperbolic functions are exponentials, or 1.
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

/// From here on, `sqrt(x * x + 1)` equals `x`.
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
