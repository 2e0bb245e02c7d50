//! Reductions of large arrays by shuffles and atomics.
//!
//! After Justin Luitjens, "Faster Parallel Reductions on Kepler" (NVIDIA, 2014).
//!
//! | kernel | the partial of a warp | output | launches |
//! |---|---|---|---|
//! | [`stable`](stable::stable) | through shared memory, to one partial per block | a partial per block | two: the second, of one block, reduces the partials |
//! | [`stable_all`](stable::stable_all) | the same, and back to all threads of the block | the same | the same |
//! | [`warp_atomic`](warp_atomic::warp_atomic) | by one atomic per warp to global memory | the result | one |
//! | [`block_atomic`](block_atomic::block_atomic) | through shared memory, then by one atomic per block | the result | one |
//!
//! All begin with a grid-stride loop: a thread combines its elements in a register
//! ([`grid_stride`](crate::grid_stride)). So any grid is right for any array, and the number of blocks only has
//! to keep the device busy: the post uses 1024 blocks of 512 threads. Each kernel but `stable_all` exists for
//! vectors of `N` elements: one, two and four.
//!
//! [`triple`] is the post's last technique: several reductions at once, with interleaved shuffles.
//!
//! The kernels differ from the post in four ways. Indices have 64 bits. The operator may be any, and its
//! accumulator may be wider than the elements. An array may start at any element, also with vector loads. Four
//! loads are in flight before the first result is used.
//!
//! # Requirements of every launch
//!
//! - A one-dimensional grid and a one-dimensional block of a multiple of 32 threads, at most 1024.
//! - `scratch` holds an element per warp of the block ([`warp_atomic`]: none).
//! - `output` holds an element per block. For [`warp_atomic`] and [`block_atomic`] it holds one, which is the
//!   operator's identity before the launch.
//!
//! # Order
//!
//! With [`stable`], floats are bit-equal from run to run: the order depends on the length, the launch, and for
//! `N > 1` on the alignment of the array's start. With atomics the hardware chooses the order.

pub mod block_atomic;
pub mod stable;
pub mod triple;
pub mod warp_atomic;
