//! What an item adds to an exact sum.

use crate::exact::Float;
use crate::items::Items;
use crate::op::{Dot, Sum, SumAbs, SumSquares};

/// An operator whose result is a sum of terms, one for each item: exactly the product of two floats.
///
/// | operator | items | factors of the term |
/// |---|---|---|
/// | [`Sum`] | `x` | `x`, 1 |
/// | [`SumAbs`] | `x` | `abs(x)`, 1 |
/// | [`SumSquares`] | `x` | `x`, `x` |
/// | [`Dot`] | `(x, y)` | `x`, `y` |
pub trait Terms<I: Items>: Copy + Send + Sync + 'static {
    /// The number of bits of a term's significand.
    const BITS: u32;

    /// Whether a term may have more bits than an `f64`.
    const IS_LONG: bool = Self::BITS > f64::MANTISSA_DIGITS;

    /// Terms are multiples of 2 to the power of this.
    const LOWEST: i32;

    /// Terms are below 2 to the power of this.
    const HIGHEST: i32;

    /// The factors, whose product is the term.
    fn factors(item: I) -> (f64, f64);
}

impl<T: Float> Terms<T> for Sum {
    const BITS: u32 = T::SIGNIFICAND;
    const LOWEST: i32 = T::MIN_EXPONENT;
    const HIGHEST: i32 = T::MAX_EXPONENT;

    #[inline(always)]
    fn factors(item: T) -> (f64, f64) {
        (item.exactly(), 1.0)
    }
}

impl<T: Float> Terms<T> for SumAbs {
    const BITS: u32 = T::SIGNIFICAND;
    const LOWEST: i32 = T::MIN_EXPONENT;
    const HIGHEST: i32 = T::MAX_EXPONENT;

    #[inline(always)]
    fn factors(item: T) -> (f64, f64) {
        let size = item.exactly().to_bits() & !(1 << 63);
        (f64::from_bits(size), 1.0)
    }
}

impl<T: Float> Terms<T> for SumSquares {
    const BITS: u32 = 2 * T::SIGNIFICAND;
    const LOWEST: i32 = 2 * T::MIN_EXPONENT;
    const HIGHEST: i32 = 2 * T::MAX_EXPONENT;

    #[inline(always)]
    fn factors(item: T) -> (f64, f64) {
        (item.exactly(), item.exactly())
    }
}

impl<T: Float> Terms<(T, T)> for Dot {
    const BITS: u32 = 2 * T::SIGNIFICAND;
    const LOWEST: i32 = 2 * T::MIN_EXPONENT;
    const HIGHEST: i32 = 2 * T::MAX_EXPONENT;

    #[inline(always)]
    fn factors((a, b): (T, T)) -> (f64, f64) {
        (a.exactly(), b.exactly())
    }
}
