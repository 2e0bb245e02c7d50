//! The bound [`ReducedBy`]: the operators that reduce an element.

use kernels_gpu::entry::SinglePass;

use crate::input::Items;

/// Items that the operator `O` reduces. `T: ReducedBy<Sum>` follows from `Sum: SinglePass<T>`.
///
/// Unlike `SinglePass`, it is a bound on the items, so another trait can include it. Every
/// [`Number`](crate::Number) has it for the operators of all calls by name; a function over numbers needs no
/// other bound.
///
/// ```
/// use warpfold::{Device, Error, Number};
///
/// fn spread<T: Number + std::ops::Sub<Output = T>>(device: &Device, x: &[T]) -> Result<Option<T>, Error> {
///     let x = device.upload(x)?;
///     Ok(device.min_max(&x)?.map(|extrema| extrema.max() - extrema.min()))
/// }
///
/// assert_eq!(spread(&Device::auto()?, &[3, -1, 2])?, Some(4));
/// # Ok::<(), warpfold::Error>(())
/// ```
pub trait ReducedBy<O>: Items {
    /// The type of the result.
    type Output;

    /// The operator, with its kernel.
    #[doc(hidden)]
    type By: SinglePass<Self, Output = <Self as ReducedBy<O>>::Output>;

    #[doc(hidden)]
    fn by(op: O) -> Self::By;
}

impl<I: Items, O: SinglePass<I>> ReducedBy<O> for I {
    type Output = O::Output;
    type By = O;

    fn by(op: O) -> O {
        op
    }
}
