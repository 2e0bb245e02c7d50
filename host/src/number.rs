//! The types that the calls by name accept.

use kernels_gpu::element::{Extrema, Indexed, Moments, ScaledSquares, bf16, f16};
use kernels_gpu::entry::SinglePass;
use kernels_gpu::exact::{Accumulator, Flags};
use kernels_gpu::op::{
    ArgMax, ArgMin, Count, Dot, Equal, Greater, InRange, IsNan, Less, Max, MeanVariance, Min,
    MinMax, NanArgMax, NanArgMin, NanMax, NanMeanVariance, NanMin, NanSum, Op, Product, Sum,
    SumAbs, SumSquares, SumWide, WeightedMean,
};

use crate::buffer::View;
use crate::device::Device;
use crate::element::zero;
use crate::error::Error;
use crate::input::{Input, Items, Views};
use crate::reduced_by::ReducedBy;

/// A number: `i8`, `i16`, `i32`, `i64`, `u8`, `u16`, `u32`, `u64`, [`f16`](struct@f16), [`bf16`], `f32` or
/// `f64`.
///
/// This bound is sufficient for every call by name:
///
/// ```
/// use warpfold::{Device, Error, Number};
///
/// fn total<T: Number>(device: &Device, x: &[T]) -> Result<T, Error> {
///     device.sum(&device.upload(x)?)
/// }
///
/// assert_eq!(total(&Device::auto()?, &[1.5, 2.0])?, 3.5);
/// # Ok::<(), warpfold::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a number that the library's kernels reduce",
    label = "not a number",
    note = "numbers are `i8` to `i64`, `u8` to `u64`, `f16`, `bf16`, `f32` and `f64`; for your own elements \
            use `device.reduce` with your own operators"
)]
pub trait Number:
    kernels_gpu::element::Number
    + ReducedBy<Sum, Output = Self>
    + ReducedBy<SumWide>
    + ReducedBy<Product, Output = Self>
    + ReducedBy<Min, Output = Option<Self>>
    + ReducedBy<Max, Output = Option<Self>>
    + ReducedBy<MinMax, Output = Option<Extrema<Self>>>
    + ReducedBy<ArgMin, Output = Option<Indexed<Self>>>
    + ReducedBy<ArgMax, Output = Option<Indexed<Self>>>
    + ReducedBy<MeanVariance, Output = Option<Moments>>
    + ReducedBy<SumAbs>
    + ReducedBy<SumSquares, Output: Norm>
{
    /// The result of [`Device::dot`](crate::Device::dot): `i64`, `u64` or `f64`.
    type Dot: Number;

    /// [`Device::dot`](crate::Device::dot).
    #[doc(hidden)]
    fn dot<'a>(
        device: &Device,
        a: impl Input<'a, Self>,
        b: impl Input<'a, Self>,
    ) -> Result<Self::Dot, Error>;

    /// The type of [`MEAN_BY`](Self::MEAN_BY): [`SumWide`], or [`MeanVariance`] for 64-bit integers.
    type MeanBy: SinglePass<Self, Output: Mean>;

    /// The operator of [`Device::mean`](crate::Device::mean), whose output gives the [`Mean`].
    const MEAN_BY: Self::MeanBy;

    /// [`Device::count`](crate::Device::count).
    #[doc(hidden)]
    fn count(
        device: &Device,
        input: <Self as Items>::Of<Views<'_>>,
        predicate: Predicate<Self>,
    ) -> Result<u64, Error>;
}

/// A floating-point number: [`f16`](struct@f16), [`bf16`], `f32` or `f64`.
///
/// This bound is also sufficient for the calls that ignore NaN.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a floating-point number",
    label = "not a float",
    note = "floats are `f16`, `bf16`, `f32` and `f64`; integers have no NaN: use the calls without `nan_` \
            for them"
)]
pub trait Float:
    Number
    + kernels_gpu::exact::Float
    + ReducedBy<NanSum, Output = Self>
    + ReducedBy<NanMin, Output = Option<Self>>
    + ReducedBy<NanMax, Output = Option<Self>>
    + ReducedBy<NanArgMin, Output = Option<Indexed<Self>>>
    + ReducedBy<NanArgMax, Output = Option<Indexed<Self>>>
    + ReducedBy<NanMeanVariance, Output = Option<Moments>>
{
    /// [`Device::weighted_mean`](crate::Device::weighted_mean).
    #[doc(hidden)]
    fn weighted_mean<'a>(
        device: &Device,
        values: impl Input<'a, Self>,
        weights: impl Input<'a, Self>,
    ) -> Result<Option<f64>, Error>;
}

