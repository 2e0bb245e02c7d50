//! The element types, as far as plain loops need them.

use warpfold::{Element, bf16, f16};

/// A number.
pub trait Number: Element + PartialOrd {
    /// The elements whose bytes these are; bytes that are no whole element are left out.
    fn of_bytes(bytes: &[u8]) -> Vec<Self>;

    /// An integer itself; of a float, which is no NaN, something that orders as it does, with -0.0
    /// before 0.0.
    fn order(self) -> i128;

    /// The value, rounded where it is a large integer.
    fn to_f64(self) -> f64;

    /// An integer modulo the type's range; 0 of a float.
    fn wrapped(value: i128) -> Self;

    /// The nearest value of the type.
    fn nearest(value: f64) -> Self;

    /// Half the distance from 1 to the next greater number, in the type in which such numbers are
    /// added and multiplied; 0 of integers.
    const ACCUMULATED: f64;

    /// Its largest number, and the smallest above 0 without leading zeros.
    const RANGE: (f64, f64);

    /// Whether it is no number.
    fn is_nan(self) -> bool {
        self.to_f64().is_nan()
    }

    /// The same number, with its sign where it is 0, or both NaN.
    fn is(self, other: Self) -> bool {
        (self.is_nan() && other.is_nan())
            || (!self.is_nan() && !other.is_nan() && self.order() == other.order())
    }
}

macro_rules! of_bytes {
    () => {
        fn of_bytes(bytes: &[u8]) -> Vec<Self> {
            let (elements, _) = bytes.as_chunks();
            elements
                .iter()
                .map(|bytes| Self::from_le_bytes(*bytes))
                .collect()
        }
    };
}

macro_rules! integers {
    ($($number:ident)*) => { $(
        impl Number for $number {
            of_bytes!();

            fn order(self) -> i128 {
                self.into()
            }

            fn to_f64(self) -> f64 {
                self as f64
            }

            fn wrapped(value: i128) -> Self {
                value as Self
            }

            fn nearest(value: f64) -> Self {
                value as Self
            }

            const ACCUMULATED: f64 = 0.0;
            const RANGE: (f64, f64) = (Self::MAX as f64, 1.0);
        }
    )* };
}

integers!(i8 i16 i32 i64 u8 u16 u32 u64);

macro_rules! floats {
    ($($number:ident: |$value:ident| $widen:expr, |$wide:ident| $narrow:expr, $accumulated:ident;)*) => { $(
        impl Number for $number {
            of_bytes!();

            fn order(self) -> i128 {
                let bits = self.to_f64().to_bits() as i64;
                // As in f64::total_cmp: of negative numbers, the larger magnitude comes first.
                (bits ^ (((bits >> 63) as u64) >> 1) as i64).into()
            }

            fn to_f64(self) -> f64 {
                let $value = self;
                $widen
            }

            fn wrapped(_: i128) -> Self {
                Self::nearest(0.0)
            }

            fn nearest($wide: f64) -> Self {
                $narrow
            }

            const ACCUMULATED: f64 = $accumulated::EPSILON as f64 / 2.0;
            const RANGE: (f64, f64) = ($accumulated::MAX as f64, $accumulated::MIN_POSITIVE as f64);
        }
    )* };
}

floats! {
    f16: |x| x.to_f64(), |x| f16::from_f64(x), f32;
    bf16: |x| x.to_f64(), |x| bf16::from_f64(x), f32;
    f32: |x| x.into(), |x| x as f32, f32;
    f64: |x| x, |x| x, f64;
}
