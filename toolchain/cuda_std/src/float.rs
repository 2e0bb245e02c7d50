//! Functions of `f32` and `f64`: [`GpuFloat`] has the same bits on CPU and GPU; [`ApproxFloat`] has the GPU's
//! approximations.
//!
//! ```
//! use cuda_std::float::{ApproxFloat, GpuFloat};
//!
//! fn logistic(x: f32) -> f32 {
//!     1.0 / (1.0 + GpuFloat::exp(-x))
//! }
//!
//! fn roughly(x: f32) -> f32 {
//!     (1.0 + (-x).exp_approx()).recip_approx()
//! }
//!
//! assert_eq!(logistic(0.0), 0.5);
//! assert!((roughly(0.0) - 0.5).abs() < 1e-6);
//! ```
//!
//! # Write `GpuFloat::exp(x)`, not `x.exp()`
//!
//! `std` has methods with the same names, and Rust prefers a type's own methods to a trait's. This also holds
//! in a `#![no_std]` crate if another crate of the program uses `std`, as the simulator does. Then `x.exp()`
//! is `std`'s function on the CPU, with other bits than on the GPU, without a warning. `GpuFloat::exp(x)` is
//! always the function of this module; so is `x.exp()` in a function that is generic over `T: GpuFloat`.
//! [`ApproxFloat`] and `rsqrt` have names that `std` does not use.
//!
//! On the GPU there is no `std`. `core` has `abs`, `signum` and `copysign`, which are exact everywhere.
//!
//! # Same bits
//!
//! Inexact functions are those of the crate `libm`, compiled for CPU and GPU. `cuda_builder` does not
//! contract, flush or approximate in them, regardless of its options. `sqrt`, `rsqrt`, `mul_add`, `floor`,
//! `ceil` and `trunc` are instructions, and follow the options `ftz`, `fast_sqrt` and `fast_div` like
//! operators. NaNs may differ in sign and payload.
//!
//! # Largest errors
//!
//! In ulps, the distance of adjacent numbers at the exact result. The suite `conformance` tests more than a
//! million arguments for each function. The reference is `std`'s `f64` functions for `f32`, and numbers of
//! 100 bits for `f64`.
//!
//! | function | `f32` | `f64` |
//! |---|---|---|
//! | `floor`, `ceil`, `round`, `trunc`, `fract`, `abs`, `signum`, `copysign` | 0 | 0 |
//! | `sqrt`, `mul_add` | 0.5 | 0.5 |
//! | `div_euclid`, `rem_euclid` | `std`'s bits | `std`'s bits |
//! | `cbrt` | 0.51 | 0.51 |
//! | `exp2`, `sin`, `cos`, `sin_cos` | 0.51 | 1 |
//! | `exp`, `exp_m1`, `ln`, `ln_1p`, `log2`, `log10`, `powf`, `powi`, `tan`, `asin`, `acos`, `atan` | 1 | 1 |
//! | `hypot` | 1.25 | 1.25 |
//! | `rsqrt`, `cosh` | 1.5 | 1.5 |
//! | `atan2` | 1.75 | 1.75 |
//! | `sinh`, `asinh`, `atanh` | 2 | 2 |
//! | `tanh`, `acosh` | 2.25 | 2.25 |
//! | `log` | 4 | 4 |
//!
//! # Cost
//!
//! `libm` is written for CPUs. It branches and has no fused operations. It computes some functions of `f32`
//! in `f64` (`sin`, `cos`, `tan`, `exp2`, `cbrt`). It computes square roots in `asin`, `acos`, `hypot` and
//! others with integers. If the last bits do not matter, use [`ApproxFloat`].
//!
//! Picoseconds per call on a device that computes nothing else. For comparison: 2^28 calls of 1 ps take 0.27
//! ms, and loading 2^28 `f32` takes 0.24 ms. The columns "nvcc" are nvcc's functions of the same name,
//! compiled without `-use_fast_math`. One H200, CUDA 13.0, 2026-11-23, `cargo run --release -p conformance
//! --example float_cost`.
//!
//! | function | `f32` | nvcc | ratio | `f64` | nvcc | ratio |
//! |---|---|---|---|---|---|---|
//! | `round` | 0.39 | 0.29 | 1.33 | 0.59 | 0.44 | 1.35 |
//! | `sqrt` | 0.93 | 0.96 | 0.97 | 1.68 | 1.64 | 1.03 |
//! | `rsqrt` | 0.83 | 0.33 | 2.51 | 1.54 | 0.78 | 1.99 |
//! | `mul_add` | 0.26 | | | 0.55 | | |
//! | `rem_euclid` | 3.00 | | | 5.75 | | |
//! | `cbrt` | 3.04 | 0.71 | 4.26 | 16.78 | 2.07 | 8.09 |
//! | `exp` | 2.74 | 0.43 | 6.37 | 4.53 | 1.76 | 2.58 |
//! | `exp2` | 1.76 | 0.33 | 5.33 | 2.27 | 1.89 | 1.20 |
//! | `exp_m1` | 3.95 | 1.09 | 3.62 | 6.71 | 2.62 | 2.56 |
//! | `ln` | 2.01 | 1.05 | 1.92 | 3.81 | 3.40 | 1.12 |
//! | `log2` | 2.18 | 1.13 | 1.93 | 4.29 | 3.58 | 1.20 |
//! | `log10` | 2.28 | 1.07 | 2.14 | 4.52 | 3.58 | 1.26 |
//! | `ln_1p` | 4.20 | 1.17 | 3.57 | 7.64 | 5.39 | 1.42 |
//! | `powf` | 7.93 | 2.93 | 2.71 | 10.83 | 8.41 | 1.29 |
//! | `hypot` | 3.72 | 1.05 | 3.54 | 7.46 | 2.09 | 3.57 |
//! | `sin` | 12.19 | 1.31 | 9.28 | 13.14 | 2.02 | 6.49 |
//! | `cos` | 12.30 | 1.30 | 9.43 | 14.02 | 2.06 | 6.80 |
//! | `tan` | 12.01 | 1.22 | 9.84 | 14.42 | 3.40 | 4.25 |
//! | `asin` | 6.60 | 0.93 | 7.14 | 11.19 | 4.29 | 2.61 |
//! | `acos` | 8.23 | 0.98 | 8.42 | 17.15 | 4.93 | 3.48 |
//! | `atan` | 3.81 | 0.79 | 4.82 | 6.49 | 3.00 | 2.16 |
//! | `atan2` | 5.79 | 1.75 | 3.30 | 9.02 | 4.75 | 1.90 |
//! | `sinh` | 4.76 | 0.96 | 4.95 | 8.53 | 4.79 | 1.78 |
//! | `cosh` | 4.45 | 0.83 | 5.37 | 8.52 | 2.37 | 3.59 |
//! | `tanh` | 7.65 | 0.69 | 11.08 | 12.90 | 3.77 | 3.42 |
//! | `asinh` | 12.05 | 1.44 | 8.34 | 20.98 | 6.41 | 3.27 |
//! | `acosh` | 11.38 | 1.39 | 8.20 | 19.56 | 5.37 | 3.64 |
//! | `atanh` | 9.32 | 1.21 | 7.72 | 16.98 | 6.29 | 2.70 |
//!
//! `floor`, `ceil`, `trunc`, `fract`, `abs`, `signum` and `copysign` take 0.1 to 0.4 ps.
//!
//! | approximation | `f32` | nvcc's intrinsic |
//! |---|---|---|
//! | `exp2_approx` | 0.30 | |
//! | `exp_approx` | 0.31 | 0.34 |
//! | `log2_approx` | 0.30 | 0.33 |
//! | `ln_approx` | 0.32 | 0.33 |
//! | `sin_approx` | 0.28 | 0.29 |
//! | `cos_approx` | 0.28 | 0.29 |
//! | `tanh_approx` | 0.27 | |
//! | `sqrt_approx`, `rsqrt_approx` | 0.30 | |
//! | `recip_approx` | 0.41 | 0.36 |
//! | `div_approx` | 0.35 | 0.39 |

