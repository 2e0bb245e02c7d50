//! The device that a module is compiled for.

use crate::arch;

/// The compute capability times 100: 750 for 7.5, 900 for 9.0. CUDA's `__CUDA_ARCH__`.
///
/// One build makes modules for several devices, so this is no `const` to Rust. It is one to LLVM:
/// a branch on it costs nothing, and what the other arm says need not exist on this device. On the
/// host it is what the simulator was told, and panics without one. An addition to Rust-CUDA, whose
/// `cfg` reads an environment variable.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn cuda_arch() -> u32 {
    arch::cuda_arch()
}
