//! Address spaces of pointers.
//!
//! Rust's pointers are *generic*: each address space is a window of one 64-bit range. If LLVM knows the
//! address space of a pointer, an access is `ld.global`, `st.shared` and so on; otherwise it is a slower
//! generic `ld`. On the host the functions here panic outside a launch of the simulator.
//!
//! PTX ISA: `isspacep`, `cvta`.

use crate::arch;

/// The address spaces of a GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AddressSpace {
    /// Global memory, shared by all threads.
    Global,
    /// Shared memory of the block.
    Shared,
    /// Constant memory: read-only, shared by all threads.
    Constant,
    /// Local memory of the thread: its stack.
    Local,
}

/// Whether `ptr` points into `address_space`: `isspacep`, or a constant if LLVM knows the answer.
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

/// The address of `ptr` within `address_space`, for its instructions: `cvta.to`.
///
/// Use the result in assembly only: as a Rust pointer it points to another location.
///
/// # Safety
///
/// `ptr` is valid for a `T` and points into `address_space`.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub unsafe fn convert_generic_to_specific_address_space<T>(
    ptr: *const T,
    address_space: AddressSpace,
) -> *const T {
    arch::to_space(ptr as u64, address_space) as *const T
}

/// The generic pointer for the address `ptr` within `address_space`: `cvta`.
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
