//! Whole reductions in one call, which waits for the result.

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

/// What [`Device::sum_wide`] gives for elements `T`: `i64`, `u64` or `f64`.
type Wide<T> = <T as ReducedBy<SumWide>>::Output;

/// Each of these is [`Device::reduce`] by the operator of its name, with the default algorithm. They take every
/// [`Number`] (`nan_` calls every [`Float`](crate::Float)), and elements of your own that the operator reduces.
impl Device {
    /// The sum, in the type of the elements. Integers wrap. Floats are added in an order that depends
    /// on n and the device alone: the same bits every time; 16-bit floats in `f32`, rounded once at
    /// the end. 0 for empty input.
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

    /// The sum of the floats, where a NaN counts as 0, as NumPy's `nansum`. In all else as [`sum`](Self::sum).
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

    /// The sum in 64 bits: an `i64` of signed integers, a `u64` of unsigned ones, an `f64` of floats.
    /// 2^32 integers of 32 bits do not wrap. In all else as [`sum`](Self::sum).
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

    /// The product, in the type of the elements. Integers wrap; floats as of [`sum`](Self::sum). 1 for
    /// empty input.
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

    /// The smallest element; `None` for empty input. Floats: NaN when there is one, and -0.0 is
    /// smaller than 0.0.
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

    /// The largest element; `None` for empty input. Floats: NaN when there is one, and -0.0 is
    /// smaller than 0.0.
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

    /// The smallest and the largest element, each as [`min`](Self::min) and [`max`](Self::max) give it,
    /// in one pass; `None` for empty input.
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

    /// The smallest of the floats that are numbers: NaN when none is, `None` for empty input. -0.0 is
    /// smaller than 0.0.
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

    /// The largest of the floats that are numbers: NaN when none is, `None` for empty input. -0.0 is
    /// smaller than 0.0.
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

