//! The properties of element types that plain loops need.

use warpfold::{Element, bf16, f16};

/// An element type of numbers.
pub trait Number: Element + PartialOrd {
    /// Decodes elements from bytes; an incomplete element at the end is left out.
    fn of_bytes(bytes: &[u8]) -> Vec<Self>;

    /// The value of an integer; for a float except NaN, an integer with the same order, where -0.0 is less
    /// than 0.0.
    fn order(self) -> i128;

    /// The value; large integers are rounded.
    fn to_f64(self) -> f64;

    /// The value modulo the range of an integer type; 0 for floats.
    fn wrapped(value: i128) -> Self;

    /// The nearest value of the type.
    fn nearest(value: f64) -> Self;

    /// The unit roundoff of the type in which such numbers are added and multiplied; 0 for integers.
    const ROUNDOFF: f64;

    /// The largest number of that type, and its smallest positive normal number.
    const RANGE: (f64, f64);

    fn is_nan(self) -> bool {
        self.to_f64().is_nan()
    }

    /// Whether both are the same number, with the same sign of zero, or both NaN.
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

            const ROUNDOFF: f64 = 0.0;
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
                // As in f64::total_cmp: negative numbers are ordered by decreasing magnitude.
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

            const ROUNDOFF: f64 = $accumulated::EPSILON as f64 / 2.0;
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
