//! Stores adjacent results.

use crate::element::Element;
use crate::mem::{Global, Shared, compiler_barrier};
use crate::op::unrolled;
use crate::warp::{FULL_MASK, WARP_SIZE};
use cuda_std::thread::thread_idx_x;
use cuda_std::warp::sync_warp;

/// The most bytes of one store.
const MOST_BYTES: usize = 16;

/// Stores the results of a warp, `M` adjacent ones for each lane, from `first` on. If those of a lane are longer than a store, the
/// lanes exchange them first, so that adjacent lanes store adjacent results.
///
/// # Safety
///
/// All lanes of the warp arrive here, with the same `first`; `staged` has room for `M` results of each thread of the block.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub unsafe fn set_of_warp<A: Element, const M: usize>(
    results: Global<A>,
    staged: Shared<A>,
    first: usize,
    values: [A; M],
) {
    let (tid, lane) = (thread_idx_x(), thread_idx_x() % WARP_SIZE);
    if M * size_of::<A>() <= MOST_BYTES {
        return set_adjacent(results, first + lane as usize * M, values, M);
    }
    let of_warp = (tid - lane) * M as u32;
    unrolled!(|m < M| staged.set(tid * M as u32 + m as u32, values[m]));
    // SAFETY: all lanes of the warp arrive here.
    unsafe { sync_warp(FULL_MASK) };
    unrolled!(|m < M| {
        let place = m as u32 * WARP_SIZE + lane;
        results.set(first + place as usize, staged.get(of_warp + place));
    });
    // The lanes have read the values before they store the next ones.
    // SAFETY: as above.
    unsafe { sync_warp(FULL_MASK) };
}

/// Stores `count` adjacent results of a thread, `M` or fewer, from `first` on.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn set_adjacent<A: Element, const M: usize>(
    results: Global<A>,
    first: usize,
    values: [A; M],
    count: usize,
) {
    if M > 1 && count == M && results.skew::<M>() == Some(0) {
        results.set_vector(first, values);
        // LLVM would share stores with the other branch, single ones.
        compiler_barrier();
    } else {
        unrolled!(|m < M| if m < count {
            results.set(first + m, values[m]);
        });
    }
}