    /// Where the smallest element is, the first of equal ones, counted from the view's start; `None` for
    /// empty input. Floats: where the first NaN is, when there is one; the two zeros are equal. As NumPy's
    /// `argmin`. The element itself comes with it from [`reduce`](Self::reduce) by [`ArgMin`].
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
        let place = self.reduce(input, ArgMin).run()?;
        Ok(place.map(|place| place.index() as usize))
    }

    /// Where the largest element is; in all else as [`argmin`](Self::argmin).
    ///
    /// # Errors
    ///
    /// As [`Reduction::run`](crate::Reduction::run).
    pub fn argmax<'a, T: ReducedBy<ArgMax, Output = Option<Indexed<T>>>>(
        &self,
        input: impl Input<'a, T>,
    ) -> Result<Option<usize>, Error> {
        let place = self.reduce(input, ArgMax).run()?;
        Ok(place.map(|place| place.index() as usize))
    }

    /// Where the smallest of the floats that are numbers is, the first of equal ones, as NumPy's `nanargmin`; `None`
    /// where there is no number, for empty input too. Of NaN and infinity it gives the infinity, where NumPy gives
    /// the first of both.
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
        let place = self.reduce(input, NanArgMin).run()?;
        Ok(place.map(|place| place.index() as usize))
    }

    /// Where the largest of the floats that are numbers is; in all else as [`nan_argmin`](Self::nan_argmin).
    ///
    /// # Errors
    ///
    /// As [`Reduction::run`](crate::Reduction::run).
    pub fn nan_argmax<'a, T: ReducedBy<NanArgMax, Output = Option<Indexed<T>>>>(
        &self,
        input: impl Input<'a, T>,
    ) -> Result<Option<usize>, Error> {
        let place = self.reduce(input, NanArgMax).run()?;
        Ok(place.map(|place| place.index() as usize))
    }

    /// The mean, as an `f64`; `None` for empty input. Integers of 32 bits and less, and floats, are summed in
    /// 64 bits and divided once, so that the mean of integers is as exact as an `f64` can be up to a sum
    /// of 2^53. Integers of 64 bits go by [`mean_variance`](Self::mean_variance), since their sum may
    /// have no 64 bits.
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
        let sum = self.reduce_views::<T, _>(views, T::MEAN_BY).run()?;
        Ok(sum.mean(input::len::<T>(views)))
    }

    /// Mean, variance and count in one pass, as [`Moments`]; `None` for empty input.
    ///
    /// In `f64`, of which the elements are the nearest. With u = 2^-53, κ the quotient of the root mean
    /// square and the standard deviation, and k the roundings in a row (a few for every 16 bytes that a
    /// thread reads, and some thirty where threads meet), the relative error of the variance stays
    /// near k·u·κ, as that of Chan, Golub and LeVeque's pairwise update; the textbook's formula has κ².
    /// With an infinity or a NaN among the elements,
    /// or with squares that no `f64` has (distances beyond 1e154), mean and variance are NaN.
    ///
    /// ```
    /// use warpfold::Device;
    ///
    /// let device = Device::auto()?;
    /// // A billion and a little: E[x²] - E[x]² has nothing left of the variance.
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

    /// Mean, variance and count of the floats that are not NaN, in one pass, as NumPy's `nanmean` and `nanvar`; `None`
    /// where there is none, for empty input too. In all else as [`mean_variance`](Self::mean_variance).
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

    /// The mean of the values, each with its weight: `sum(w * x) / sum(w)` in one pass over both arrays, in `f64`, as
    /// NumPy's `average`. Products of 32 bits and less are exact. `None` where the weights add up to 0, as they do
    /// for empty input.
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
    /// [`Error::Lengths`] where one is longer; otherwise as [`Reduction::run`](crate::Reduction::run).
    pub fn weighted_mean<'a, T: Float>(
        &self,
        values: impl Input<'a, T>,
        weights: impl Input<'a, T>,
    ) -> Result<Option<f64>, Error> {
        T::weighted_mean(self, values, weights)
    }

    /// The sum of the absolute values in 64 bits, the 1-norm: a `u64` of integers, which wraps, and an
    /// `f64` of floats. 0 for empty input.
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

    /// The Euclidean norm, the root of the sum of the squares, as an `f64`. 0 for empty input.
    ///
    /// No square overflows or underflows where the norm itself does not: squares of 32 bits and less are
    /// `f64`, and those of `f64` are scaled by powers of two. Infinity where there is an infinite element
    /// and no NaN.
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
        Ok(self.reduce(input, SumSquares).run()?.norm())
    }

    /// The largest absolute value, the maximum norm, as an `f64`; `None` for empty input. NaN where there is
    /// one. Integers of 64 bits are rounded to the nearest `f64`.
    ///
    /// # Errors
    ///
    /// As [`Reduction::run`](crate::Reduction::run).
    pub fn norm_inf<'a, T: Number>(&self, input: impl Input<'a, T>) -> Result<Option<f64>, Error> {
        let extrema = self.reduce(input, MinMax).run()?;
        Ok(extrema.map(Norm::norm))
    }

    /// The sum of the products of `a` and `b`, element by element, in 64 bits: an `i64` of signed
    /// integers and a `u64` of unsigned ones, which wrap; an `f64` of floats, where each product of 32
    /// bits and less is exact and `f64` rounds once. Bit-equal from run to run. 0 for empty
    /// input.
    ///
    /// It is fastest where both start alike: at multiples of 16 bytes, or as far behind one.
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
    /// [`Error::Lengths`] where one is longer; otherwise as [`Reduction::run`](crate::Reduction::run).
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

    /// Whether no element is zero; a NaN is not. True for empty input. All elements are read, also where
    /// the first decides it.
    ///
    /// # Errors
    ///
    /// As [`count`](Self::count).
    pub fn all<'a, T: Number>(&self, input: impl Input<'a, T>) -> Result<bool, Error> {
        let views = input.into_views();
        let nonzero = T::count(self, views, Predicate::Nonzero)?;
        Ok(nonzero == input::len::<T>(views) as u64)
    }

    /// Whether any element is not zero; a NaN is not. False for empty input. All elements are read, also
    /// where the first decides it.
    ///
    /// # Errors
    ///
    /// As [`count`](Self::count).
    pub fn any<'a, T: Number>(&self, input: impl Input<'a, T>) -> Result<bool, Error> {
        Ok(self.count(input, Predicate::Nonzero)? > 0)
    }
}
