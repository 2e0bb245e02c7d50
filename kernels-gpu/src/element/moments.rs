//! Count, mean and squared distances as one element.

use super::structure;
use crate::op::{MeanVariance, Op};

/// The first moments of some values: the accumulator of [`MeanVariance`](crate::op::MeanVariance).
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct Moments {
    /// A whole number, exact up to 2^53.
    count: f64,
    mean: f64,
    /// The sum of the squared distances from the mean.
    squares: f64,
}

impl Moments {
    /// The moments of no values.
    pub const NONE: Self = Self {
        count: 0.0,
        mean: 0.0,
        squares: 0.0,
    };

    /// The moments of `count` values with this mean, whose squared distances from it add up to `squares`.
    #[inline(always)]
    pub const fn new(count: f64, mean: f64, squares: f64) -> Self {
        Self {
            count,
            mean,
            squares,
        }
    }

    /// The number of values; a whole number, exact up to 2^53.
    #[inline(always)]
    pub const fn count(self) -> f64 {
        self.count
    }

    /// The mean; 0 for no values.
    #[inline(always)]
    pub const fn mean(self) -> f64 {
        self.mean
    }

    /// The sum of the squared distances from the mean.
    #[inline(always)]
    pub const fn squares(self) -> f64 {
        self.squares
    }

    /// The population variance: the mean squared distance from the mean. NaN for no values.
    pub fn variance(self) -> f64 {
        self.squares / self.count
    }

    /// The standard deviation: the square root of the [variance](Self::variance). NaN for no values.
    #[cfg(not(target_arch = "nvptx64"))]
    pub fn std_dev(self) -> f64 {
        self.variance().sqrt()
    }

    /// Combines these moments with those of other values, for example from another device. Both orders give the
    /// same bits.
    ///
    /// ```
    /// use kernels_gpu::element::Moments;
    /// use kernels_gpu::op::{MeanVariance, Op};
    ///
    /// let of = |x: f64| Op::<f64>::lift(&MeanVariance, x, 0);
    /// let all = of(4.0).merge(of(7.0)).merge(of(13.0).merge(of(16.0)));
    /// assert_eq!((all.count(), all.mean(), all.variance()), (4.0, 10.0, 22.5));
    /// assert_eq!(all.merge(Moments::NONE), all);
    /// ```
    pub fn merge(self, other: Self) -> Self {
        Op::<f64>::combine(&MeanVariance, self, other)
    }

    /// The sample variance: [`squares`](Self::squares) divided by the count less one (Bessel's correction). NaN
    /// for fewer than two values.
    pub fn sample_variance(self) -> f64 {
        match self.count {
            0.0 => f64::NAN,
            count => self.squares / (count - 1.0),
        }
    }
}

structure!(Moments: count, mean, squares);
