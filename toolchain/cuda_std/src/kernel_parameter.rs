//! Checks of a kernel parameter's type, for `#[kernel]`; not a public interface.
//!
//! ```
//! # #[derive(Clone, Copy)]
//! # struct Params;
//! type Pointer = *const f32;
//! #[cuda_std::kernel]
//! pub unsafe fn kernel(a: Pointer, b: Params, c: &Params, d: f32) {}
//! ```
//!
//! A slice that only the compiler recognises, and a type that is not `Copy`:
//!
//! ```compile_fail
//! type Slice = &'static [f32];
//! #[cuda_std::kernel]
//! pub unsafe fn kernel(a: Slice) {}
//! ```
//!
//! ```compile_fail
//! # struct Params;
//! #[cuda_std::kernel]
//! pub unsafe fn kernel(b: Params) {}
//! ```

use core::marker::PhantomData;

/// Determines whether `T` is a fat pointer. An inherent constant takes precedence over a trait's. So `IS_FAT`
/// is that of `Thin` unless one of the `impl`s below applies to `T`.
pub struct Parameter<T: ?Sized>(PhantomData<T>);

pub trait Thin {
    const IS_FAT: bool = false;
}

impl<T: ?Sized> Thin for Parameter<T> {}

impl<T> Parameter<&[T]> {
    pub const IS_FAT: bool = true;
}

impl<T> Parameter<&mut [T]> {
    pub const IS_FAT: bool = true;
}

impl<T> Parameter<*const [T]> {
    pub const IS_FAT: bool = true;
}

impl<T> Parameter<*mut [T]> {
    pub const IS_FAT: bool = true;
}

impl Parameter<&str> {
    pub const IS_FAT: bool = true;
}

/// A launch copies the bytes of its arguments and drops nothing.
pub const fn is_copy<T: Copy>() {}

#[cfg(test)]
mod tests {
    use super::*;

    type Slice = &'static [f32];

    #[test]
    fn only_what_takes_two_words_is_fat() {
        let fat = [
            Parameter::<Slice>::IS_FAT,
            Parameter::<&mut [u8]>::IS_FAT,
            Parameter::<*const [u8]>::IS_FAT,
            Parameter::<*mut [u8]>::IS_FAT,
            Parameter::<&str>::IS_FAT,
        ];
        let thin = [
            Parameter::<&[u8; 4]>::IS_FAT,
            Parameter::<*const u8>::IS_FAT,
            Parameter::<u64>::IS_FAT,
        ];
        assert_eq!((fat, thin), ([true; 5], [false; 3]));
    }
}
