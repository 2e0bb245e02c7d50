//! The device that a module is compiled for.

use crate::arch;

/// The compute capability times 100: 750 for 7.5, 900 for 9.0. CUDA's `__CUDA_ARCH__`.
///
/// Modules for several devices come from one build, so this is not a `const` in Rust. LLVM treats it as a
/// constant: a branch on it costs nothing, and the other arm may use instructions that the device lacks. On
/// the host it is the simulator's value, and panics outside a launch. An addition to Rust-CUDA, whose `cfg`
/// reads an environment variable.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn cuda_arch() -> u32 {
    arch::cuda_arch()
}
