//! The leading bits of a number, and how they are rounded.

use super::float::Float;

/// A positive number by its leading bits: at least `bits` times 2^`exponent`, and below the next such multiple.
///
/// The 128 leading bits of a sum are enough for the 64 leading bits of its mean or square root, and these for
/// rounding: a float has at most 53.
#[derive(Clone, Copy)]
pub struct Leading {
    /// At least 2^63.
    pub bits: u128,
    /// The exponent of the lowest bit.
    pub exponent: i32,
    /// Whether the number is above `bits` times 2^`exponent`.
    pub has_more: bool,
}

impl Leading {
    /// The number times 2^`exponent`.
    pub fn scaled(self, exponent: i32) -> Self {
        Self {
            exponent: self.exponent + exponent,
            ..self
        }
    }

    /// The number divided by `divisor`; `bits` must be at least 2^127.
    pub fn divided(self, divisor: u64) -> Self {
        let divisor = u128::from(divisor);
        Self {
            bits: self.bits / divisor,
            exponent: self.exponent,
            has_more: self.has_more || !self.bits.is_multiple_of(divisor),
        }
    }

    /// The square root; `bits` must be at least 2^127.
    pub fn sqrt(self) -> Self {
        // The root of a power of four is a power of two.
        let odd = self.exponent & 1;
        let bits = self.bits >> odd;
        let root = bits.isqrt();
        Self {
            bits: root,
            exponent: (self.exponent + odd) / 2,
            has_more: self.has_more || root * root != bits || bits << odd != self.bits,
        }
    }

    /// The nearest value of the type; of two, that with an even significand.
    pub fn round<T: Float>(self, negative: bool) -> T {
        let length = (u128::BITS - self.bits.leading_zeros()) as i32;
        let exponent = (self.exponent + length - T::SIGNIFICAND as i32).max(T::MIN_EXPONENT);
        let cut = (exponent - self.exponent) as u32;
        let significand = self.bits.checked_shr(cut).unwrap_or(0) as u64;
        let half = self.bits.checked_shr(cut - 1).unwrap_or(0) as u64 & 1;
        let is_above_half = self.has_more || self.bits.trailing_zeros() < cut - 1;
        let up = half & (significand | u64::from(is_above_half));
        T::from_parts(negative, significand + up, exponent)
    }
}