macro_rules! floats {
    ($($float:ident)*) => { $(
        impl Float for $float {
            fn weighted_mean<'a>(
                device: &Device,
                values: impl Input<'a, Self>,
                weights: impl Input<'a, Self>,
            ) -> Result<Option<f64>, Error> {
                device.reduce((values, weights), WeightedMean).run()
            }
        }
    )* };
}

floats!(f16 bf16 f32 f64);

/// A condition on an element; see [`Device::count`](crate::Device::count).
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Predicate<T> {
    /// The element equals this value. -0.0 equals 0.0; a NaN equals nothing.
    Equal(T),
    /// The element is less than this value. False if either is a NaN.
    Less(T),
    /// The element is greater than this value. False if either is a NaN.
    Greater(T),
    /// The element is at least the first value, and less than the second. False for a NaN.
    InRange(T, T),
    /// The element is a NaN. False for integers.
    Nan,
    /// The element is not zero. True for a NaN.
    Nonzero,
}

macro_rules! numbers {
    ($($number:ident by $op:ident, $count_nan:expr;)*) => { $(
        impl Number for $number {
            type Dot = <Dot as Op<($number, $number)>>::Output;

            fn dot<'a>(
                device: &Device,
                a: impl Input<'a, Self>,
                b: impl Input<'a, Self>,
            ) -> Result<Self::Dot, Error> {
                device.reduce((a, b), Dot).run()
            }

            type MeanBy = $op;
            const MEAN_BY: $op = $op;

            fn count(
                device: &Device,
                input: View<'_, Self>,
                predicate: Predicate<Self>,
            ) -> Result<u64, Error> {
                let equal = |value| device.reduce(input, Count(Equal(value))).run();
                match predicate {
                    Predicate::Equal(value) => equal(value),
                    Predicate::Less(value) => device.reduce(input, Count(Less(value))).run(),
                    Predicate::Greater(value) => device.reduce(input, Count(Greater(value))).run(),
                    Predicate::InRange(least, end) => {
                        device.reduce(input, Count(InRange(least, end))).run()
                    }
                    Predicate::Nonzero => Ok(input.len() as u64 - equal(zero())?),
                    Predicate::Nan => {
                        let count: fn(&Device, View<'_, Self>) -> Result<u64, Error> = $count_nan;
                        count(device, input)
                    }
                }
            }
        }
    )* };
}

numbers! {
    i8 by SumWide, |device, input| device.check_owner(&input).map(|()| 0);
    i16 by SumWide, |device, input| device.check_owner(&input).map(|()| 0);
    i32 by SumWide, |device, input| device.check_owner(&input).map(|()| 0);
    i64 by MeanVariance, |device, input| device.check_owner(&input).map(|()| 0);
    u8 by SumWide, |device, input| device.check_owner(&input).map(|()| 0);
    u16 by SumWide, |device, input| device.check_owner(&input).map(|()| 0);
    u32 by SumWide, |device, input| device.check_owner(&input).map(|()| 0);
    u64 by MeanVariance, |device, input| device.check_owner(&input).map(|()| 0);
    f16 by SumWide, |device, input| device.reduce(input, Count(IsNan)).run();
    bf16 by SumWide, |device, input| device.reduce(input, Count(IsNan)).run();
    f32 by SumWide, |device, input| device.reduce(input, Count(IsNan)).run();
    f64 by SumWide, |device, input| device.reduce(input, Count(IsNan)).run();
}

/// A value from which a mean follows: the output of [`Number::MEAN_BY`].
///
/// ```
/// use warpfold::{Device, Mean, Number};
///
/// let device = Device::auto()?;
/// let pieces = [[1i32, 2, 3], [4, 5, 6]].map(Ok::<_, warpfold::Error>);
/// let sum = device.reduce_iter(i32::MEAN_BY, pieces)?;
/// assert_eq!(sum.mean(6), Some(3.5));
/// # Ok::<(), warpfold::Error>(())
/// ```
pub trait Mean {
    /// The mean of `n` elements; `None` if `n` is 0.
    fn mean(self, n: usize) -> Option<f64>;
}

