//! A sum of squares that neither overflows nor underflows.

use super::structure;

/// A sum of squares of `f64` in three parts, by the size of what is squared: what
/// [`SumSquares`](crate::op::SumSquares) combines.
///
/// The square of 1e200 is no `f64`, nor is that of 1e-200, and the norm of an array that holds them
/// is one all the same. So large numbers are made small before they are squared, and small ones large,
/// by powers of two, which rounds nothing; each kind has a sum of its own. After J. L. Blue, "A
/// Portable Fortran Program to Find the Euclidean Norm of a Vector" (1978), without branches.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct ScaledSquares {
    large: f64,
    medium: f64,
    small: f64,
}

/// 2 to the power of `exponent`, which is that of a normal number.
const fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

impl ScaledSquares {
    /// Numbers above this are large: of 2^52 squares below it, the sum is finite.
    const LARGE: f64 = power_of_two(486);

    /// Numbers below this are small: the square of no other underflows.
    const SMALL: f64 = power_of_two(-511);

    /// What large numbers are multiplied by: 2^1024 becomes 2^486, above which numbers are
    /// large.
    pub const OF_LARGE: f64 = power_of_two(-538);

    /// What small numbers are multiplied by: the smallest of all, 2^-1074, becomes 2^-537, no smaller
    /// than the smallest that are not small, and 2^-511, below which numbers are small, becomes 2^26.
    pub const OF_SMALL: f64 = power_of_two(537);

    /// Of no squares. (-0.0 is the identity of addition.)
    pub const NONE: Self = Self {
        large: -0.0,
        medium: -0.0,
        small: -0.0,
    };

    /// The square of `value`. Infinity is large; NaN is not, and is found in the sum all the same.
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

    /// Both together.
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

    /// The sum of the squares of numbers that are neither large nor small.
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
