//! What a kernel may say: where it runs, how its threads talk, how memory is shared.
//!
//! This crate has Rust-CUDA's module paths, names, signatures and safety, and compiles with the
//! `nvptx64-nvidia-cuda` target of an unmodified rustc; `cuda_builder` drives that. A kernel crate
//! that keeps to what both have can change from one to the other in its manifest.
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
//! # What differs from Rust-CUDA
//!
//! | here | there |
//! |---|---|
//! | **corrected** | |
//! | `warp_shuffle_up` shifts | gives each lane its own value (the clamp operand is that of `down`) |
//! | the width of a shuffle is checked | the check passes nearly everything |
//! | `thread::grid_fence` orders for the whole grid | orders for the block |
//! | `System*` atomics have system scope | device scope |
//! | orderings that an atomic cannot have fail the build | panic at run time |
//! | `misc::profiler_counter` assembles | needs an immediate, has a register |
//! | `GpuFloat::log2` of `f32` is to base 2 | to base 10 |
//! | **different** | |
//! | `warp_reduce` works on every device (shuffles on 7.5) | needs compute capability 8.0 |
//! | `glam` has `UVec2` and `UVec3` with members, `new`, `ZERO`, `element_product` | is all of `glam` |
//! | `sync_threads_and` and `_or` give 1 or 0 | give non-zero or 0 |
//! | `address_space`: `shared`, `global` | `constant` and `local` too |
//! | `#[kernel]` flattens `&mut [T]`, takes a module's name, refuses `&mut T` and aliases of slices | hints as arguments, refuses `&mut [T]` |
//! | atomics on raw pointers work on the host | panic |
//! | a panic is a `trap` without a message; with `cuda_builder`'s `panic_messages` it prints file, line, block, thread and message | a `trap` |
//! | [`io`]'s macros format through the driver, without an allocator, and refuse what C cannot print | format on the GPU, into memory from its heap |
//! | the prelude has no `assert_eq`, `assert_ne`: those of `core` | has its own |
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
//! # The host
//!
//! Everything compiles for the host, so that kernels are checked, documented and tested like any
//! other code. With the feature `simulator` it also works there, in the threads that
//! `cuda_sim::Simulator` runs on the CPU. What needs a grid around it panics with its name where
//! there is none; atomics, [`mod@float`], [`float16`] and statics work anywhere. The feature is off by default and
//! changes nothing on the device.

#![no_std]
#![cfg_attr(
    target_arch = "nvptx64",
    feature(asm_experimental_arch, f16, link_llvm_intrinsics, rustc_attrs),
    allow(internal_features) // LLVM's intrinsics by name: `arch::nvptx` says which
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
#[allow(missing_docs)] // written into kernel crates by `#[kernel]`
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

/// What most kernels use.
pub mod prelude {
    pub use crate::{address_space, bf16, f16, kernel, print, println, shared_array, thread, warp};
}
