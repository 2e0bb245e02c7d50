//! The ladder: one reduction, written eight times; each rung fixes one fault of the rung before.
//!
//! After Mark Harris, "Optimizing Parallel Reduction in CUDA", in the form of the post "CUDA 006 - Reduction"
//! (WangYu::Space, 2025), whose names the rungs keep.
//!
//! | rung | how it works | remaining fault |
//! |---|---|---|
//! | [`naive`] | one atomic per element | all threads wait for one address |
//! | [`shared_memory`] | one atomic per element in shared memory, one per block in global memory | the threads of a block wait for one address |
//! | [`reduce_0`] | a tree instead of atomics | scattered threads work: divergent warps |
//! | [`reduce_1`] | adjacent threads work | strided addresses: bank conflicts |
//! | [`reduce_2`] | adjacent addresses | half of the threads never add |
//! | [`reduce_3`] | every thread adds while it loads | barriers for the last 32 values |
//! | [`reduce_4`] | the last warp uses shuffles | two loads per thread: too few in flight |
//! | [`reduce_5`] | many loads per thread, all in flight | 4-byte loads; one launch per level of partials |
//!
//! [`reduce_2_warp`] is a branch of the ladder: the last warp as it was before shuffles, from the post "Parallel
//! Reduction with CUDA" (shreeraman karikalan, 2020).
//!
//! From `reduce_0` on, a launch stores one partial per block. The host launches the same kernel on the partials
//! until one value is left.
//!
//! The rungs differ from the post in four ways. Shared memory has an element for each thread; the post's host
//! function gives a block four bytes for each *block* of the grid. In every rung an element past the end counts as the identity;
//! in the post's `reduce_3` and `reduce_4` such a thread does not write its element of scratch. Indices of
//! global memory have 64 bits. The unrolled [`reduce_5`] checks once whether all of its chunks are inside the
//! input, not once per chunk.
//!
//! # Why two rungs are slower than the rung before
//!
//! On an H200, two rungs are slower than the rung before (400 million `i32`, 256 threads,
//! `benches/records/h200/2026-11-20`). Nsight Compute shows why (`benches/records/h200/2026-11-21/profile.md`):
//!
//! - [`reduce_0`] executes four times the instructions of [`shared_memory`], because for the atomic the
//!   compiler first combines the values of a warp. The barriers are not the cause.
//!
//!   | | `shared_memory` | `reduce_0` |
//!   |---|---|---|
//!   | instructions per warp | 30 | 121 |
//!   | busy issue slots | 20 % | 77 % |
//!   | barriers | 2 | 9 |
//! - [`reduce_1`] fixes a divergence that costs nothing here: the compiler predicates the tree, so that in both
//!   rungs every warp issues the loads of every step, whether or not its lanes need them. In exchange the new
//!   addresses cost time:
//!
//!   | | `reduce_0` | `reduce_1` |
//!   |---|---|---|
//!   | bank conflicts per block | | 105 |
//!   | busy pipe of shared memory | 76 % | 89 % |
//!   | instructions for the indices | | 13 % more |
//!
//! `cargo xtask ladder --sim` shows, without a GPU, what each rung requires of the hardware: lanes per request,
//! bank conflicts, sectors and barriers.
//!
//! # Requirements of every launch
//!
//! - A one-dimensional grid and a one-dimensional block of `threads`, a power of two from 32 to 1024.
//! - `output` holds one element per block. For [`naive`] and [`shared_memory`] it holds one element, which is
//!   the operator's identity before the launch.
//! - `scratch` holds `threads` elements ([`shared_memory`]: one; [`naive`]: none).
//! - Enough blocks for `input.len()` elements, as each rung documents. The input may have any length and any
//!   start: no thread reads past the end, and a thread without an element contributes the identity.

pub mod naive;
pub mod reduce_0;
pub mod reduce_1;
pub mod reduce_2;
pub mod reduce_2_warp;
pub mod reduce_3;
pub mod reduce_4;
pub mod reduce_5;
pub mod shared_memory;

use cuda_std::thread::block_dim_x;

/// The threads of the block, with the range that every launch guarantees. With it the compiler knows that a
/// tree has at least one step, so the loop needs no check before the first.
///
/// # Safety
///
/// The launch meets the [requirements](self).
#[inline(always)]
unsafe fn block_threads() -> u32 {
    let threads = block_dim_x();
    // SAFETY: the contract of the launch.
    unsafe { core::hint::assert_unchecked((32..=1024).contains(&threads)) };
    threads
}
