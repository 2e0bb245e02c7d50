//! The ladder: one reduction, written eight times, each rung mending one fault of the rung
//! before. After Mark Harris, "Optimizing Parallel Reduction in CUDA", in the form of the post
//! "CUDA 006 - Reduction" (WangYu::Space, 2025), whose names the rungs keep.
//!
//! | rung | mends | still gets wrong |
//! |---|---|---|
//! | [`naive`] | nothing: one atomic per element | all threads queue for one address |
//! | [`shared_memory`] | the queue is per block | threads of a block still queue |
//! | [`reduce_0`] | a tree instead of a queue | scattered threads work: divergent warps |
//! | [`reduce_1`] | neighbouring threads work | strided addresses: bank conflicts |
//! | [`reduce_2`] | neighbouring addresses | half of the threads never add anything |
//! | [`reduce_3`] | every thread adds while loading | barriers for the last 32 values |
//! | [`reduce_4`] | the last warp shuffles | two loads per thread: too little in flight |
//! | [`reduce_5`] | many loads per thread, all in flight | 4-byte loads, a launch per level of partials |
//!
//! From `reduce_0` on, a launch leaves one partial per block, and the host launches the same
//! kernel on the partials until one value is left.
//!
//! Where the rungs differ from the post: an element past the end counts as the identity in every
//! rung (the post's `reduce_3` and `reduce_4` leave such a thread's scratch unwritten), indexes of
//! global memory are 64 bits wide, and the unrolled [`reduce_5`] asks once whether all of its
//! chunks are inside, not before each.
//!
//! # The ladder goes down before it goes up
//!
//! On an H200 (400 million `i32`, 256 threads, `benches/records/h200/2026-11-20`) two rungs are
//! slower than the one before. Nsight Compute says what they spend their time on
//! (`benches/records/h200/2026-11-21/profile.md`):
//!
//! - [`reduce_0`] executes 121 instructions per warp, [`shared_memory`] 30, because the compiler
//!   combines the values of a warp before the atomic. Its issue slots are 77 % busy, the other's
//!   20 %. It is not the barriers: a warp waits less at the nine of `reduce_0` than at the two of
//!   `shared_memory`.
//! - [`reduce_1`] mends a divergence that costs nothing there: the compiler predicates the tree, and
//!   in either rung every warp issues the loads of every step, with or without a lane to use them.
//!   What it brings costs: 105 bank conflicts per block, with which the pipe of shared memory is
//!   89 % busy instead of 76 %, and 13 % more instructions for its indexes.
//!
//! `cargo xtask ladder --sim` shows, without a GPU, what the source of each rung asks of the
//! hardware: lanes per request, bank conflicts, sectors, barriers.
//!
//! # What every rung asks of its launch
//!
//! - A one-dimensional grid and a one-dimensional block of `threads`, a power of two from 32 to
//!   1024.
//! - `output` holds one element per block ([`naive`] and [`shared_memory`]: a single element,
//!   which holds the operator's identity before the launch).
//! - `scratch` holds `threads` elements ([`shared_memory`]: one; [`naive`]: none).
//! - Enough blocks for `input.len()` elements, as each rung says. Any length will do, and any
//!   start: no thread reads past the end, and a thread with nothing to load contributes the
//!   identity.

pub mod naive;
pub mod reduce_0;
pub mod reduce_1;
pub mod reduce_2;
pub mod reduce_3;
pub mod reduce_4;
pub mod reduce_5;
pub mod shared_memory;

use cuda_std::thread::block_dim_x;

/// The threads of the block, with what every launch promises about them said to the compiler: a
/// tree takes at least one step, so its loop needs no check before the first.
///
/// # Safety
///
/// The launch is as [`harris`](self) asks.
#[inline(always)]
unsafe fn block_threads() -> u32 {
    let threads = block_dim_x();
    // SAFETY: the launch's promise.
    unsafe { core::hint::assert_unchecked((32..=1024).contains(&threads)) };
    threads
}
