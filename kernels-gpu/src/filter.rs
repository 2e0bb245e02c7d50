//! `filter_atomic`, `filter_warp`: the elements for which a predicate holds, and a counter that many threads increase.
//!
//! The output has the elements that are kept, without gaps. A thread gets the place of its element from a counter:
//!
//! | kernel | atomics on the counter |
//! |---|---|
//! | [`filter_atomic`] | one for each element that is kept |
//! | [`filter_warp`] | one for each warp that keeps any |
//!
//! ```text
//! lane       0   1   2   3   4   5   6   7      (eight lanes shown; a warp has 32)
//! keeps          *       *   *           *      ballot: 1 3 4 7, so 4 elements
//! lane 1 adds 4 to the counter, which held 20
//! place          20      21  22          23     20 + the number of lanes below that keep theirs
//! ```
//!
//! All atomics have one address, where they wait for each other. The answer of the counter is needed, so a thread waits
//! for its own, too. The warps arrive in any order: the output has the right elements, but not in their order. Elements
//! of one warp stay in order.
//!
//! Today's compiler does this by itself: if ptxas 13 sees that all threads add 1 to one address, it makes a ballot, one
//! atomic and a shuffle of the simplest code. [`filter_atomic`] hides the 1, to show what the technique is worth.
//!
//! # Requirements of every launch
//!
//! - A one-dimensional grid of at least `ceil(n / threads)` blocks, and one-dimensional blocks of a multiple of 32
//!   threads.
//! - `output` has the length of `input`, and they do not overlap; `count` has one element, which is 0 before the launch.
//!
//! Source: the technique of the post "Warp-Aggregated Atomics" (Andrey Adinetz, NVIDIA, 2014), to which "Voting and
//! Shuffling to Optimize Atomic Operations" links.

use crate::element::Element;
use crate::mem::{Global, opaque};
use crate::op::Predicate;
use crate::warp::{FULL_MASK, WARP_SIZE};
use cuda_std::thread::{block_dim_x, block_idx_x, thread_idx_x};
use cuda_std::warp::{lane_id, warp_shuffle_idx, warp_vote_ballot};

/// Stores the elements that are kept, and adds their number to `count[0]`; one atomic for each.
///
/// # Safety
///
/// The launch meets the [requirements](self).
#[inline(always)]
pub unsafe fn filter_atomic<T: Element, P: Predicate<T>>(
    keep: P,
    input: Global<T>,
    output: Global<T>,
    count: Global<u64>,
) {
    let i = block_idx_x() as usize * block_dim_x() as usize + thread_idx_x() as usize;
    if i < input.len() {
        let element = input.get(i);
        // 1 or 0, and the compiler must not know that it is 1 if the counter is increased.
        let one = opaque(usize::from(keep.holds(element))) as u64;
        if one > 0 {
            output.set(count.fetch_add(0, one) as usize, element);
        }
    }
}

/// Stores the elements that are kept, and adds their number to `count[0]`; one atomic for each warp.
///
/// # Safety
///
/// The launch meets the [requirements](self).
#[inline(always)]
pub unsafe fn filter_warp<T: Element, P: Predicate<T>>(
    keep: P,
    input: Global<T>,
    output: Global<T>,
    count: Global<u64>,
) {
    let i = block_idx_x() as usize * block_dim_x() as usize + thread_idx_x() as usize;
    let element = (i < input.len()).then(|| input.get(i));
    let kept = element.filter(|element| keep.holds(*element));

    // SAFETY: all lanes of the warp arrive here.
    let lanes = unsafe { warp_vote_ballot(FULL_MASK, kept.is_some()) };
    if lanes == 0 {
        // The same in all lanes of the warp, so that all return or none does.
        return;
    }
    let (lane, leader) = (lane_id(), lanes.trailing_zeros());
    let mut first = 0;
    if lane == leader {
        first = count.fetch_add(0, lanes.count_ones().into());
    }
    // SAFETY: all lanes of the warp arrive here; the leader is one of them.
    let (first, _) = unsafe { warp_shuffle_idx(FULL_MASK, first, leader, WARP_SIZE) };
    if let Some(element) = kept {
        let below = (lanes & ((1 << lane) - 1)).count_ones();
        output.set(first as usize + below as usize, element);
    }
}
