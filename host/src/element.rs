//! Element types: the trait of `kernels-gpu`, and zero.

pub use kernels_gpu::element::Element;
pub(crate) use kernels_gpu::element::name_of;

/// The value whose bytes are all zero.
pub(crate) fn zero<T: Element>() -> T {
    // SAFETY: every bit pattern is a valid `T` (`Plain`).
    unsafe { std::mem::zeroed() }
}
