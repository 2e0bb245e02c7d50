//! Every GPU kernel of warpfold, and nothing else.
//!
//! The folders follow the execution hierarchy, from one value to the whole grid:
//!
//! | module | level | holds |
//! |---|---|---|
//! | [`element`], [`op`] | a value | what can be reduced, and by which operator |
//! | [`device`] | an instruction | what Rust-CUDA's `cuda_std` does not offer |
//! | [`mem`] | memory | [`Global`](mem::Global) and [`Shared`](mem::Shared), the only way kernels touch it |
//! | [`warp`] | 32 lanes | the cooperative steps of a warp: who must arrive, who holds the result |
//! | [`block`] | a block | the cooperative steps of a block: its warps meet in shared memory |
//! | [`grid_stride`], [`grid`] | a grid | how it reads an array; the cooperative step of a grid: its blocks meet in global memory |
//! | [`single_pass`] | a grid | whole reductions in one launch: what the library does where nobody says otherwise |
//! | [`harris`] | a grid | the ladder: one rung, one file, each mending what the one before got wrong |
//! | [`keyed`] | a grid | reduction by key: an element goes into the cell that its key names |
//! | [`kepler`] | a grid | by shuffles and atomics, any operator, vectors of one, two and four |
//! | [`copy`] | a grid | copies, by accesses of 4, 8, 16 and 32 bytes |
//! | [`ceiling`] | a grid | the fastest read of an array this crate knows: what the ladder is measured against |
//! | [`entry`], [`needs`] | the host's view | the one table from which bodies become named entry points, and what each needs of its launch |
//!
//! A kernel is written twice in name only: a generic body (`harris::reduce_2::reduce_2::<T, O>`)
//! that anyone can read and instantiate, and the entry points made from it
//! (`reduce_2_sum_i32`, `reduce_2_max_f32`, ...) that the host launches by name.
//!
//! The crate compiles for the GPU through `cuda_builder` and, unchanged, for the host,
//! where the library takes the operators and the table of entries from it.

#![no_std]
#![cfg_attr(target_arch = "nvptx64", feature(f16))]
// the conversions of 16-bit floats
// `cuda_builder` enables this for the crate that it builds: for this one where it has entries of its own, but not
// where it is a dependency of other kernels.
#![cfg_attr(
    all(target_arch = "nvptx64", not(feature = "library")),
    feature(asm_experimental_arch)
)]

// The macros name the crate as others do.
extern crate self as kernels_gpu;

// For the square root of a result, which the caller takes on the host.
#[cfg(not(target_arch = "nvptx64"))]
extern crate std;

pub mod block;
pub mod ceiling;
pub mod copy;
pub mod device;
pub mod element;
pub mod entry;
pub mod grid;
pub mod grid_stride;
pub mod harris;
pub mod in_order;
pub mod items;
pub mod kepler;
pub mod keyed;
pub mod mem;
pub mod needs;
pub mod op;
pub mod single_pass;
pub mod warp;

#[doc(hidden)]
pub use cuda_std;
pub use kernels_gpu_macros::kernels;
#[doc(hidden)]
pub use pastey;

/// What a crate of kernels needs: `use kernels_gpu::prelude::*`.
pub mod prelude {
    pub use crate::element::{Element, Indexed, bf16, f16};
    pub use crate::kernels;
    pub use crate::op::*;
    pub use kernels_gpu_macros::{Element, Value};
}