mod exact;

use crate::arch::float::{approx, instruction};

/// Floating-point functions with the same bits on CPU and GPU, for `f32` and `f64`.
///
/// Call them by path, as `GpuFloat::exp(x)`. The [module](self) explains why, and lists the errors. `rsqrt`
/// is an addition to Rust-CUDA.
pub trait GpuFloat: Copy + PartialOrd + sealed::Sealed {
    /// The largest integer that is not above the value.
    #[must_use]
    fn floor(self) -> Self;

    /// The smallest integer that is not below the value.
    #[must_use]
    fn ceil(self) -> Self;

    /// The nearest integer, ties away from zero.
    #[must_use]
    fn round(self) -> Self;

    /// The integer part.
    #[must_use]
    fn trunc(self) -> Self;

    /// The value minus its integer part, with the value's sign.
    #[must_use]
    fn fract(self) -> Self;

    /// The absolute value.
    #[must_use]
    fn abs(self) -> Self;

    /// 1 with the value's sign, also for zeros; NaN for NaN.
    #[must_use]
    fn signum(self) -> Self;

    /// The value with the sign of `sign`.
    #[must_use]
    fn copysign(self, sign: Self) -> Self;

    /// `self * a + b`, rounded once.
    #[must_use]
    fn mul_add(self, a: Self, b: Self) -> Self;

