//! Three reductions of large arrays by shuffles and atomics, after Justin Luitjens, "Faster
//! Parallel Reductions on Kepler" (NVIDIA, 2014).
//!
//! | kernel | a warp's partial | leaves | launches |
//! |---|---|---|---|
//! | [`stable`](stable::stable) | through shared memory, one per block | a partial per block | two: the second, of one block, reduces the partials |
//! | [`warp_atomic`](warp_atomic::warp_atomic) | straight to global memory, by an atomic per warp | the result | one |
//! | [`block_atomic`](block_atomic::block_atomic) | through shared memory, by an atomic per block | the result | one |
//!
//! All three begin alike: a thread walks over the array in steps as long as the grid is wide and
//! combines what it finds in a register ([`grid_stride`](crate::grid_stride)). So any grid is
//! right for any array, and the blocks can be as many as keep the device busy, no more: the post has
//! 1024 of 512 threads. Each exists for `N` elements at a time: one, two and four.
//!
//! [`triple`] has the post's last trick: several reductions at once, their shuffles interleaved.
//!
//! Where the kernels differ from the post: indexes are 64 bits wide; any operator, and what it
//! combines in may be wider than the elements; a vector's loads are right for an array that starts
//! at any element; four loads are begun before the first of them is waited for.
//!
//! # What they ask of their launch
//!
//! - A one-dimensional grid and a one-dimensional block of a multiple of 32 threads, at most 1024.
//! - `scratch` holds an element per warp of the block ([`warp_atomic`]: none).
//! - `output` holds an element per block ([`warp_atomic`], [`block_atomic`]: one, the operator's
//!   identity before the launch).
//!
//! # Order
//!
//! By [`stable`] floats are bit-equal from run to run: the order depends on the length, the launch,
//! and for `N > 1` on how the array's start is aligned. By the atomics it is the hardware's.

pub mod block_atomic;
pub mod stable;
pub mod triple;
pub mod warp_atomic;
