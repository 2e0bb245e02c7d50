//! The size of a block's shared memory. On the host both functions panic outside a launch of the simulator.
//!
//! PTX ISA: special registers `%dynamic_smem_size`, `%total_smem_size`.

use crate::arch;

/// The bytes of dynamic shared memory in each block.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn dynamic_smem_size() -> u32 {
    arch::dynamic_smem_size()
}

/// The bytes of static and dynamic shared memory in each block, rounded up to the hardware's unit.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn total_smem_size() -> u32 {
    arch::total_smem_size()
}
