//! Whole-array reductions in one call that waits for the result.

use kernels_gpu::element::{Extrema, Indexed, Moments};
use kernels_gpu::op::{
    ArgMax, ArgMin, Max, MeanVariance, Min, MinMax, NanArgMax, NanArgMin, NanMax, NanMeanVariance,
    NanMin, NanSum, Product, Sum, SumAbs, SumSquares, SumWide,
};

use crate::device::Device;
use crate::error::Error;
use crate::input::{self, Input};
use crate::number::{Float, Mean, Norm, Number, Predicate};
use crate::reduced_by::ReducedBy;

/// The result type of [`Device::sum_wide`] for elements `T`: `i64`, `u64` or `f64`.
type Wide<T> = <T as ReducedBy<SumWide>>::Output;

/// Reductions by name: each is [`Device::reduce`] with the operator of its name and the default algorithm.
///
/// They accept every [`Number`] (the `nan_` calls every [`Float`](crate::Float)), and your own elements if
/// the operator reduces them.
impl Device {
    /// The sum, in the type of the elements; 0 for empty input.
    ///
    /// Integers wrap. 16-bit floats are added in `f32` and rounded once at the end. The order of the
    /// additions depends only on n, so a float sum has the same bits on every device.
    ///
    /// # Errors
    ///
    /// As [`Reduction::run`](crate::Reduction::run).
    pub fn sum<'a, T: ReducedBy<Sum, Output = T>>(
        &self,
        input: impl Input<'a, T>,
    ) -> Result<T, Error> {
        self.reduce(input, Sum).run()
    }

    /// The sum of the floats with every NaN counted as 0, as NumPy's `nansum`. Otherwise like
    /// [`sum`](Self::sum).
    ///
    /// ```
    /// use warpfold::Device;
    ///
    /// let device = Device::auto()?;
    /// let x = device.upload(&[1.5, f64::NAN, 2.0])?;
    /// assert_eq!(device.nan_sum(&x)?, 3.5);
    /// assert_eq!(device.nan_sum(x.view(1..2)?)?, 0.0);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Reduction::run`](crate::Reduction::run).
    pub fn nan_sum<'a, T: ReducedBy<NanSum, Output = T>>(
        &self,
        input: impl Input<'a, T>,
    ) -> Result<T, Error> {
        self.reduce(input, NanSum).run()
    }

    /// The sum in 64 bits: `i64` for signed integers, `u64` for unsigned integers, `f64` for floats.
    ///
    /// A sum of 2^32 integers of 32 bits does not wrap. Otherwise like [`sum`](Self::sum).
    ///
    /// ```
    /// use warpfold::Device;
    ///
    /// let device = Device::auto()?;
    /// let x = device.upload(&[i32::MAX, i32::MAX])?;
    /// assert_eq!(device.sum(&x)?, -2);
    /// assert_eq!(device.sum_wide(&x)?, 4_294_967_294);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Reduction::run`](crate::Reduction::run).
    pub fn sum_wide<'a, T: ReducedBy<SumWide>>(
        &self,
        input: impl Input<'a, T>,
    ) -> Result<Wide<T>, Error> {
        self.reduce(input, SumWide).run()
    }

    /// The product, in the type of the elements; 1 for empty input.
    ///
    /// Integers wrap. Floats are multiplied as [`sum`](Self::sum) adds them.
    ///
    /// # Errors
    ///
    /// As [`Reduction::run`](crate::Reduction::run).
    pub fn product<'a, T: ReducedBy<Product, Output = T>>(
        &self,
        input: impl Input<'a, T>,
    ) -> Result<T, Error> {
        self.reduce(input, Product).run()
    }

    /// The smallest element; `None` for empty input.
    ///
    /// For floats, NaN if any element is a NaN; -0.0 is smaller than 0.0.
    ///
    /// # Errors
    ///
    /// As [`Reduction::run`](crate::Reduction::run).
    pub fn min<'a, T: ReducedBy<Min, Output = Option<T>>>(
        &self,
        input: impl Input<'a, T>,
    ) -> Result<Option<T>, Error> {
        self.reduce(input, Min).run()
    }

    /// The largest element; `None` for empty input.
    ///
    /// For floats, NaN if any element is a NaN; -0.0 is smaller than 0.0.
    ///
    /// # Errors
    ///
    /// As [`Reduction::run`](crate::Reduction::run).
    pub fn max<'a, T: ReducedBy<Max, Output = Option<T>>>(
        &self,
        input: impl Input<'a, T>,
    ) -> Result<Option<T>, Error> {
        self.reduce(input, Max).run()
    }

    /// The smallest and the largest element in one pass, as [`min`](Self::min) and [`max`](Self::max) return
    /// them; `None` for empty input.
    ///
    /// ```
    /// use warpfold::Device;
    ///
    /// let device = Device::auto()?;
    /// let x = device.upload(&[3.0, -1.0, 2.0])?;
    /// let extrema = device.min_max(&x)?.unwrap();
    /// assert_eq!((extrema.min(), extrema.max()), (-1.0, 3.0));
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Reduction::run`](crate::Reduction::run).
    pub fn min_max<'a, T: ReducedBy<MinMax, Output = Option<Extrema<T>>>>(
        &self,
        input: impl Input<'a, T>,
    ) -> Result<Option<Extrema<T>>, Error> {
        self.reduce(input, MinMax).run()
    }

    /// The smallest float that is not a NaN; `None` for empty input.
    ///
    /// The result is NaN if all elements are NaN. -0.0 is smaller than 0.0.
    ///
    /// # Errors
    ///
    /// As [`Reduction::run`](crate::Reduction::run).
    pub fn nan_min<'a, T: ReducedBy<NanMin, Output = Option<T>>>(
        &self,
        input: impl Input<'a, T>,
    ) -> Result<Option<T>, Error> {
        self.reduce(input, NanMin).run()
    }

    /// The largest float that is not a NaN; `None` for empty input.
    ///
    /// The result is NaN if all elements are NaN. -0.0 is smaller than 0.0.
    ///
    /// # Errors
    ///
    /// As [`Reduction::run`](crate::Reduction::run).
    pub fn nan_max<'a, T: ReducedBy<NanMax, Output = Option<T>>>(
        &self,
        input: impl Input<'a, T>,
    ) -> Result<Option<T>, Error> {
        self.reduce(input, NanMax).run()
    }

    /// The index of the smallest element, from the view's start; `None` for empty input.
    ///
    /// Returns the first of equal elements, as NumPy's `argmin`. For floats, the index of the first NaN if
    /// there is one; -0.0 and 0.0 are equal. [`reduce`](Self::reduce) with [`ArgMin`] returns the element as
    /// well.
    ///
    /// ```
    /// use warpfold::Device;
    ///
    /// let device = Device::auto()?;
    /// let x = device.upload(&[3.0, 1.0, 2.0, 1.0])?;
    /// assert_eq!(device.argmin(&x)?, Some(1));
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Reduction::run`](crate::Reduction::run).
    pub fn argmin<'a, T: ReducedBy<ArgMin, Output = Option<Indexed<T>>>>(
        &self,
        input: impl Input<'a, T>,
    ) -> Result<Option<usize>, Error> {
        let found = self.reduce(input, ArgMin).run()?;
        Ok(found.map(|found| found.index() as usize))
    }

    /// The index of the largest element. Otherwise like [`argmin`](Self::argmin).
    ///
    /// # Errors
    ///
    /// As [`Reduction::run`](crate::Reduction::run).
    pub fn argmax<'a, T: ReducedBy<ArgMax, Output = Option<Indexed<T>>>>(
        &self,
        input: impl Input<'a, T>,
    ) -> Result<Option<usize>, Error> {
        let found = self.reduce(input, ArgMax).run()?;
        Ok(found.map(|found| found.index() as usize))
    }

    /// The index of the smallest float that is not a NaN; `None` if there is none, and for empty input.
    ///
    /// Returns the first of equal elements, as NumPy's `nanargmin`. If the numbers are all infinite, the
    /// result is the index of an infinity; NumPy returns the first NaN or infinity.
    ///
    /// ```
    /// use warpfold::Device;
    ///
    /// let device = Device::auto()?;
    /// let x = device.upload(&[f32::NAN, 3.0, 1.0])?;
    /// assert_eq!((device.nan_argmin(&x)?, device.nan_argmax(&x)?), (Some(2), Some(1)));
    /// assert_eq!(device.nan_argmin(x.view(..1)?)?, None);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Reduction::run`](crate::Reduction::run).
    pub fn nan_argmin<'a, T: ReducedBy<NanArgMin, Output = Option<Indexed<T>>>>(
        &self,
        input: impl Input<'a, T>,
    ) -> Result<Option<usize>, Error> {
        let found = self.reduce(input, NanArgMin).run()?;
        Ok(found.map(|found| found.index() as usize))
    }

    /// The index of the largest float that is not a NaN. Otherwise like [`nan_argmin`](Self::nan_argmin).
    ///
    /// # Errors
    ///
    /// As [`Reduction::run`](crate::Reduction::run).
    pub fn nan_argmax<'a, T: ReducedBy<NanArgMax, Output = Option<Indexed<T>>>>(
        &self,
        input: impl Input<'a, T>,
    ) -> Result<Option<usize>, Error> {
        let found = self.reduce(input, NanArgMax).run()?;
        Ok(found.map(|found| found.index() as usize))
    }

    /// The mean, as an `f64`; `None` for empty input.
    ///
    /// Floats, and integers of up to 32 bits, are summed in 64 bits and divided once. The mean of such
    /// integers is the nearest `f64`. The sum of 64-bit integers may not
    /// fit into 64 bits, so their mean is computed as in [`mean_variance`](Self::mean_variance).
    ///
    /// ```
    /// use warpfold::Device;
    ///
    /// let device = Device::auto()?;
    /// let x = device.upload(&[i32::MAX, i32::MAX - 1])?;
    /// assert_eq!(device.mean(&x)?, Some(2_147_483_646.5));
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Reduction::run`](crate::Reduction::run).
    pub fn mean<'a, T: Number>(&self, input: impl Input<'a, T>) -> Result<Option<f64>, Error> {
        let views = input.into_views();
        let by_mean = self.reduce_views::<T, _>(views, T::MEAN_BY);
        if self.exact_entry::<T, T::MeanBy>()?.is_some() {
            let sum = by_mean.accumulate()?;
            return Ok((!sum.is_empty()).then(|| sum.mean()));
        }
        Ok(by_mean.run()?.mean(input::len::<T>(views)))
    }

    /// Mean, variance and count in one pass, as [`Moments`]; `None` for empty input.
    ///
    /// All computations are in `f64`. The relative error of the variance is about k·u·κ, like that of the
    /// pairwise update of Chan, Golub and LeVeque; the textbook formula has κ² instead of κ. Here u is 2^-53,
    /// κ is the root mean square divided by the standard deviation, and k is the number of roundings in a
    /// row: a few for every 16 bytes that a thread reads, and about 30 when the threads' values are combined.
    ///
    /// Mean and variance are NaN if an element is infinite or NaN, or if a squared distance from the mean
    /// overflows `f64` (a distance above 1e154).
    ///
    /// ```
    /// use warpfold::Device;
    ///
    /// let device = Device::auto()?;
    /// // A little more than a billion: E[x²] - E[x]² loses all digits of the variance.
    /// let x = device.upload(&[1e9 + 4.0, 1e9 + 7.0, 1e9 + 13.0, 1e9 + 16.0])?;
    /// let moments = device.mean_variance(&x)?.unwrap();
    /// assert_eq!(moments.mean(), 1e9 + 10.0);
    /// assert_eq!((moments.variance(), moments.sample_variance()), (22.5, 30.0));
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Reduction::run`](crate::Reduction::run).
    pub fn mean_variance<'a, T: ReducedBy<MeanVariance, Output = Option<Moments>>>(
        &self,
        input: impl Input<'a, T>,
    ) -> Result<Option<Moments>, Error> {
        self.reduce(input, MeanVariance).run()
    }

    /// Mean, variance and count without NaN, in one pass, as NumPy's `nanmean` and `nanvar`.
    ///
    /// `None` if there is no such float, and for empty input. Otherwise like
    /// [`mean_variance`](Self::mean_variance).
    ///
    /// ```
    /// use warpfold::Device;
    ///
    /// let device = Device::auto()?;
    /// let x = device.upload(&[4.0, f64::NAN, 7.0, 13.0, f64::NAN, 16.0])?;
    /// let moments = device.nan_mean_variance(&x)?.unwrap();
    /// assert_eq!((moments.count(), moments.mean(), moments.variance()), (4.0, 10.0, 22.5));
    /// assert_eq!(device.nan_mean_variance(x.view(1..2)?)?, None);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Reduction::run`](crate::Reduction::run).
    pub fn nan_mean_variance<'a, T: ReducedBy<NanMeanVariance, Output = Option<Moments>>>(
        &self,
        input: impl Input<'a, T>,
    ) -> Result<Option<Moments>, Error> {
        self.reduce(input, NanMeanVariance).run()
    }

    /// The weighted mean `sum(w * x) / sum(w)`, in one pass over both arrays, in `f64`, as NumPy's `average`.
    ///
    /// Products of floats of up to 32 bits are exact. `None` if the weights add up to 0, and for empty input.
    ///
    /// ```
    /// use warpfold::Device;
    ///
    /// let device = Device::auto()?;
    /// let (x, w) = (device.upload(&[1.0f32, 2.0, 6.0])?, device.upload(&[1.0f32, 2.0, 1.0])?);
    /// assert_eq!(device.weighted_mean(&x, &w)?, Some(2.75));
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Lengths`] if the lengths differ; otherwise as [`Reduction::run`](crate::Reduction::run).
    pub fn weighted_mean<'a, T: Float>(
        &self,
        values: impl Input<'a, T>,
        weights: impl Input<'a, T>,
    ) -> Result<Option<f64>, Error> {
        T::weighted_mean(self, values, weights)
    }

    /// The 1-norm, the sum of the absolute values in 64 bits; 0 for empty input.
    ///
    /// A `u64` that wraps for integers, an `f64` for floats.
    ///
    /// # Errors
    ///
    /// As [`Reduction::run`](crate::Reduction::run).
    pub fn norm_l1<'a, T: ReducedBy<SumAbs>>(
        &self,
        input: impl Input<'a, T>,
    ) -> Result<<T as ReducedBy<SumAbs>>::Output, Error> {
        self.reduce(input, SumAbs).run()
    }

    /// The Euclidean norm, the square root of the sum of the squares, as an `f64`; 0 for empty input.
    ///
    /// No intermediate result overflows or underflows unless the norm itself does: elements of up to 32 bits
    /// are squared in `f64`, and `f64` elements are scaled by powers of two. The norm is infinite if an
    /// element is infinite and none is a NaN.
    ///
    /// ```
    /// use warpfold::Device;
    ///
    /// let device = Device::auto()?;
    /// let x = device.upload(&[3e200, 4e200])?;
    /// let norm = device.norm_l2(&x)?;
    /// assert!((norm / 5e200 - 1.0).abs() < 1e-15);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Reduction::run`](crate::Reduction::run).
    pub fn norm_l2<'a, T: ReducedBy<SumSquares, Output: Norm>>(
        &self,
        input: impl Input<'a, T>,
    ) -> Result<f64, Error> {
        let squares = self.reduce(input, SumSquares);
        if self
            .exact_entry::<T, <T as ReducedBy<SumSquares>>::By>()?
            .is_some()
        {
            return Ok(squares.accumulate()?.sqrt());
        }
        Ok(squares.run()?.norm())
    }

    /// The maximum norm, the largest absolute value, as an `f64`; `None` for empty input.
    ///
    /// NaN if any element is a NaN. 64-bit integers are rounded to the nearest `f64`.
    ///
    /// # Errors
    ///
    /// As [`Reduction::run`](crate::Reduction::run).
    pub fn norm_inf<'a, T: Number>(&self, input: impl Input<'a, T>) -> Result<Option<f64>, Error> {
        let extrema = self.reduce(input, MinMax).run()?;
        Ok(extrema.map(Norm::norm))
    }

    /// The dot product of `a` and `b`, in 64 bits; 0 for empty input.
    ///
    /// An `i64` for signed and a `u64` for unsigned integers, which wrap; an `f64` for floats. Products of
    /// floats of up to 32 bits are exact; a product of two `f64` is rounded once. The result has the same
    /// bits on every run.
    ///
    /// It is fastest if both addresses have the same remainder modulo 16.
    ///
    /// ```
    /// use warpfold::Device;
    ///
    /// let device = Device::auto()?;
    /// let (a, b) = (device.upload(&[1.0f32, 2.0, 3.0])?, device.upload(&[4.0f32, 5.0, 6.0])?);
    /// assert_eq!(device.dot(&a, &b)?, 32.0);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Lengths`] if the lengths differ; otherwise as [`Reduction::run`](crate::Reduction::run).
    pub fn dot<'a, T: Number>(
        &self,
        a: impl Input<'a, T>,
        b: impl Input<'a, T>,
    ) -> Result<T::Dot, Error> {
        T::dot(self, a, b)
    }

    /// Counts the elements for which the predicate holds; 0 for empty input.
    ///
    /// ```
    /// use warpfold::{Device, Predicate};
    ///
    /// let device = Device::auto()?;
    /// let x = device.upload(&[3.0, 0.0, f32::NAN, -1.0])?;
    /// assert_eq!(device.count(&x, Predicate::Less(3.0))?, 2);
    /// assert_eq!(device.count(&x, Predicate::InRange(-1.0, 3.0))?, 2);
    /// assert_eq!(device.count(&x, Predicate::Nan)?, 1);
    /// assert_eq!(device.count(&x, Predicate::Nonzero)?, 3);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Reduction::run`](crate::Reduction::run).
    pub fn count<'a, T: Number>(
        &self,
        input: impl Input<'a, T>,
        predicate: Predicate<T>,
    ) -> Result<u64, Error> {
        T::count(self, input.into_views(), predicate)
    }

    /// Whether all elements are nonzero; true for empty input.
    ///
    /// A NaN counts as nonzero. All elements are read, even if the first decides the result.
    ///
    /// # Errors
    ///
    /// As [`count`](Self::count).
    pub fn all<'a, T: Number>(&self, input: impl Input<'a, T>) -> Result<bool, Error> {
        let views = input.into_views();
        let nonzero = T::count(self, views, Predicate::Nonzero)?;
        Ok(nonzero == input::len::<T>(views) as u64)
    }

    /// Whether any element is nonzero; false for empty input.
    ///
    /// A NaN counts as nonzero. All elements are read, even if the first decides the result.
    ///
    /// # Errors
    ///
    /// As [`count`](Self::count).
    pub fn any<'a, T: Number>(&self, input: impl Input<'a, T>) -> Result<bool, Error> {
        Ok(self.count(input, Predicate::Nonzero)? > 0)
    }
}
