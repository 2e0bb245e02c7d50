//! Floating-point instructions by `libm`'s functions, which have the same bits if the instruction is exact.

pub(crate) mod instruction {
    pub(crate) mod f32 {
        pub(crate) use libm::{
            ceilf as ceil, floorf as floor, fmaf as mul_add, sqrtf as sqrt, truncf as trunc,
        };
    }

    pub(crate) mod f64 {
        pub(crate) use libm::{ceil, floor, fma as mul_add, sqrt, trunc};
    }
}

/// The GPU's approximation is not modelled: returns the accurate value, which is within the bounds.
pub(crate) mod approx {
    pub(crate) use libm::{
        cosf as cos, exp2f as exp2, expf as exp, log2f as log2, logf as ln, sinf as sin,
        sqrtf as sqrt, tanhf as tanh,
    };

    pub(crate) fn rsqrt(x: f32) -> f32 {
        1.0 / sqrt(x)
    }

    pub(crate) fn recip(x: f32) -> f32 {
        1.0 / x
    }

    pub(crate) fn div(x: f32, divisor: f32) -> f32 {
        x / divisor
    }
}
