//! How much shared memory a block has. On the host both functions need a
//! simulated thread around them, and panic without.
//!
//! PTX ISA: special registers `%dynamic_smem_size`, `%total_smem_size`.

use crate::arch;

/// Bytes of dynamic shared memory that the launch gave each block.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn dynamic_smem_size() -> u32 {
    arch::dynamic_smem_size()
}

/// Bytes of shared memory of each block, static and dynamic, rounded up to the hardware's unit.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn total_smem_size() -> u32 {
    arch::total_smem_size()
}
