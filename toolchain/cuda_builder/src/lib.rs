//! Compiles a crate of kernels to PTX with a stock rustc: no nightly, no CUDA SDK, no nvcc.
//!
//! Rust-CUDA's `CudaBuilder`, name for name, over another road to PTX. In a `build.rs`:
//!
//! ```no_run
//! use cuda_builder::{CudaBuilder, NvvmArch};
//!
//! # fn main() -> Result<(), cuda_builder::CudaBuilderError> {
//! CudaBuilder::new("../kernels")
//!     .arch(NvvmArch::Compute80)
//!     .copy_to("kernels.ptx")
//!     .build()?;
//! # Ok(())
//! # }
//! ```
//!
//! # How it works
//!
//! 1. A nested cargo compiles the crate and `core`, from source, for `nvptx64-nvidia-cuda` into
//!    one unoptimised bitcode module (`cargo`'s module has the exact command).
//! 2. The libLLVM of that very rustc, through its C interface, is told what rustc cannot say:
//!    what lies in shared memory, what must not be moved (`passes`), and then optimises and emits
//!    PTX, once per architecture and module.
//! 3. What the driver would refuse at load, such as symbols that no crate defines or too much shared
//!    memory, is refused here, and so is recursion: with the line of the kernels' source (`check`).
//!
//! Only [`toolchain`] knows where a compiler may be found. Nothing is downloaded; what is missing
//! is named, with the command that gets it.
//!
//! # What differs from Rust-CUDA's builder
//!
//! - Several architectures from one build: [`CudaBuilder::arches`] and [`CudaBuilder::build_all`].
//! - Several modules from one build, so that a program loads only the kernels it uses:
//!   [`CudaBuilder::split_modules`].
//! - `release(false)` keeps overflow checks and debug assertions (a failed one traps); LLVM
//!   optimises all the same.
//! - A panic is a `trap`; [`CudaBuilder::panic_messages`] makes it print where it is.
//! - A kernel that calls itself is an error, unless [`CudaBuilder::allow_recursion`] permits it.
//! - There is no libNVVM, so options of its own (`nvvm_opts`, `optix`, `override_libm`) do not
//!   exist.

mod arch;
mod builder;
mod cargo;
mod check;
mod error;
mod llvm;
mod no_std;
mod notes;
mod passes;
mod ptx;
mod stamp;
pub mod toolchain;

pub use arch::NvvmArch;
pub use builder::{CudaBuilder, Ptx};
pub use error::{CudaBuilderError, Finding, Site};
