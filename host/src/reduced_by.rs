//! Which operators reduce an element, as a bound on the element.

use kernels_gpu::entry::SinglePass;

use crate::buffer::View;
use crate::device::Device;
use crate::element::Element;
use crate::error::Error;

/// Elements that the operator `O` reduces. `T: ReducedBy<Sum>` says the same as `Sum: SinglePass<T>`, and follows
/// from it.
///
/// A bound on the elements can be a part of another bound: every [`Number`](crate::Number) is reduced by the
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
pub trait ReducedBy<O>: Element {
    /// What the reduction gives.
    type Output;

    /// Reduces, and waits.
    #[doc(hidden)]
    fn reduced(
        device: &Device,
        view: View<'_, Self>,
        op: O,
    ) -> Result<<Self as ReducedBy<O>>::Output, Error>;
}

impl<T: Element, O: SinglePass<T>> ReducedBy<O> for T {
    type Output = O::Output;

    fn reduced(device: &Device, view: View<'_, T>, op: O) -> Result<O::Output, Error> {
        device.reduce(view, op).run()
    }
}
