//! Shared memory: one copy for each block, uninitialised at the block's start.
//!
//! # Conventions
//!
//! - Its size is known at compile time ([`shared_array!`](crate::shared_array) or `#[address_space(shared)]
//!   static mut`), or set by the launch ([`dynamic_shared_mem`]).
//! - A barrier ([`sync_threads`](crate::thread::sync_threads)) must separate a store from loads of other
//!   threads, and these loads from the next store to the same location.
//! - A static inside a generic function is shared by all instances of the function; C++ creates one for each
//!   instance.
//! - **On the host** `cuda_sim` gives each block its own arrays and dynamic memory. A static with
//!   `#[address_space(shared)]` is an ordinary static: all blocks share it, and accesses to it are not
//!   checked. Outside a launch an array is a static too, and [`dynamic_shared_mem`] panics.
//!
//! PTX ISA: state space `.shared`; `ld.shared`, `st.shared`.

use crate::arch;

/// Declares an array of `len` elements in shared memory and returns a `*mut T` to the first one:
/// `shared_array![f32; 256]`. `len` is a constant expression.
///
/// Each use in the source is one array; every evaluation of it returns the same pointer. Two uses are two
/// arrays. The memory is uninitialised and aligned for `T`.
///
/// The macro is safe; dereferencing the pointer is not, see the module's conventions.
#[macro_export]
macro_rules! shared_array {
    ($element:ty; $len:expr) => {{
        #[$crate::address_space(shared)]
        static mut ARRAY: [::core::mem::MaybeUninit<$element>; $len] =
            [const { ::core::mem::MaybeUninit::uninit() }; $len];
        $crate::shared::array((&raw mut ARRAY).cast::<$element>(), $len)
    }};
}

/// The dynamic shared memory, whose size the launch sets. It is uninitialised and aligned to 128 bytes. Every
/// call returns the same address, for any `T`.
///
/// [`mem::dynamic_smem_size`](crate::mem::dynamic_smem_size) returns its size in bytes.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn dynamic_shared_mem<T>() -> *mut T {
    arch::dynamic_shared_mem().cast()
}

/// The array that [`shared_array!`](crate::shared_array) declares; on the device, the static itself.
#[doc(hidden)]
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn array<T>(declared: *mut T, len: usize) -> *mut T {
    arch::shared_array(declared.cast(), len * size_of::<T>(), align_of::<T>()).cast()
}