    /// The integer `n` with `self = n * rhs + rem_euclid`, as in `std`.
    #[must_use]
    fn div_euclid(self, rhs: Self) -> Self;

    /// The non-negative remainder, as in `std`; it may be rounded to `rhs` itself.
    #[must_use]
    fn rem_euclid(self, rhs: Self) -> Self;

    /// An integer power. The constants 0, 1, 2 and -1 need no function call.
    #[must_use]
    fn powi(self, n: i32) -> Self;

    /// `self` to the power of `exponent`.
    #[must_use]
    fn powf(self, n: Self) -> Self;

    /// The square root; NaN below zero.
    #[must_use]
    fn sqrt(self) -> Self;

    /// `1 / sqrt`, two operations: infinite for zeros, with their sign; NaN below zero.
    #[must_use]
    fn rsqrt(self) -> Self;

    /// e to the power of `self`.
    #[must_use]
    fn exp(self) -> Self;

    /// 2 to the power of `self`.
    #[must_use]
    fn exp2(self) -> Self;

    /// `exp(self) - 1`, also accurate near zero.
    #[must_use]
    fn exp_m1(self) -> Self;

    /// The natural logarithm.
    #[must_use]
    fn ln(self) -> Self;

    /// `ln(self) / ln(base)`. [`log2`](Self::log2) and [`log10`](Self::log10) are more accurate.
    #[must_use]
    fn log(self, base: Self) -> Self;

    /// The logarithm to base 2.
    #[must_use]
    fn log2(self) -> Self;

    /// The logarithm to base 10.
    #[must_use]
    fn log10(self) -> Self;

    /// `ln(1 + self)`, also accurate near zero.
    #[must_use]
    fn ln_1p(self) -> Self;

    /// The cube root.
    #[must_use]
    fn cbrt(self) -> Self;

    /// `sqrt(self * self + other * other)` without intermediate overflow.
    #[must_use]
    fn hypot(self, other: Self) -> Self;

    /// The sine of an angle in radians; accurate for every finite angle.
    #[must_use]
    fn sin(self) -> Self;

    /// The cosine of an angle in radians; accurate for every finite angle.
    #[must_use]
    fn cos(self) -> Self;

    /// Sine and cosine, with the bits of [`sin`](Self::sin) and [`cos`](Self::cos).
    #[must_use]
    fn sin_cos(self) -> (Self, Self);

    /// The tangent of an angle in radians; accurate for every finite angle.
    #[must_use]
    fn tan(self) -> Self;

