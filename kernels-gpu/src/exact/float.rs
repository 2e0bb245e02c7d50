//! The types of floats.

use crate::element::{Number, bf16, f16};

/// A type of floats that can be summed exactly: `f16`, `bf16`, `f32` or `f64`.
///
/// Every finite value is an integer below 2^[`SIGNIFICAND`](Self::SIGNIFICAND) times a power of two, at least
/// 2^[`MIN_EXPONENT`](Self::MIN_EXPONENT).
pub trait Float: Number + Sealed {
    /// The number of bits of the significand, also of the leading bit, which is not stored.
    const SIGNIFICAND: u32;

    /// The exponent of the smallest positive value.
    const MIN_EXPONENT: i32;

    /// All finite values are below 2 to the power of this.
    const MAX_EXPONENT: i32;

    /// Not a number.
    const NAN: Self;

    /// The same value as `f64`.
    #[inline(always)]
    fn exactly(self) -> f64 {
        self.to_f64()
    }

    /// `significand` times 2^`exponent`; infinity if it is too large.
    ///
    /// The significand is at most 2^[`SIGNIFICAND`](Self::SIGNIFICAND). It is below half of that only if the
    /// exponent is [`MIN_EXPONENT`](Self::MIN_EXPONENT).
    fn from_parts(negative: bool, significand: u64, exponent: i32) -> Self;
}

/// Only this crate has types of floats.
pub trait Sealed {}

macro_rules! floats {
    ($($float:ident as $bits:ident: $significand:literal, $min:literal, $max:literal;)*) => { $(
        impl Sealed for $float {}

        impl Float for $float {
            const SIGNIFICAND: u32 = $significand;
            const MIN_EXPONENT: i32 = $min;
            const MAX_EXPONENT: i32 = $max;
            const NAN: Self = $float::NAN;

            #[inline]
            fn from_parts(negative: bool, significand: u64, exponent: i32) -> Self {
                let magnitude = if exponent > $max - $significand {
                    $float::INFINITY.to_bits()
                } else {
                    // The leading bit adds one to the exponent's field. So subnormal numbers, which lack the
                    // bit, have the field 0, and 2^SIGNIFICAND has the next exponent, or is infinity.
                    ((((exponent - $min) as u64) << ($significand - 1)) + significand) as $bits
                };
                Self::from_bits(magnitude | ($bits::from(negative) << ($bits::BITS - 1)))
            }
        }
    )* };
}

floats! {
    f16 as u16: 11, -24, 16;
    bf16 as u16: 8, -133, 128;
    f32 as u32: 24, -149, 128;
    f64 as u64: 53, -1074, 1024;
}
