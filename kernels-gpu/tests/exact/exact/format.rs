//! The bits of floats, read by the definition of the formats in IEEE 754.

use kernels_gpu::element::{bf16, f16};
use kernels_gpu::exact::Float;
use num_bigint::BigUint;

/// A format: one bit of sign, then the exponent's field, then the fraction.
pub trait Format: Float {
    /// The number of bits.
    const BITS: u32;

    /// The number of bits of the fraction.
    const FRACTION: u32;

    /// The bits of infinity. All smaller numbers are magnitudes of finite values, in their order.
    const INFINITY: u64 = (1 << (Self::BITS - 1)) - (1 << Self::FRACTION);

    /// The value's bits.
    fn bits(self) -> u64;

    /// The value of these bits.
    fn of_bits(bits: u64) -> Self;

    /// The value of this magnitude, with a sign.
    fn signed(magnitude: u64, negative: bool) -> Self {
        Self::of_bits(magnitude | u64::from(negative) << (Self::BITS - 1))
    }

    /// The value's bits without its sign.
    fn magnitude(self) -> u64 {
        self.bits() & ((1 << (Self::BITS - 1)) - 1)
    }

    /// Whether the sign is set, also of a zero.
    fn is_negative(self) -> bool {
        self.bits() >> (Self::BITS - 1) == 1
    }

    /// A significand and an exponent, whose value has this magnitude; that of infinity is the power of two above
    /// all values.
    fn parts(magnitude: u64) -> (u64, i32) {
        let bias = (1 << (Self::BITS - Self::FRACTION - 2)) - 1;
        let field = magnitude >> Self::FRACTION;
        let fraction = magnitude & ((1 << Self::FRACTION) - 1);
        let leading = u64::from(field > 0) << Self::FRACTION;
        let exponent = field.max(1) as i32 - bias - Self::FRACTION as i32;
        (leading | fraction, exponent)
    }

    /// The value of this magnitude as a multiple of 2^-1074.
    fn units(magnitude: u64) -> BigUint {
        let (significand, exponent) = Self::parts(magnitude);
        BigUint::from(significand) << (exponent + 1074)
    }
}

macro_rules! formats {
    ($($float:ident: $bits:literal, $fraction:literal;)*) => { $(
        impl Format for $float {
            const BITS: u32 = $bits;
            const FRACTION: u32 = $fraction;

            fn bits(self) -> u64 {
                self.to_bits().into()
            }

            fn of_bits(bits: u64) -> Self {
                Self::from_bits(bits.try_into().expect("the format's number of bits"))
            }
        }
    )* };
}

formats! {
    f16: 16, 10;
    bf16: 16, 7;
    f32: 32, 23;
    f64: 64, 52;
}
