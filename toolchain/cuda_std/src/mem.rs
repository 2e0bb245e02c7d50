//! How much shared memory a block has. On the host both functions panic.
//!
//! PTX ISA: special registers `%dynamic_smem_size`, `%total_smem_size`.

use crate::arch;

/// Bytes of dynamic shared memory that the launch gave each block.
#[inline(always)]
pub fn dynamic_smem_size() -> u32 {
    arch::dynamic_smem_size()
}

/// Bytes of shared memory of each block, static and dynamic, rounded up to the hardware's unit.
#[inline(always)]
pub fn total_smem_size() -> u32 {
    arch::total_smem_size()
}
