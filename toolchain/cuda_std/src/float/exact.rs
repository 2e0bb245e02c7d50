//! Functions with the same bits on CPU and GPU.
//!
//! `cuda_builder` recognises this module and the crate `libm` by name, and forbids contraction and
//! approximation in their functions. `rustc_no_mir_inline` prevents rustc from inlining them into a kernel
//! before that; LLVM inlines them afterwards.

/// Functions that LLVM may inline and rustc may not.
macro_rules! exact {
    ($(fn $name:ident($($argument:ident: $ty:ty),*) -> $output:ty $body:block)*) => { $(
        #[cfg_attr(target_arch = "nvptx64", rustc_no_mir_inline)]
        #[inline]
        pub(crate) fn $name($($argument: $ty),*) -> $output $body
    )* };
}

/// The functions of both types, by the names of `libm`'s functions.
macro_rules! functions {
    ($float:ident: $fmod:ident, $acosh:ident, $sin_cos:ident, $($name:ident($($argument:ident),*) = $libm:ident;)*) => {
        exact! {
            fn round(x: $float) -> $float {
                let whole = trunc(x);
                // The difference is exact. An integer gives a zero with the sign of `x`. Infinities take the
                // second branch, and so does NaN, which stays NaN.
                if (x - whole).abs() < 0.5 {
                    whole
                } else {
                    whole + $float::copysign(1.0, x)
                }
            }

            fn fract(x: $float) -> $float {
                x - trunc(x)
            }

            fn div_euclid(x: $float, divisor: $float) -> $float {
                let quotient = trunc(x / divisor);
                if libm::$fmod(x, divisor) < 0.0 {
                    if divisor > 0.0 {
                        quotient - 1.0
                    } else {
                        quotient + 1.0
                    }
                } else {
                    quotient
                }
            }

            fn rem_euclid(x: $float, divisor: $float) -> $float {
                let rest = libm::$fmod(x, divisor);
                if rest < 0.0 {
                    rest + divisor.abs()
                } else {
                    rest
                }
            }

            fn log(x: $float, base: $float) -> $float {
                ln(x) / ln(base)
            }

            fn acosh(x: $float) -> $float {
                // `libm` returns numbers for some arguments below -1.
                if x < 1.0 {
                    $float::NAN
                } else {
                    libm::$acosh(x)
                }
            }

            fn sin_cos(x: $float) -> ($float, $float) {
                libm::$sin_cos(x)
            }

            $(fn $name($($argument: $float),*) -> $float {
                libm::$libm($($argument),*)
            })*
        }
    };
}

pub(crate) mod f32 {
    use crate::arch::float::instruction::f32::trunc;

    functions! {
        f32: fmodf, acoshf, sincosf,
        exp(x) = expf;
        exp2(x) = exp2f;
        exp_m1(x) = expm1f;
        ln(x) = logf;
        ln_1p(x) = log1pf;
        log2(x) = log2f;
        log10(x) = log10f;
        cbrt(x) = cbrtf;
        sin(x) = sinf;
        cos(x) = cosf;
        tan(x) = tanf;
        asin(x) = asinf;
        acos(x) = acosf;
        atan(x) = atanf;
        sinh(x) = sinhf;
        cosh(x) = coshf;
        tanh(x) = tanhf;
        asinh(x) = asinhf;
        atanh(x) = atanhf;
        powf(x, n) = powf;
        hypot(x, y) = hypotf;
        atan2(y, x) = atan2f;
    }

    exact! {
        fn powi(x: f32, n: i32) -> f32 {
            match n {
                0 => 1.0,
                1 => x,
                2 => x * x,
                -1 => 1.0 / x,
                // Below 2^24 every integer has an exact `f32`.
                _ if n.unsigned_abs() < 1 << 24 => powf(x, n as f32),
                _ => libm::pow(x as f64, n as f64) as f32,
            }
        }
    }
}

pub(crate) mod f64 {
    use crate::arch::float::instruction::f64::trunc;

    functions! {
        f64: fmod, acosh, sincos,
        exp(x) = exp;
        exp2(x) = exp2;
        exp_m1(x) = expm1;
        ln(x) = log;
        ln_1p(x) = log1p;
        log2(x) = log2;
        log10(x) = log10;
        cbrt(x) = cbrt;
        sin(x) = sin;
        cos(x) = cos;
        tan(x) = tan;
        asin(x) = asin;
        acos(x) = acos;
        atan(x) = atan;
        sinh(x) = sinh;
        cosh(x) = cosh;
        tanh(x) = tanh;
        asinh(x) = asinh;
        atanh(x) = atanh;
        powf(x, n) = pow;
        hypot(x, y) = hypot;
        atan2(y, x) = atan2;
    }

    exact! {
        fn powi(x: f64, n: i32) -> f64 {
            match n {
                0 => 1.0,
                1 => x,
                2 => x * x,
                -1 => 1.0 / x,
                _ => powf(x, n as f64),
            }
        }
    }
}
