//! What can be reduced.

use kernels_gpu::element::{Extrema, Indexed, Moments, ScaledSquares, bf16, f16};

/// An element type: `i8`, `i16`, `i32`, `i64`, `u8`, `u16`, `u32`, `u64`, [`f16`](struct@f16), [`bf16`], `f32`
/// or `f64`; or what some operators combine those in: [`Indexed`], [`Extrema`], [`Moments`],
/// [`ScaledSquares`].
///
/// Which operators a type has, and by which kernels, is
/// [`ENTRIES`](kernels_gpu::entry::ENTRIES); other combinations are
/// [`Error::NotAvailable`](crate::Error::NotAvailable).
///
/// The trait is sealed, since a kernel is found by the type's name and no other type has one:
///
/// ```compile_fail,E0277
/// # use cuda_std::warp::{WarpShuffleMode, WarpShuffleValue};
/// #[derive(Clone, Copy, Debug, PartialEq)]
/// struct Small(u8);
///
/// # impl WarpShuffleValue for Small {
/// #     unsafe fn shuffle(
/// #         _: WarpShuffleMode, _: u32, value: Self, _: u32, _: u32
/// #     ) -> (Self, bool) {
/// #         (value, true)
/// #     }
/// # }
/// impl kernels_gpu::element::Element for Small {
///     const NAME: &'static str = "i32";
/// }
/// unsafe impl warpfold::Element for Small {} // it is not `Sealed`
/// ```
///
/// # Safety
///
/// - Every pattern of bits is a valid value of the type, and it has no padding: its memory is
///   filled byte by byte and copied from the device.
/// - `NAME` is the name of the type that it is, or that has its size, alignment and ABI: entry
///   points are found by it, and are given pointers to this type.
pub unsafe trait Element: sealed::Sealed + kernels_gpu::element::Element {}

mod sealed {
    pub trait Sealed {}
}

macro_rules! elements {
    ($($element:ident),*) => {
        $(
            impl sealed::Sealed for $element {}

            // SAFETY: numbers without padding or invalid patterns. `NAME` is the type's own
            // name: `kernels_gpu::element` makes it of the type, and the test below looks.
            unsafe impl Element for $element {}
        )*

        #[cfg(test)]
        const NAMES: &[(&str, fn() -> &'static str)] = &[
            $((<$element as kernels_gpu::element::Element>::NAME, std::any::type_name::<$element>)),*
        ];
    };
}

elements!(i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64);

macro_rules! places {
    ($($value:ident),*) => { $(
        impl sealed::Sealed for Indexed<$value> {}

        // SAFETY: numbers without padding between them or behind, as `kernels_gpu` asserts. The
        // name is its own.
        unsafe impl Element for Indexed<$value> {}
    )* };
}

places!(i32, i64, u32, u64, f32, f64);

macro_rules! structures {
    ($($structure:ty),*) => { $(
        impl sealed::Sealed for $structure {}

        // SAFETY: numbers of one type, and so no padding between them or behind. The name is its own.
        unsafe impl Element for $structure {}
    )* };
}

structures!(
    Extrema<i32>,
    Extrema<i64>,
    Extrema<u32>,
    Extrema<u64>,
    Extrema<f32>,
    Extrema<f64>,
    Moments,
    ScaledSquares
);

/// The value whose bytes are all zero.
pub(crate) fn zero<T: Element>() -> T {
    // SAFETY: every pattern of bits is a valid `T` (Element's law).
    unsafe { std::mem::zeroed() }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_name_is_the_types_own() {
        assert_eq!(super::NAMES.len(), 12);
        for (name, type_name) in super::NAMES {
            assert_eq!(type_name().rsplit("::").next(), Some(*name));
        }
    }
}
