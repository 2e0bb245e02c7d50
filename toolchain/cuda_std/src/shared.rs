//! Shared memory: one copy per block, uninitialised at the start, gone at the end.
//!
//! # Conventions
//!
//! - Its size is known at compile time ([`shared_array!`](crate::shared_array) or
//!   `#[address_space(shared)] static mut`), or chosen by the launch ([`dynamic_shared_mem`]).
//! - A thread reads what another has written only after a barrier
//!   ([`sync_threads`](crate::thread::sync_threads)), and the next write to the same place needs
//!   another barrier before it.
//! - A static inside of a generic function is one and the same for all its instances; C++ makes one
//!   per instance.
//! - **On the host** `cuda_sim` gives each block its own arrays and dynamic memory. A static with
//!   `#[address_space(shared)]` is an ordinary static there, which all blocks share and no check
//!   sees. Outside of a simulated thread an array is a static too, and [`dynamic_shared_mem`]
//!   panics.
//!
//! PTX ISA: state space `.shared`; `ld.shared`, `st.shared`.

use crate::arch;

/// Reserves shared memory for `len` elements and gives a `*mut T` to the first:
/// `shared_array![f32; 256]`. `len` is a constant expression.
///
/// Each place in the source is one array, which every evaluation of it gives again. Two places have
/// two arrays. The memory is uninitialised; aligned for `T`.
///
/// The macro is safe; going through the pointer is not, see the module's conventions.
#[macro_export]
macro_rules! shared_array {
    ($element:ty; $len:expr) => {{
        #[$crate::address_space(shared)]
        static mut ARRAY: [::core::mem::MaybeUninit<$element>; $len] =
            [const { ::core::mem::MaybeUninit::uninit() }; $len];
        $crate::shared::array((&raw mut ARRAY).cast::<$element>(), $len)
    }};
}

/// The shared memory whose size the launch chose, uninitialised, aligned to 128 bytes; the same
/// pointer at each call, whatever `T`.
///
/// [`mem::dynamic_smem_size`](crate::mem::dynamic_smem_size) tells its size in bytes.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn dynamic_shared_mem<T>() -> *mut T {
    arch::dynamic_shared_mem().cast()
}

/// The array that [`shared_array!`](crate::shared_array) has declared: on the device just that.
#[doc(hidden)]
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn array<T>(declared: *mut T, len: usize) -> *mut T {
    arch::shared_array(declared.cast(), len * size_of::<T>(), align_of::<T>()).cast()
}