    /// The arcsine in radians.
    #[must_use]
    fn asin(self) -> Self;

    /// The arccosine in radians.
    #[must_use]
    fn acos(self) -> Self;

    /// The arctangent in radians.
    #[must_use]
    fn atan(self) -> Self;

    /// The angle in radians of the point whose y is `self` and whose x is `other`.
    #[must_use]
    fn atan2(self, other: Self) -> Self;

    /// The hyperbolic sine.
    #[must_use]
    fn sinh(self) -> Self;

    /// The hyperbolic cosine.
    #[must_use]
    fn cosh(self) -> Self;

    /// The hyperbolic tangent.
    #[must_use]
    fn tanh(self) -> Self;

    /// The inverse hyperbolic sine.
    #[must_use]
    fn asinh(self) -> Self;

    /// The inverse hyperbolic cosine.
    #[must_use]
    fn acosh(self) -> Self;

    /// The inverse hyperbolic tangent.
    #[must_use]
    fn atanh(self) -> Self;
}

/// The GPU's approximations of functions of `f32`, with one or two instructions each.
///
/// Instructions and errors are those of the PTX ISA, section "Floating Point Instructions". All of them keep
/// subnormal numbers, regardless of the build options.
///
/// On the CPU the result is that of [`GpuFloat`]: within the bounds, but not with the GPU's bits.
pub trait ApproxFloat: Copy + sealed::Sealed {
    /// 2 to the power of `self`: `ex2.approx.f32`. Relative error at most 2^-22 where the result is
    /// at least 2^-126; below, an error of at most 2.4 times the smallest subnormal number.
    #[must_use]
    fn exp2_approx(self) -> Self;

    /// e to the power of `self`, as nvcc's `__expf`: a multiplication and `ex2.approx.f32`. Error at most
    /// `2.01 + 1.173 * |self|` ulps. (CUDA C++ Programming Guide, "Intrinsic Functions": `2 + floor(1.173 * |self|)`;
    /// 2.005 is the largest of all `f32` on an H200.)
    #[must_use]
    fn exp_approx(self) -> Self;

    /// The logarithm to base 2: `lg2.approx.f32`. Absolute error at most 2^-22 between 0.5 and 2, relative
    /// error at most 2^-22 elsewhere.
    #[must_use]
    fn log2_approx(self) -> Self;

    /// The natural logarithm, as nvcc's `__logf`: `lg2.approx.f32` and a multiplication. Absolute error at
    /// most 2^-21.41 between 0.5 and 2, and 4 ulps elsewhere. The CUDA C++ Programming Guide, "Intrinsic
    /// Functions", states 3 ulps; 3.03 were measured on an H200.
    #[must_use]
    fn ln_approx(self) -> Self;

    /// The sine: `sin.approx.f32`. Absolute error at most 2^-20.4 from -2π to 2π, and 2^-14.7 from -100π to
    /// 100π. Outside this range there is no bound.
    #[must_use]
    fn sin_approx(self) -> Self;

    /// The cosine: `cos.approx.f32`. Absolute error at most 2^-20.4 from -2π to 2π, and 2^-14.7 from -100π to
    /// 100π. Outside this range there is no bound.
    #[must_use]
    fn cos_approx(self) -> Self;

    /// The hyperbolic tangent: `tanh.approx.f32`. Relative error at most 2^-11.
    #[must_use]
    fn tanh_approx(self) -> Self;

    /// The square root: `sqrt.approx.f32`. Relative error at most 2^-23.
    #[must_use]
    fn sqrt_approx(self) -> Self;

    /// `1 / sqrt`: `rsqrt.approx.f32`. Relative error at most 2^-22.9.
    #[must_use]
    fn rsqrt_approx(self) -> Self;

    /// `1 / self`: `rcp.approx.f32`. Error at most 1 ulp.
    #[must_use]
    fn recip_approx(self) -> Self;

