//! Reductions of the array of all ranks by name.

use kernels_gpu::element::{Element, Extrema, Indexed, Moments};
use kernels_gpu::op::{
    ArgMax, ArgMin, Dot, Max, MeanVariance, Min, MinMax, Product, Sum, SumSquares, SumWide,
};

use super::distributed::Distributed;
use crate::determinism::Determinism;
use crate::error::Error;
use crate::input::Input;
use crate::number::{Mean, Norm, Number, Predicate};
use crate::reduced_by::ReducedBy;

/// Reductions by name, as those of [`Device`](crate::Device): they have the same result as there for the whole array. All
/// others are [`reduce`](Self::reduce) with the operator.
///
/// Their errors are those of [`reduce`](Self::reduce).
impl Distributed {
    /// The sum, as [`Device::sum`](crate::Device::sum).
    ///
    /// # Errors
    ///
    /// As [`reduce`](Self::reduce).
    pub fn sum<'a, T: ReducedBy<Sum, Output = T>>(
        &self,
        input: impl Input<'a, T>,
    ) -> Result<T, Error> {
        self.reduce(input, Sum)
    }

    /// The sum in 64 bits, as [`Device::sum_wide`](crate::Device::sum_wide).
    ///
    /// # Errors
    ///
    /// As [`reduce`](Self::reduce).
    pub fn sum_wide<'a, T: ReducedBy<SumWide>>(
        &self,
        input: impl Input<'a, T>,
    ) -> Result<<T as ReducedBy<SumWide>>::Output, Error> {
        self.reduce(input, SumWide)
    }

    /// The product, as [`Device::product`](crate::Device::product).
    ///
    /// # Errors
    ///
    /// As [`reduce`](Self::reduce).
    pub fn product<'a, T: ReducedBy<Product, Output = T>>(
        &self,
        input: impl Input<'a, T>,
    ) -> Result<T, Error> {
        self.reduce(input, Product)
    }

    /// The smallest element, as [`Device::min`](crate::Device::min).
    ///
    /// # Errors
    ///
    /// As [`reduce`](Self::reduce).
    pub fn min<'a, T: ReducedBy<Min, Output = Option<T>>>(
        &self,
        input: impl Input<'a, T>,
    ) -> Result<Option<T>, Error> {
        self.reduce(input, Min)
    }

    /// The largest element, as [`Device::max`](crate::Device::max).
    ///
    /// # Errors
    ///
    /// As [`reduce`](Self::reduce).
    pub fn max<'a, T: ReducedBy<Max, Output = Option<T>>>(
        &self,
        input: impl Input<'a, T>,
    ) -> Result<Option<T>, Error> {
        self.reduce(input, Max)
    }

    /// The smallest and the largest element, as [`Device::min_max`](crate::Device::min_max).
    ///
    /// # Errors
    ///
    /// As [`reduce`](Self::reduce).
    pub fn min_max<'a, T: ReducedBy<MinMax, Output = Option<Extrema<T>>>>(
        &self,
        input: impl Input<'a, T>,
    ) -> Result<Option<Extrema<T>>, Error> {
        self.reduce(input, MinMax)
    }

    /// The index of the smallest element in the whole array, as [`Device::argmin`](crate::Device::argmin).
    ///
    /// # Errors
    ///
    /// As [`reduce`](Self::reduce).
    pub fn argmin<'a, T: ReducedBy<ArgMin, Output = Option<Indexed<T>>>>(
        &self,
        input: impl Input<'a, T>,
    ) -> Result<Option<u64>, Error> {
        Ok(self.reduce(input, ArgMin)?.map(|found| found.index()))
    }

    /// The index of the largest element in the whole array, as [`Device::argmax`](crate::Device::argmax).
    ///
    /// # Errors
    ///
    /// As [`reduce`](Self::reduce).
    pub fn argmax<'a, T: ReducedBy<ArgMax, Output = Option<Indexed<T>>>>(
        &self,
        input: impl Input<'a, T>,
    ) -> Result<Option<u64>, Error> {
        Ok(self.reduce(input, ArgMax)?.map(|found| found.index()))
    }

    /// The mean, as [`Device::mean`](crate::Device::mean).
    ///
    /// # Errors
    ///
    /// As [`reduce`](Self::reduce).
    pub fn mean<'a, T: Number>(&self, input: impl Input<'a, T>) -> Result<Option<f64>, Error> {
        let views = input.into_views();
        if self.is_exact::<T, T::MeanBy>() {
            let sum = self.accumulate_views::<T, T::MeanBy>(views, T::MEAN_BY)?;
            return Ok((!sum.is_empty()).then(|| sum.mean()));
        }
        let by_mean = self.reduce_views::<T, T::MeanBy>(views, T::MEAN_BY)?;
        Ok(by_mean.mean(self.len::<T>(views)? as usize))
    }

    /// Mean, variance and count, as [`Device::mean_variance`](crate::Device::mean_variance).
    ///
    /// # Errors
    ///
    /// As [`reduce`](Self::reduce).
    pub fn mean_variance<'a, T: ReducedBy<MeanVariance, Output = Option<Moments>>>(
        &self,
        input: impl Input<'a, T>,
    ) -> Result<Option<Moments>, Error> {
        self.reduce(input, MeanVariance)
    }

    /// The Euclidean norm, as [`Device::norm_l2`](crate::Device::norm_l2).
    ///
    /// # Errors
    ///
    /// As [`reduce`](Self::reduce).
    pub fn norm_l2<'a, T: ReducedBy<SumSquares, Output: Norm>>(
        &self,
        input: impl Input<'a, T>,
    ) -> Result<f64, Error> {
        let views = input.into_views();
        if self.is_exact::<T, T::By>() {
            let squares = self.accumulate_views::<T, T::By>(views, T::by(SumSquares))?;
            return Ok(squares.sqrt());
        }
        Ok({ self.reduce_views::<T, T::By>(views, T::by(SumSquares)) }?.norm())
    }

    /// The dot product, as [`Device::dot`](crate::Device::dot).
    ///
    /// # Errors
    ///
    /// As [`reduce`](Self::reduce).
    pub fn dot<'a, T: Element>(
        &self,
        a: impl Input<'a, T>,
        b: impl Input<'a, T>,
    ) -> Result<<(T, T) as ReducedBy<Dot>>::Output, Error>
    where
        (T, T): ReducedBy<Dot>,
    {
        self.reduce((a, b), Dot)
    }

    /// The number of elements for which the predicate holds, as [`Device::count`](crate::Device::count).
    ///
    /// # Errors
    ///
    /// As [`reduce`](Self::reduce).
    pub fn count<'a, T: Number>(
        &self,
        input: impl Input<'a, T>,
        predicate: Predicate<T>,
    ) -> Result<u64, Error> {
        self.total("count", self.device().count(input, predicate))
    }

    /// Whether this operator is computed without rounding.
    fn is_exact<I: crate::Items, O: kernels_gpu::entry::SinglePass<I>>(&self) -> bool {
        self.device().level() == Determinism::Exact && !O::ANY_ORDER
    }
}
