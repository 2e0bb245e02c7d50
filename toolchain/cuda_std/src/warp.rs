//! The 32 threads of a warp exchange values without memory.
//!
//! A thread's place in its warp is its *lane*, 0 to 31. Lanes are numbered along the block's
//! threads (x fastest), so the last warp of a block may have fewer than 32.
//!
//! # Conventions
//!
//! Every `unsafe` function here takes a *member mask* first, bit `i` for lane `i`, and has one
//! `# Safety` contract:
//!
//! 1. every lane in the mask executes this very call, with this very mask, or has not yet and will;
//! 2. none of them has exited; lanes that a partial block does not have count as exited;
//! 3. the calling lane is in the mask.
//!
//! The call waits for all members. Lanes outside of the mask are not waited for and give nothing.
//! [`u32::MAX`] is the mask of a full warp in which no branch is open. [`activemask`] is not a
//! member mask: it tells who happens to run together, not who ought to.
//!
//! **On the host** all of it works in the threads that `cuda_sim` simulates, which checks the
//! contract; elsewhere every function here panics with its name.
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

/// The thread's lane, 0 to 31. `%laneid`.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn lane_id() -> u32 {
    let lane = arch::lane_id();
    // SAFETY: a warp has 32 lanes on every compute capability up to 12.x.
    unsafe { core::hint::assert_unchecked(lane < 32) };
    lane
}

/// The lanes that execute this call together with the caller. `activemask.b32`. A snapshot, of no
/// use as a member mask.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn activemask() -> u32 {
    arch::activemask()
}

/// Waits for the lanes in `mask`. What they wrote before is visible to all of them after.
/// `bar.warp.sync`.
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
