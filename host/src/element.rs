//! What can be reduced.

use cust::memory::DeviceCopy;

/// An element type: `i32`, `u32`, `i64`, `u64`, `f32` or `f64`.
///
/// Which operators a type has, and by which kernels, is
/// [`ENTRIES`](kernels_gpu::entry::ENTRIES); other combinations are
/// [`Error::NotAvailable`](crate::Error::NotAvailable).
///
/// # Safety
///
/// Every pattern of bits is a valid value of the type, and it has no padding: its memory is
/// filled byte by byte and copied from the device.
pub unsafe trait Element: kernels_gpu::element::Element + DeviceCopy {}

macro_rules! elements {
    ($($element:ident),*) => {
        $(
            // SAFETY: numbers without padding or invalid patterns.
            unsafe impl Element for $element {}
        )*
    };
}

elements!(i32, u32, i64, u64, f32, f64);

/// The value whose bytes are all zero.
pub(crate) fn zero<T: Element>() -> T {
    // SAFETY: every pattern of bits is a valid `T` (Element's law).
    unsafe { std::mem::zeroed() }
}
