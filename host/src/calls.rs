//! Whole reductions in one call, which waits for the result.

use kernels_gpu::element::{Extrema, Indexed, Moments};
use kernels_gpu::op::{
    ArgMax, ArgMin, Max, MeanVariance, Min, MinMax, NanMax, NanMin, Product, Sum, SumAbs,
    SumSquares, SumWide,
};

use crate::buffer::View;
use crate::device::Device;
use crate::error::Error;
use crate::number::{Mean, Norm, Number, Predicate};
use crate::reduced_by::ReducedBy;

/// What [`Device::sum_wide`] gives for elements `T`: `i64`, `u64` or `f64`.
type Wide<T> = <T as ReducedBy<SumWide>>::Output;

/// Each of these is [`Device::reduce`] by the operator of its name, with the default algorithm. They take every
/// [`Number`] (`nan_` calls every [`Float`](crate::Float)), and elements of your own that the operator reduces.
impl Device {
    /// The sum, in the type of the elements. Integers wrap. Floats are added in an order that depends
    /// on n and the device alone: the same bits every time; 16-bit floats in `f32`, rounded once at
    /// the end. Of nothing: 0 (for floats -0.0, which added to anything leaves it as it is).
    ///
    /// # Errors
    ///
    /// As [`Reduction::run`](crate::Reduction::run).
    pub fn sum<'a, T: ReducedBy<Sum, Output = T>>(
        &self,
        input: impl Into<View<'a, T>>,
    ) -> Result<T, Error> {
        T::reduced(self, input.into(), Sum)
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
        input: impl Into<View<'a, T>>,
    ) -> Result<Wide<T>, Error> {
        T::reduced(self, input.into(), SumWide)
    }

    /// The product, in the type of the elements. Integers wrap; floats as of [`sum`](Self::sum). Of
    /// nothing: 1.
    ///
    /// # Errors
    ///
    /// As [`Reduction::run`](crate::Reduction::run).
    pub fn product<'a, T: ReducedBy<Product, Output = T>>(
        &self,
        input: impl Into<View<'a, T>>,
    ) -> Result<T, Error> {
        T::reduced(self, input.into(), Product)
    }

    /// The smallest element; `None` of nothing. Floats: NaN when there is one, and -0.0 is
    /// smaller than 0.0.
    ///
    /// # Errors
    ///
    /// As [`Reduction::run`](crate::Reduction::run).
    pub fn min<'a, T: ReducedBy<Min, Output = T>>(
        &self,
        input: impl Into<View<'a, T>>,
    ) -> Result<Option<T>, Error> {
        self.of_some(input.into(), Min)
    }

    /// The largest element; `None` of nothing. Floats: NaN when there is one, and -0.0 is
    /// smaller than 0.0.
    ///
    /// # Errors
    ///
    /// As [`Reduction::run`](crate::Reduction::run).
    pub fn max<'a, T: ReducedBy<Max, Output = T>>(
        &self,
        input: impl Into<View<'a, T>>,
    ) -> Result<Option<T>, Error> {
        self.of_some(input.into(), Max)
    }

    /// The smallest and the largest element, each as [`min`](Self::min) and [`max`](Self::max) give it,
    /// in one pass; `None` of nothing.
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
    pub fn min_max<'a, T: ReducedBy<MinMax, Output = Extrema<T>>>(
        &self,
        input: impl Into<View<'a, T>>,
    ) -> Result<Option<Extrema<T>>, Error> {
        self.of_some(input.into(), MinMax)
    }

    /// The smallest of the floats that are numbers: NaN when none is, `None` of nothing. -0.0 is
    /// smaller than 0.0.
    ///
    /// # Errors
    ///
    /// As [`Reduction::run`](crate::Reduction::run).
    pub fn nan_min<'a, T: ReducedBy<NanMin, Output = T>>(
        &self,
        input: impl Into<View<'a, T>>,
    ) -> Result<Option<T>, Error> {
        self.of_some(input.into(), NanMin)
    }

    /// The largest of the floats that are numbers: NaN when none is, `None` of nothing. -0.0 is
    /// smaller than 0.0.
    ///
    /// # Errors
    ///
    /// As [`Reduction::run`](crate::Reduction::run).
    pub fn nan_max<'a, T: ReducedBy<NanMax, Output = T>>(
        &self,
        input: impl Into<View<'a, T>>,
    ) -> Result<Option<T>, Error> {
        self.of_some(input.into(), NanMax)
    }

    /// Where the smallest element is, the first of equal ones, counted from the view's start; `None` of
    /// nothing. Floats: where the first NaN is, when there is one; the two zeros are equal. As NumPy's
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
    pub fn argmin<'a, T: ReducedBy<ArgMin, Output = Indexed<T>>>(
        &self,
        input: impl Into<View<'a, T>>,
    ) -> Result<Option<usize>, Error> {
        let place = self.of_some(input.into(), ArgMin)?;
        Ok(place.map(|place| place.index() as usize))
    }

    /// Where the largest element is; in all else as [`argmin`](Self::argmin).
    ///
    /// # Errors
    ///
    /// As [`Reduction::run`](crate::Reduction::run).
    pub fn argmax<'a, T: ReducedBy<ArgMax, Output = Indexed<T>>>(
        &self,
        input: impl Into<View<'a, T>>,
    ) -> Result<Option<usize>, Error> {
        let place = self.of_some(input.into(), ArgMax)?;
        Ok(place.map(|place| place.index() as usize))
    }

    /// The mean, as an `f64`; `None` of nothing. Integers of 32 bits and less, and floats, are summed in
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
    pub fn mean<'a, T: Number>(&self, input: impl Into<View<'a, T>>) -> Result<Option<f64>, Error> {
        let input = input.into();
        let mean = self
            .reduce::<T, _>(input, T::MEAN_BY)
            .run()?
            .mean(input.len());
        Ok((!input.is_empty()).then_some(mean))
    }

    /// Mean, variance and count in one pass, as [`Moments`]; `None` of nothing.
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
    pub fn mean_variance<'a, T: ReducedBy<MeanVariance, Output = Moments>>(
        &self,
        input: impl Into<View<'a, T>>,
    ) -> Result<Option<Moments>, Error> {
        self.of_some(input.into(), MeanVariance)
    }

    /// The sum of the absolute values in 64 bits, the 1-norm: a `u64` of integers, which wraps, and an
    /// `f64` of floats. Of nothing: 0 (for floats -0.0).
    ///
    /// # Errors
    ///
    /// As [`Reduction::run`](crate::Reduction::run).
    pub fn norm_l1<'a, T: ReducedBy<SumAbs>>(
        &self,
        input: impl Into<View<'a, T>>,
    ) -> Result<<T as ReducedBy<SumAbs>>::Output, Error> {
        T::reduced(self, input.into(), SumAbs)
    }

    /// The Euclidean norm, the root of the sum of the squares, as an `f64`. Of nothing: 0.
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
        input: impl Into<View<'a, T>>,
    ) -> Result<f64, Error> {
        Ok(T::reduced(self, input.into(), SumSquares)?.norm())
    }

    /// The largest absolute value, the maximum norm, as an `f64`; `None` of nothing. NaN where there is
    /// one. Integers of 64 bits are rounded to the nearest `f64`.
    ///
    /// # Errors
    ///
    /// As [`Reduction::run`](crate::Reduction::run).
    pub fn norm_inf<'a, T: Number>(
        &self,
        input: impl Into<View<'a, T>>,
    ) -> Result<Option<f64>, Error> {
        let extrema = self.of_some(input.into(), MinMax)?;
        Ok(extrema.map(Norm::norm))
    }

    /// The sum of the products of `a` and `b`, element by element, in 64 bits: an `i64` of signed
    /// integers and a `u64` of unsigned ones, which wrap; an `f64` of floats, where each product of 32
    /// bits and less is exact and `f64` rounds once. Bit-equal from run to run. For empty input 0 (for floats
    /// -0.0).
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
        a: impl Into<View<'a, T>>,
        b: impl Into<View<'a, T>>,
    ) -> Result<T::Dot, Error> {
        T::dot(self, a.into(), b.into())
    }

    /// Counts the elements for which the predicate holds; 0 for empty input.
    ///
    /// ```
    /// use warpfold::{Device, Predicate};
    ///
    /// let device = Device::auto()?;
    /// let x = device.upload(&[3.0, 0.0, f32::NAN, -1.0])?;
    /// assert_eq!(device.count(&x, Predicate::Less(3.0))?, 2);
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
        input: impl Into<View<'a, T>>,
        predicate: Predicate<T>,
    ) -> Result<u64, Error> {
        T::count(self, input.into(), predicate)
    }

    /// Whether no element is zero; a NaN is not. True for empty input. All elements are read, also where
    /// the first decides it.
    ///
    /// # Errors
    ///
    /// As [`count`](Self::count).
    pub fn all<'a, T: Number>(&self, input: impl Into<View<'a, T>>) -> Result<bool, Error> {
        let input = input.into();
        Ok(self.count(input, Predicate::Nonzero)? == input.len() as u64)
    }

    /// Whether any element is not zero; a NaN is not. False for empty input. All elements are read, also
    /// where the first decides it.
    ///
    /// # Errors
    ///
    /// As [`count`](Self::count).
    pub fn any<'a, T: Number>(&self, input: impl Into<View<'a, T>>) -> Result<bool, Error> {
        Ok(self.count(input, Predicate::Nonzero)? > 0)
    }

    /// What only an input that is not empty has.
    fn of_some<T: ReducedBy<O>, O>(
        &self,
        input: View<'_, T>,
        op: O,
    ) -> Result<Option<<T as ReducedBy<O>>::Output>, Error> {
        let value = T::reduced(self, input, op)?;
        Ok((!input.is_empty()).then_some(value))
    }
}
