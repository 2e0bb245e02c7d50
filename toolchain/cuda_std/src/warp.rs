//! Warp-level operations: the 32 threads of a warp exchange values without memory.
//!
//! A thread's index in its warp is its *lane*, 0 to 31. Lanes follow the block's linear thread index, so the
//! last warp of a block may have fewer than 32 lanes.
//!
//! # Conventions
//!
//! Every `unsafe` function here has a *member mask* as its first parameter: bit `i` stands for lane `i`. They
//! share one `# Safety` contract:
//!
//! 1. every lane in the mask executes the same call with the same mask;
//! 2. none of them has exited; lanes that a partial warp lacks count as exited;
//! 3. the calling lane is in the mask.
//!
//! The call waits for all members. It does not wait for lanes outside the mask, and uses no values of them.
//! [`u32::MAX`] is the mask of a full, converged warp. Do not use [`activemask`] as a member mask: it returns
//! the lanes that happen to run together, not those that should.
//!
//! **On the host** the functions work in a launch of `cuda_sim`, which checks the contract; elsewhere each
//! one panics with its name.
//!
//! PTX ISA: `activemask`, `bar.warp.sync`, `vote.sync`, `match.sync`, `redux.sync`, `shfl.sync`.

use crate::arch;

mod matching;
mod reduce;
mod shuffle;
mod vote;

pub use matching::*;
pub use reduce::*;
pub use shuffle::*;
pub use vote::*;

/// The thread's lane, 0 to 31: `%laneid`.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn lane_id() -> u32 {
    let lane = arch::lane_id();
    // SAFETY: a warp has 32 lanes on every compute capability up to 12.x.
    unsafe { core::hint::assert_unchecked(lane < 32) };
    lane
}

/// The lanes that execute this call together with the caller: `activemask.b32`. A snapshot, which cannot
/// serve as a member mask.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn activemask() -> u32 {
    arch::activemask()
}

/// Waits for the lanes in `mask`: `bar.warp.sync`. Their earlier stores are then visible to all of them.
///
/// # Safety
///
/// The member mask contract of [this module](self).
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub unsafe fn sync_warp(mask: u32) {
    // SAFETY: the caller's contract.
    unsafe { arch::sync_warp(mask) }
}
