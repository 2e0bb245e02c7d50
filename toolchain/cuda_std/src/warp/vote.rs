use crate::arch;

/// Whether `predicate` holds in all lanes of `mask`; all get the same result: `vote.sync.all`.
///
/// # Safety
///
/// The member mask contract of [`warp`](crate::warp).
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub unsafe fn warp_vote_all(mask: u32, predicate: bool) -> bool {
    // SAFETY: the caller's contract.
    unsafe { arch::vote_all(mask, predicate) }
}

/// Whether `predicate` holds in any lane of `mask`; all get the same result: `vote.sync.any`.
///
/// # Safety
///
/// The member mask contract of [`warp`](crate::warp).
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub unsafe fn warp_vote_any(mask: u32, predicate: bool) -> bool {
    // SAFETY: the caller's contract.
    unsafe { arch::vote_any(mask, predicate) }
}

/// The lanes of `mask` in which `predicate` holds: bit `i` for lane `i`. All get the same result. Bits
/// outside `mask` are 0: `vote.sync.ballot`.
///
/// # Safety
///
/// The member mask contract of [`warp`](crate::warp).
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub unsafe fn warp_vote_ballot(mask: u32, predicate: bool) -> u32 {
    // SAFETY: the caller's contract.
    unsafe { arch::vote_ballot(mask, predicate) }
}
