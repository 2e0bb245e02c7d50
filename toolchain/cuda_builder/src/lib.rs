//! Compiles a crate of kernels to PTX with a stock rustc: without nightly, CUDA SDK or nvcc.
//!
//! The API is that of Rust-CUDA's `CudaBuilder`; the compiler is different. In a `build.rs`:
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
//! 1. A nested cargo compiles the crate, and `core` from source, for `nvptx64-nvidia-cuda`. The result is one
//!    unoptimised bitcode module. The module `cargo` has the exact command.
//! 2. The libLLVM of the same rustc, called through its C interface, adds what rustc cannot express: address
//!    spaces and convergence (`passes`). Then it optimises and emits PTX, once for each architecture and module.
//! 3. Errors that the driver would report only at load become build errors, with the line of the kernels'
//!    source (`check`). Examples are undefined symbols and too much shared memory. Recursion is an error too.
//!
//! [`toolchain`] finds the compiler. The builder downloads nothing; if a part is missing, the error names it
//! and the command that installs it.
//!
//! # Differences to Rust-CUDA's builder
//!
//! - Several architectures from one build: [`CudaBuilder::arches`] and [`CudaBuilder::build_all`].
//! - Several modules from one build, so that a program loads only the kernels that it uses:
//!   [`CudaBuilder::split_modules`].
//! - `release(false)` keeps overflow checks and debug assertions, which trap on failure. LLVM optimises
//!   nevertheless.
//! - A panic is a `trap`; with [`CudaBuilder::panic_messages`] it prints its message and location.
//! - A recursive kernel is an error, unless [`CudaBuilder::allow_recursion`] permits it.
//! - The options of libNVVM (`nvvm_opts`, `optix`, `override_libm`) do not exist, because the builder does
//!   not use it.

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
