//! The element types in NumPy's answers: conversions from bits in hexadecimal, and to `f64`.

use warpfold::{Element, bf16, f16};

/// An element type.
pub trait Number: Element {
    /// The type's name: `"i32"`.
    const NAME: &'static str;

    /// Parses bits in hexadecimal, or `nan`.
    fn parse(text: &str) -> Self;

    /// The bits, extended to 64; equal for all NaNs.
    fn bits(self) -> u64;

    /// The value; rounded for a large integer.
    fn to_f64(self) -> f64;

    /// The nearest value of the type.
    fn from_f64(value: f64) -> Self;

    /// Half the distance from 1 to the next larger number: 2^-24 for `f32`; 0 for integers.
    const ROUNDOFF: f64;

    /// The roundoff of the type in which these numbers are added and multiplied.
    const ACCUMULATED: f64;

    /// The smallest positive number; 0 for integers.
    const LEAST: f64;

    /// Whether the number is -0.0.
    fn is_negative_zero(self) -> bool {
        self.to_f64() == 0.0 && self.to_f64().is_sign_negative()
    }
}

macro_rules! integers {
    ($($number:ident as $unsigned:ident),*) => { $(
        impl Number for $number {
            const NAME: &'static str = stringify!($number);

            fn parse(text: &str) -> Self {
                $unsigned::from_str_radix(text, 16).expect("bits") as Self
            }

            fn bits(self) -> u64 {
                (self as $unsigned).into()
            }

            fn to_f64(self) -> f64 {
                self as f64
            }

            fn from_f64(value: f64) -> Self {
                value as Self
            }

            const ROUNDOFF: f64 = 0.0;
            const ACCUMULATED: f64 = 0.0;
            const LEAST: f64 = 0.0;
        }
    )* };
}

integers!(
    i8 as u8, i16 as u16, i32 as u32, i64 as u64, u8 as u8, u16 as u16, u32 as u32, u64 as u64
);

macro_rules! floats {
    ($($number:ident $bits:ident |$value:ident| $widen:expr, |$wide:ident| $narrow:expr,
       $roundoff:expr, $accumulated:expr, $least:expr;)*) => { $(
        impl Number for $number {
            const NAME: &'static str = stringify!($number);

            fn parse(text: &str) -> Self {
                match text {
                    "nan" => Self::NAN,
                    bits => Self::from_bits($bits::from_str_radix(bits, 16).expect("bits")),
                }
            }

            fn bits(self) -> u64 {
                if self.is_nan() { Self::NAN.to_bits().into() } else { self.to_bits().into() }
            }

            fn to_f64(self) -> f64 {
                let $value = self;
                $widen
            }

            fn from_f64($wide: f64) -> Self {
                $narrow
            }

            const ROUNDOFF: f64 = $roundoff;
            const ACCUMULATED: f64 = $accumulated;
            const LEAST: f64 = $least;
        }
    )* };
}

const fn two_to_the(exponent: i32) -> f64 {
    // The bits of a normal number with this exponent.
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

floats! {
    f16 u16 |x| x.to_f64(), |x| f16::from_f64(x),
        two_to_the(-11), two_to_the(-24), two_to_the(-24);
    bf16 u16 |x| x.to_f64(), |x| bf16::from_f64(x),
        two_to_the(-8), two_to_the(-24), two_to_the(-133);
    f32 u32 |x| x.into(), |x| x as f32, two_to_the(-24), two_to_the(-24), two_to_the(-126) / 8_388_608.0;
    f64 u64 |x| x, |x| x, two_to_the(-53), two_to_the(-53), f64::from_bits(1);
}