    /// `self / divisor`: `div.approx.f32`. Error at most 2.2 ulps for divisors from 2^-126 to 2^126. (2.104 is the
    /// largest of 10^9 random quotients on an H200; CUDA's guide says 2.) For a
    /// larger finite divisor the GPU returns 0, or NaN if `self` is infinite, as for an infinite divisor.
    #[must_use]
    fn div_approx(self, divisor: Self) -> Self;
}

macro_rules! gpu_float {
    ($float:ident) => {
        impl GpuFloat for $float {
            gpu_float! { $float instruction: floor() ceil() trunc() sqrt() mul_add(a, b) }
            gpu_float! { $float exact: round() fract() div_euclid(rhs) rem_euclid(rhs) }
            gpu_float! { $float exact: powf(n) exp() exp2() exp_m1() cbrt() hypot(other) }
            gpu_float! { $float exact: ln() log(base) log2() log10() ln_1p() }
            gpu_float! { $float exact: sin() cos() tan() asin() acos() atan() atan2(other) }
            gpu_float! { $float exact: sinh() cosh() tanh() asinh() acosh() atanh() }

            #[inline(always)]
            fn abs(self) -> Self {
                $float::abs(self)
            }

            #[inline(always)]
            fn signum(self) -> Self {
                $float::signum(self)
            }

            #[inline(always)]
            fn copysign(self, sign: Self) -> Self {
                $float::copysign(self, sign)
            }

            #[inline(always)]
            fn powi(self, n: i32) -> Self {
                exact::$float::powi(self, n)
            }

            #[inline(always)]
            fn rsqrt(self) -> Self {
                1.0 / GpuFloat::sqrt(self)
            }

            #[inline(always)]
            fn sin_cos(self) -> (Self, Self) {
                exact::$float::sin_cos(self)
            }
        }

        impl sealed::Sealed for $float {}
    };

    ($float:ident $module:ident: $name:ident() $($rest:tt)*) => {
        #[inline(always)]
        fn $name(self) -> Self {
            $module::$float::$name(self)
        }

        gpu_float! { $float $module: $($rest)* }
    };

    ($float:ident $module:ident: $name:ident($a:ident) $($rest:tt)*) => {
        #[inline(always)]
        fn $name(self, $a: Self) -> Self {
            $module::$float::$name(self, $a)
        }

        gpu_float! { $float $module: $($rest)* }
    };

    ($float:ident $module:ident: $name:ident($a:ident, $b:ident) $($rest:tt)*) => {
        #[inline(always)]
        fn $name(self, $a: Self, $b: Self) -> Self {
            $module::$float::$name(self, $a, $b)
        }

        gpu_float! { $float $module: $($rest)* }
    };

    ($float:ident $module:ident:) => {};
}

gpu_float!(f32);
gpu_float!(f64);

impl ApproxFloat for f32 {
    #[inline(always)]
    fn exp2_approx(self) -> Self {
        approx::exp2(self)
    }

    #[inline(always)]
    fn exp_approx(self) -> Self {
        approx::exp(self)
    }

    #[inline(always)]
    fn log2_approx(self) -> Self {
        approx::log2(self)
    }

    #[inline(always)]
    fn ln_approx(self) -> Self {
        approx::ln(self)
    }

    #[inline(always)]
    fn sin_approx(self) -> Self {
        approx::sin(self)
    }

    #[inline(always)]
    fn cos_approx(self) -> Self {
        approx::cos(self)
    }

    #[inline(always)]
    fn tanh_approx(self) -> Self {
        approx::tanh(self)
    }

    #[inline(always)]
    fn sqrt_approx(self) -> Self {
        approx::sqrt(self)
    }

    #[inline(always)]
    fn rsqrt_approx(self) -> Self {
        approx::rsqrt(self)
    }

    #[inline(always)]
    fn recip_approx(self) -> Self {
        approx::recip(self)
    }

    #[inline(always)]
    fn div_approx(self, divisor: Self) -> Self {
        approx::div(self, divisor)
    }
}

mod sealed {
    /// Prevents implementations of the traits of [`float`](super) for other types.
    pub trait Sealed {}
}
