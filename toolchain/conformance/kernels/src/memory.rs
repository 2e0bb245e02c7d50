//! Address spaces of pointers, and the sizes of shared memory.

use core::hint::black_box;
use core::mem::MaybeUninit;

use crate::io::Io;
use cuda_std::mem::{dynamic_smem_size, total_smem_size};
use cuda_std::ptr::{
    AddressSpace, convert_generic_to_specific_address_space,
    convert_specific_address_space_to_generic, is_in_address_space,
};
use cuda_std::shared::dynamic_shared_mem;
use cuda_std::shared_array;

/// The pointer points into global memory.
pub const GLOBAL: u64 = 1;
/// The pointer points into shared memory.
pub const SHARED: u64 = 2;
/// The pointer points into constant memory.
pub const CONSTANT: u64 = 4;
/// The pointer points into local memory.
pub const LOCAL: u64 = 8;
/// Converting it to its space and back returns the same pointer.
pub const RETURNS: u64 = 16;

/// Bytes of static shared memory in [`spaces`].
pub const STATIC_BYTES: u64 = 512;

/// The address space of `pointer`, in the bits above.
///
/// # Safety
/// It points at a word of `space`.
#[inline(always)]
unsafe fn describe(pointer: *const u64, space: AddressSpace) -> u64 {
    // Hides the pointer's origin from the compiler.
    let pointer = black_box(pointer);
    let spaces = [
        (AddressSpace::Global, GLOBAL),
        (AddressSpace::Shared, SHARED),
        (AddressSpace::Constant, CONSTANT),
        (AddressSpace::Local, LOCAL),
    ];
    let mut bits = 0;
    for (candidate, bit) in spaces {
        // SAFETY: the caller's word.
        if unsafe { is_in_address_space(pointer, candidate) } {
            bits |= bit;
        }
    }
    // SAFETY: the caller promises the space.
    let back = unsafe {
        let specific = convert_generic_to_specific_address_space(pointer, space);
        convert_specific_address_space_to_generic(specific, space)
    };
    if back == pointer {
        bits | RETURNS
    } else {
        bits
    }
}

/// Describes pointers to global, dynamic shared, static shared and local memory. Then writes the sizes of
/// dynamic and of all shared memory in bytes.
///
/// # Safety
/// One thread.
#[inline(always)]
pub unsafe fn spaces(io: Io) {
    let fixed = shared_array![u64; STATIC_BYTES as usize / 8];
    let mut local = [MaybeUninit::<u64>::uninit(); 4];
    let pointers = [
        (io.output_word(0), AddressSpace::Global),
        (dynamic_shared_mem::<u64>(), AddressSpace::Shared),
        (fixed, AddressSpace::Shared),
        (local.as_mut_ptr().cast(), AddressSpace::Local),
    ];
    for (i, (pointer, space)) in pointers.into_iter().enumerate() {
        // SAFETY: each lies where it is said to.
        io.write(i, unsafe { describe(pointer, space) });
    }
    io.write(4, dynamic_smem_size().into());
    io.write(5, total_smem_size().into());
}
