//! The interface for kernels: thread indices, synchronisation, memory, atomics.
//!
//! The crate has the module paths, names, signatures and safety of Rust-CUDA's `cuda_std`. It compiles for
//! the target `nvptx64-nvidia-cuda` with an unmodified rustc; `cuda_builder` runs that compiler. A crate of
//! kernels that uses only what both crates have can switch between them in its manifest.
//!
//! ```
//! use cuda_std::prelude::*;
//!
//! #[kernel]
//! pub unsafe fn add(a: &[f32], b: &[f32], c: *mut f32) {
//!     let i = thread::index_1d() as usize;
//!     if i < a.len() {
//!         // SAFETY: the host passes as many elements in `c` as in `a`; each `i` has one thread.
//!         unsafe { c.add(i).write(a[i] + b[i]) };
//!     }
//! }
//! ```
//!
//! # Differences to Rust-CUDA
//!
//! | this crate | Rust-CUDA |
//! |---|---|
//! | **corrected** | |
//! | `warp_shuffle_up` shifts values | returns each lane's own value (the clamp operand is that of `down`) |
//! | the width of a shuffle is checked | the check accepts nearly every width |
//! | `thread::grid_fence` orders accesses for the whole grid | for the block |
//! | `System*` atomics have system scope | device scope |
//! | orderings that an atomic does not support fail the build | panic at run time |
//! | `misc::profiler_counter` assembles | passes a register where an immediate is required |
//! | `GpuFloat::log2` of `f32` has base 2 | base 10 |
//! | **different** | |
//! | `warp_reduce` works on every device (with shuffles on 7.5) | requires compute capability 8.0 |
//! | `glam` has `UVec2` and `UVec3` with fields, `new`, `ZERO`, `element_product` | is the whole crate `glam` |
//! | `sync_threads_and` and `_or` return 1 or 0 | return non-zero or 0 |
//! | `address_space`: `shared`, `global` | `constant` and `local` too |
//! | `#[kernel]` flattens `&mut [T]`, accepts a module's name, rejects `&mut T` and aliases of slices | accepts hints, rejects `&mut [T]` |
//! | atomics on raw pointers work on the host | panic |
//! | a panic is a `trap` without a message; with `cuda_builder`'s `panic_messages` it prints file, line, block, thread and message | a `trap` |
//! | [`io`]'s macros format through the driver without an allocator, and reject what C cannot print | format on the GPU, in heap memory |
//! | the prelude has no `assert_eq` and `assert_ne`; `core`'s are used | has its own |
//! | [`float::GpuFloat`] has the same bits on CPU and GPU | libdevice on the GPU, `std` on the CPU |
//! | **added** | |
//! | `atomic::{Atomic, BlockAtomic, SystemAtomic}{I32, U32, I64, U64}` | float types only |
//! | `swap`, `compare_exchange`, `fetch_min`, `fetch_max` on all atomic types | |
//! | `atomic_fetch_{min,max}_{f32,f64}_*` | |
//! | `thread::block_fence`, `cfg::cuda_arch`, [`float16`], `#[launch_bounds]` | |
//! | [`float::ApproxFloat`], `GpuFloat::rsqrt` | |
//! | **missing** | |
//! | | `alloc`, `rt`, `intrinsics`, `cfg::ComputeCapability`, `vek`, `#[externally_visible]` |
//!
//! # On the host
//!
//! The crate compiles for the host, so that kernels are checked, documented and tested like other code. With
//! the feature `simulator`, kernels also run there, in a launch of `cuda_sim::Simulator`. Functions that need
//! a grid panic with their name outside a launch. Atomics, [`mod@float`], [`float16`] and statics work
//! everywhere. The feature is off by default and changes nothing on the device.

#![no_std]
#![cfg_attr(
    target_arch = "nvptx64",
    feature(asm_experimental_arch, f16, link_llvm_intrinsics, rustc_attrs),
    allow(internal_features) // LLVM's intrinsics by name, see `arch::nvptx`
)]

#[cfg(not(target_arch = "nvptx64"))]
extern crate std;

mod arch;
pub mod atomic;
pub mod cfg;
pub mod float;
pub mod float16;
pub mod glam;
pub mod io;
#[doc(hidden)]
#[allow(missing_docs)] // used by the code that `#[kernel]` generates
pub mod kernel_parameter;
pub mod mem;
pub mod misc;
#[cfg(any(target_arch = "nvptx64", test))]
mod panics;
pub mod ptr;
pub mod shared;
pub mod thread;
pub mod warp;

pub use cuda_std_macros::{address_space, gpu_only, kernel, launch_bounds, print, println};
pub use half;
pub use half::{bf16, f16};

/// The items that most kernels use.
pub mod prelude {
    pub use crate::{address_space, bf16, f16, kernel, print, println, shared_array, thread, warp};
}
