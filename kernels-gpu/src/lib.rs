//! Every GPU kernel of warpfold, and nothing else.
//!
//! The modules follow the execution hierarchy, from one value to the whole grid:
//!
//! | module | level | contents |
//! |---|---|---|
//! | [`element`], [`op`] | a value | element types and operators |
//! | [`exact`] | a value | exact sums of floats |
//! | [`device`] | an instruction | instructions that Rust-CUDA's `cuda_std` lacks |
//! | [`mem`] | memory | [`Global`](mem::Global) and [`Shared`](mem::Shared), through which kernels access memory |
//! | [`warp`] | 32 lanes | warp-level reductions: which lanes must arrive, which lane holds the result |
//! | [`store`] | a warp | stores of adjacent results |
//! | [`tile`] | 32 lanes | a tile of the input, which a warp reduces by itself |
//! | [`block`] | a block | block-level reduction: the warps exchange partials through shared memory |
//! | [`grid`] | a grid | how the blocks of a grid combine their partials through global memory |
//! | [`grid_stride`] | a grid | how a grid of any size reads its input |
//! | [`single_pass`] | a grid | single-pass reduction, the default algorithm: the whole array in one launch |
//! | [`segments`] | a grid | segmented reductions: many adjacent parts of an array, each by itself |
//! | [`runs`] | a grid | the starts of runs of equal keys, found in one launch |
//! | [`axes`] | a grid | reductions along axes of an array, of any strides |
//! | [`exact_sum`] | a grid | exact sums of floats: no rounding, in any order |
//! | [`harris`] | a grid | the ladder: one file per rung; each rung fixes one fault of the rung before |
//! | [`keyed`] | a grid | reduction by key: every value is combined into the cell of its key; counts of keys |
//! | [`kepler`] | a grid | reductions by shuffles and atomics, with vectors of one, two and four elements |
//! | [`copy`] | a grid | copies, with accesses of 4, 8, 16 and 32 bytes |
//! | [`ceiling`] | a grid | the read ceiling: the fastest read of an array, as a limit for the ladder |
//! | [`entry`], [`needs`] | the host | the table of entry points, and the requirements of each on its launch |
//!
//! The feature `laws` adds the module `laws` on the host: tests for operators, those of this crate and your
//! own.
//!
//! Each kernel has a generic body (`harris::reduce_2::reduce_2::<T, O>`), which you can read and instantiate.
//! Entry points are made from it (`reduce_2_sum_i32`, `reduce_2_max_f32`, ...), which the host launches by
//! name.
//!
//! The crate compiles for the GPU through `cuda_builder`. It also compiles for the host, where the library uses
//! its operators and its table of entry points.

#![no_std]
#![cfg_attr(
    target_arch = "nvptx64",
    feature(f16, link_llvm_intrinsics),
    allow(internal_features)
)]
// The feature f16 is for conversions of 16-bit floats, `link_llvm_intrinsics` for `device::mul_add`. `cuda_builder` enables
// `asm_experimental_arch` for the crate that it builds: for this crate if it has its own entry points, but not if it is a
// dependency of other kernels.
#![cfg_attr(
    all(target_arch = "nvptx64", not(feature = "library")),
    feature(asm_experimental_arch)
)]

// The macros use the crate's name, as in other crates.
extern crate self as kernels_gpu;

// For the laws, and for the square root of a result on the host.
#[cfg(not(target_arch = "nvptx64"))]
extern crate std;

pub mod axes;
pub mod block;
pub mod ceiling;
pub mod copy;
pub mod device;
pub mod element;
pub mod entry;
pub mod exact;
pub mod exact_sum;
pub mod filter;
pub mod grid;
pub mod grid_stride;
pub mod groups;
pub mod harris;
pub mod items;
pub mod kepler;
pub mod keyed;
#[cfg(all(feature = "laws", not(target_arch = "nvptx64")))]
pub mod laws;
pub mod mem;
pub mod needs;
pub mod op;
pub mod runs;
pub mod segments;
pub mod single_pass;
pub mod store;
pub mod tile;
pub mod warp;

#[doc(hidden)]
pub use cuda_std;
pub use kernels_gpu_macros::kernels;
#[doc(hidden)]
pub use pastey;

/// The names that a crate of kernels needs: `use kernels_gpu::prelude::*`.
pub mod prelude {
    pub use crate::element::{Element, Indexed, bf16, f16};
    pub use crate::kernels;
    pub use crate::op::*;
    pub use kernels_gpu_macros::{Element, Value};
}
