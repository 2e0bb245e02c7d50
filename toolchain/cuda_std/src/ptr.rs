//! Which memory a pointer points at.
//!
//! Rust's pointers are *generic*: one 64-bit range in which each address space has its window. An
//! access through a pointer whose space LLVM sees is `ld.global`, `st.shared` and so on; else it is
//! a slower generic `ld`. On the host every function here
//! needs a simulated thread around it, and panics without.
//!
//! PTX ISA: `isspacep`, `cvta`.

use crate::arch;

/// The memories of a GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AddressSpace {
    /// The device's memory, the same for all threads.
    Global,
    /// The block's.
    Shared,
    /// Read only, the same for all threads.
    Constant,
    /// The thread's own: its stack.
    Local,
}

/// Whether `ptr` points at `address_space`. `isspacep`, or a constant where LLVM knows the answer.
///
/// # Safety
///
/// `ptr` is valid for a `T`.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub unsafe fn is_in_address_space<T>(ptr: *const T, address_space: AddressSpace) -> bool {
    let ptr = ptr.cast();
    match address_space {
        AddressSpace::Global => arch::is_global(ptr),
        AddressSpace::Shared => arch::is_shared(ptr),
        AddressSpace::Constant => arch::is_constant(ptr),
        AddressSpace::Local => arch::is_local(ptr),
    }
}

/// The address that instructions of `address_space` use for what `ptr` points at. `cvta.to`.
///
/// The result is for assembly only: as a Rust pointer it points elsewhere.
///
/// # Safety
///
/// `ptr` is valid for a `T` and points at `address_space`.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub unsafe fn convert_generic_to_specific_address_space<T>(
    ptr: *const T,
    address_space: AddressSpace,
) -> *const T {
    arch::to_space(ptr as u64, address_space) as *const T
}

/// The generic pointer to what instructions of `address_space` find at the address `ptr`. `cvta`.
///
/// # Safety
///
/// `ptr` is the address of a valid `T` in `address_space`.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub unsafe fn convert_specific_address_space_to_generic<T>(
    ptr: *const T,
    address_space: AddressSpace,
) -> *const T {
    arch::to_generic(ptr as u64, address_space) as *const T
}
