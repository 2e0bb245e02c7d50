//! Whole reductions in one call, which waits for the result.

use kernels_gpu::element::Indexed;
use kernels_gpu::op::{ArgMax, ArgMin, Max, Min, NanMax, NanMin, Op, Product, Sum, SumWide};

use crate::buffer::View;
use crate::device::Device;
use crate::element::Element;
use crate::error::Error;
use crate::operator::Operator;

/// What [`Device::sum_wide`] gives for elements `T`: `i64`, `u64` or `f64`.
type Wide<T> = <SumWide as Op<T>>::Output;

/// Each of these is [`Device::reduce`] by the operator of its name, with the default algorithm.
impl Device {
    /// The sum, in the type of the elements. Integers wrap. Floats are added in an order that depends
    /// on n and the device alone: the same bits every time; 16-bit floats in `f32`, rounded once at
    /// the end. Of nothing: 0 (for floats -0.0, which added to anything leaves it as it is).
    ///
    /// # Errors
    ///
    /// As [`Reduction::run`](crate::Reduction::run).
    pub fn sum<'a, T: Element>(&self, input: impl Into<View<'a, T>>) -> Result<T, Error>
    where
        Sum: Operator<T, Output = T>,
    {
        self.reduce(input, Sum).run()
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
    pub fn sum_wide<'a, T: Element>(&self, input: impl Into<View<'a, T>>) -> Result<Wide<T>, Error>
    where
        SumWide: Operator<T>,
    {
        self.reduce(input, SumWide).run()
    }

    /// The product, in the type of the elements. Integers wrap; floats as of [`sum`](Self::sum). Of
    /// nothing: 1.
    ///
    /// # Errors
    ///
    /// As [`Reduction::run`](crate::Reduction::run).
    pub fn product<'a, T: Element>(&self, input: impl Into<View<'a, T>>) -> Result<T, Error>
    where
        Product: Operator<T, Output = T>,
    {
        self.reduce(input, Product).run()
    }

    /// The smallest element; `None` of nothing. Floats: NaN when there is one, and -0.0 is
    /// smaller than 0.0.
    ///
    /// # Errors
    ///
    /// As [`Reduction::run`](crate::Reduction::run).
    pub fn min<'a, T: Element>(&self, input: impl Into<View<'a, T>>) -> Result<Option<T>, Error>
    where
        Min: Operator<T, Output = T>,
    {
        self.of_some(input.into(), Min)
    }

    /// The largest element; `None` of nothing. Floats: NaN when there is one, and -0.0 is
    /// smaller than 0.0.
    ///
    /// # Errors
    ///
    /// As [`Reduction::run`](crate::Reduction::run).
    pub fn max<'a, T: Element>(&self, input: impl Into<View<'a, T>>) -> Result<Option<T>, Error>
    where
        Max: Operator<T, Output = T>,
    {
        self.of_some(input.into(), Max)
    }

    /// The smallest of the floats that are numbers: NaN when none is, `None` of nothing. -0.0 is
    /// smaller than 0.0.
    ///
    /// # Errors
    ///
    /// As [`Reduction::run`](crate::Reduction::run).
    pub fn nan_min<'a, T: Element>(&self, input: impl Into<View<'a, T>>) -> Result<Option<T>, Error>
    where
        NanMin: Operator<T, Output = T>,
    {
        self.of_some(input.into(), NanMin)
    }

    /// The largest of the floats that are numbers: NaN when none is, `None` of nothing. -0.0 is
    /// smaller than 0.0.
    ///
    /// # Errors
    ///
    /// As [`Reduction::run`](crate::Reduction::run).
    pub fn nan_max<'a, T: Element>(&self, input: impl Into<View<'a, T>>) -> Result<Option<T>, Error>
    where
        NanMax: Operator<T, Output = T>,
    {
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
    pub fn argmin<'a, T: Element>(
        &self,
        input: impl Into<View<'a, T>>,
    ) -> Result<Option<usize>, Error>
    where
        ArgMin: Operator<T, Output = Indexed<T>>,
    {
        let place = self.of_some(input.into(), ArgMin)?;
        Ok(place.map(|place| place.index() as usize))
    }

    /// Where the largest element is; in all else as [`argmin`](Self::argmin).
    ///
    /// # Errors
    ///
    /// As [`Reduction::run`](crate::Reduction::run).
    pub fn argmax<'a, T: Element>(
        &self,
        input: impl Into<View<'a, T>>,
    ) -> Result<Option<usize>, Error>
    where
        ArgMax: Operator<T, Output = Indexed<T>>,
    {
        let place = self.of_some(input.into(), ArgMax)?;
        Ok(place.map(|place| place.index() as usize))
    }

    /// What only an input of some elements has.
    fn of_some<'a, T: Element, O: Operator<T>>(
        &self,
        input: View<'a, T>,
        op: O,
    ) -> Result<Option<O::Output>, Error> {
        let value = self.reduce(input, op).run()?;
        Ok((!input.is_empty()).then_some(value))
    }
}
