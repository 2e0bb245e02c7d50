//! How many values there are, their mean, and how far they lie from it.

use super::structure;
use crate::op::{MeanVariance, Op};

/// The first moments of some values: what [`MeanVariance`](crate::op::MeanVariance) combines.
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
    /// Of no values.
    pub const NONE: Self = Self {
        count: 0.0,
        mean: 0.0,
        squares: 0.0,
    };

    /// Of `count` values whose distances from `mean` have squares that add up to `squares`.
    #[inline(always)]
    pub const fn new(count: f64, mean: f64, squares: f64) -> Self {
        Self {
            count,
            mean,
            squares,
        }
    }

    /// How many values there are; a whole number, exact up to 2^53.
    #[inline(always)]
    pub const fn count(self) -> f64 {
        self.count
    }

    /// Their mean; 0 of none.
    #[inline(always)]
    pub const fn mean(self) -> f64 {
        self.mean
    }

    /// The sum of the squared distances from the mean.
    #[inline(always)]
    pub const fn squares(self) -> f64 {
        self.squares
    }

    /// The mean squared distance from the mean. Of no values NaN.
    pub fn variance(self) -> f64 {
        self.squares / self.count
    }

    /// The square root of the [variance](Self::variance), the standard deviation. Of no values NaN.
    #[cfg(not(target_arch = "nvptx64"))]
    pub fn std_dev(self) -> f64 {
        self.variance().sqrt()
    }

    /// The moments of these values and those of `other`: of parts that were reduced apart, on several devices,
    /// say. Both orders give the same bits.
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

    /// The variance of what the values are a sample of, [`squares`](Self::squares) over the count
    /// less one (Bessel's correction). Of no values, and of one, NaN.
    pub fn sample_variance(self) -> f64 {
        match self.count {
            0.0 => f64::NAN,
            count => self.squares / (count - 1.0),
        }
    }
}

structure!(Moments: count, mean, squares);
