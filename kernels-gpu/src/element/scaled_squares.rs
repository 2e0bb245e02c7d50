//! A sum of squares without overflow and underflow.

use super::structure;
#[cfg(not(target_arch = "nvptx64"))]
use crate::exact::Accumulator;

/// A sum of squares of `f64` in three parts, by the magnitude of the numbers: the accumulator of
/// [`SumSquares`](crate::op::SumSquares).
///
/// The squares of 1e200 and of 1e-200 are outside the range of `f64`, but the norm of an array that contains
/// them is not. So large numbers are scaled down before they are squared, and small numbers are scaled up, by
/// powers of two, which is exact. Each kind has its own sum. After J. L. Blue, "A Portable Fortran Program to
/// Find the Euclidean Norm of a Vector" (1978), without branches.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct ScaledSquares {
    large: f64,
    medium: f64,
    small: f64,
}

/// 2 to the power of `exponent`, which must be that of a normal number.
const fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

impl ScaledSquares {
    /// Numbers above this are large. The sum of 2^52 squares of numbers below it is finite.
    const LARGE: f64 = power_of_two(486);

    /// Numbers below this are small. The square of any other number does not underflow.
    const SMALL: f64 = power_of_two(-511);

    /// The factor for large numbers: 2^1024 becomes 2^486, the limit of large numbers.
    pub const OF_LARGE: f64 = power_of_two(-538);

    /// The factor for small numbers: the smallest of all, 2^-1074, becomes 2^-537, at least as large as the
    /// smallest medium number; 2^-511, the limit of small numbers, becomes 2^26.
    pub const OF_SMALL: f64 = power_of_two(537);

    /// The sum of no squares. (-0.0 is the identity of addition.)
    pub const NONE: Self = Self {
        large: -0.0,
        medium: -0.0,
        small: -0.0,
    };

    /// The square of `value`. Infinity is large. NaN is medium, and the sum becomes NaN.
    #[inline(always)]
    pub const fn of(value: f64) -> Self {
        let size = value.abs();
        let mut squares = Self::NONE;
        if size > Self::LARGE {
            let scaled = size * Self::OF_LARGE;
            squares.large = scaled * scaled;
        } else if size < Self::SMALL {
            let scaled = size * Self::OF_SMALL;
            squares.small = scaled * scaled;
        } else {
            squares.medium = size * size;
        }
        squares
    }

    /// The exact sum of squares, as one part that is rounded once.
    #[cfg(not(target_arch = "nvptx64"))]
    pub fn of_exact(sum: &Accumulator) -> Self {
        let mut squares = Self::NONE;
        let medium: f64 = sum.sum();
        if medium.is_infinite() {
            squares.large = sum.scaled_sum(2 * -538);
        } else if medium < f64::MIN_POSITIVE {
            squares.small = sum.scaled_sum(2 * 537);
        } else {
            squares.medium = medium;
        }
        squares
    }

    /// The sum of both.
    #[inline(always)]
    pub const fn plus(self, other: Self) -> Self {
        Self {
            large: self.large + other.large,
            medium: self.medium + other.medium,
            small: self.small + other.small,
        }
    }

    /// The sum of the squares of large numbers, each multiplied by [`OF_LARGE`](Self::OF_LARGE).
    #[inline(always)]
    pub const fn large(self) -> f64 {
        self.large
    }

    /// The sum of the squares of the medium numbers.
    #[inline(always)]
    pub const fn medium(self) -> f64 {
        self.medium
    }

    /// The sum of the squares of small numbers, each multiplied by [`OF_SMALL`](Self::OF_SMALL).
    #[inline(always)]
    pub const fn small(self) -> f64 {
        self.small
    }
}

structure!(ScaledSquares: large, medium, small);
