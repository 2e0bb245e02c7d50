//! What `#[kernel]` asks the compiler about a parameter's type; not an interface.

use core::marker::PhantomData;

/// Knows whether `T` takes two words. A constant of the type itself goes before one of a trait, so
/// `IS_FAT` is `Thin`'s unless one of the `impl`s below is for `T`.
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

/// A launch copies its arguments' bytes; nothing is dropped.
pub const fn is_copy<T: Copy>() {}