macro_rules! integer_sums {
    ($($sum:ident)*) => { $(
        /// The nearest `f64`.
        impl Mean for $sum {
            fn mean(self, n: usize) -> Option<f64> {
                let mut sum = Accumulator::new();
                sum.add_integer(self.into(), 0);
                sum.add_flags(Flags::NOT_NEGATIVE_ZERO);
                sum.count_items(n as u64);
                (n > 0).then(|| sum.mean())
            }
        }
    )* };
}

integer_sums!(i64 u64);

impl Mean for f64 {
    fn mean(self, n: usize) -> Option<f64> {
        (n > 0).then(|| self / n as f64)
    }
}

impl Mean for Option<Moments> {
    fn mean(self, _: usize) -> Option<f64> {
        self.map(Moments::mean)
    }
}

/// A value from which a norm follows: the output of [`SumSquares`](crate::SumSquares) for the Euclidean norm,
/// of [`MinMax`](crate::MinMax) for the maximum norm.
pub trait Norm {
    /// The square root of the sum of the squares, or the larger absolute value.
    fn norm(self) -> f64;
}

impl<T: Number> Norm for Extrema<T> {
    fn norm(self) -> f64 {
        let (min, max) = (self.min().to_f64().abs(), self.max().to_f64().abs());
        // Either both are NaN, or neither is.
        if min > max { min } else { max }
    }
}

impl Norm for f64 {
    fn norm(self) -> f64 {
        // The sum is -0.0 for empty input; adding 0.0 makes it 0.0.
        (self + 0.0).sqrt()
    }
}

impl Norm for ScaledSquares {
    fn norm(self) -> f64 {
        let (large, medium, small) = (self.large(), self.medium(), self.small());
        let (of_large, of_small) = (ScaledSquares::OF_LARGE, ScaledSquares::OF_SMALL);
        if large > 0.0 || medium.is_nan() || large.is_nan() {
            // Scale the medium squares like the large ones; parts that underflow there are negligible.
            return (large + medium * of_large * of_large).sqrt() / of_large;
        }
        if medium > 0.0 {
            let root = small.sqrt() / of_small;
            return medium.sqrt().hypot(root);
        }
        (small + 0.0).sqrt() / of_small
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn norm(values: &[f64]) -> f64 {
        let squares = values.iter().map(|value| ScaledSquares::of(*value));
        squares
            .fold(ScaledSquares::NONE, ScaledSquares::plus)
            .norm()
    }

    #[test]
    fn norms_of_all_sizes() {
        let close = |got: f64, right: f64| (got / right - 1.0).abs() < 4.0 * f64::EPSILON;
        for scale in [
            1e-320, 1e-310, 1e-200, 1e-154, 1.0, 1e146, 1e147, 1e200, 3e307,
        ] {
            let got = norm(&[3.0 * scale, -4.0 * scale]);
            // Subnormal numbers have fewer digits.
            let right = 5.0 * scale;
            assert!(
                close(got, right) || (got - right).abs() <= 5e-324,
                "{scale}: {got}"
            );
        }
        // Ten thousand sequential additions.
        assert!((norm(&[1e-200; 10_000]) / 1e-198 - 1.0).abs() < 1e-12);
        assert!(close(norm(&[1e300, 1.0, 1e-300]), 1e300));
        assert!(close(norm(&[1.0, 1e-200]), 1.0));
        assert!(close(norm(&[3e-160, 4e-160, 1e-300]), 5e-160));
    }

    #[test]
    fn norms_of_empty_input_and_of_nan() {
        assert_eq!(norm(&[]).to_bits(), 0.0f64.to_bits());
        assert_eq!(norm(&[0.0, -0.0]).to_bits(), 0.0f64.to_bits());
        assert_eq!(norm(&[1e300, f64::INFINITY, 1.0]), f64::INFINITY);
        assert!(norm(&[f64::NAN, 1.0]).is_nan());
        assert!(norm(&[f64::NAN, 1e300]).is_nan());
        assert!(norm(&[f64::NAN, f64::INFINITY]).is_nan());
        assert!(norm(&[f64::NAN, 1e-300]).is_nan());
        assert_eq!((-0.0f64).norm().to_bits(), 0.0f64.to_bits());
        assert_eq!(norm(&[f64::MAX, f64::MAX]), f64::INFINITY);
    }
}
