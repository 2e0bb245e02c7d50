//! What to reduce by.

use kernels_gpu::op::{Max, Min, Op, Sum};

use crate::element::Element;

/// An operator of elements `T`: [`Sum`], [`Min`] or [`Max`].
///
/// By which kernels is [`ENTRIES`](kernels_gpu::entry::ENTRIES); other combinations are
/// [`Error::NotAvailable`](crate::Error::NotAvailable).
///
/// The trait is sealed, since a kernel is found by the operator's name, and one of that name
/// with another meaning would get the wrong kernel's value:
///
/// ```compile_fail,E0277
/// #[derive(Clone, Copy)]
/// struct Product;
///
/// impl kernels_gpu::op::Op<i32> for Product {
///     const NAME: &'static str = "sum";
///     const IDENTITY: i32 = 1;
///
///     fn combine(a: i32, b: i32) -> i32 {
///         a.wrapping_mul(b)
///     }
/// }
/// impl warpfold::Operator<i32> for Product {} // it is not `Sealed`
/// ```
pub trait Operator<T: Element>: sealed::Sealed + Op<T> {}

impl<T: Element, O: sealed::Sealed + Op<T>> Operator<T> for O {}

mod sealed {
    pub trait Sealed {}
}

impl sealed::Sealed for Sum {}
impl sealed::Sealed for Min {}
impl sealed::Sealed for Max {}
