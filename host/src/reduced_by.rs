//! Which operators reduce an element, as a bound on the element.

use kernels_gpu::entry::SinglePass;

use crate::input::Items;

/// Items that the operator `O` reduces. `T: ReducedBy<Sum>` says the same as `Sum: SinglePass<T>`, and follows
/// from it.
///
/// A bound on the items can be a part of another bound: every [`Number`](crate::Number) is reduced by the
/// operators of all calls by name, so that a function over numbers needs no other bound.
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
    /// What the reduction gives.
    type Output;

    /// The operator, as one with a kernel.
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
