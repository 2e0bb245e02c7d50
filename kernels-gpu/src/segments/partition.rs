//! Finds the first segment that starts in each window, and its start.

use super::{Edge, Offsets, Work};
use cuda_std::thread::{block_dim_x, block_idx_x, thread_idx_x};

/// Stores the first segment of each window, a thread for each, and of one window more. Resets the counts, and the bad offset
/// of the launch before.
///
/// # Safety
///
/// The launch meets the [requirements](super), with a thread for each window and one more.
#[inline(always)]
pub unsafe fn partition(offsets: Offsets, work: Work) {
    let window = block_idx_x() as usize * block_dim_x() as usize + thread_idx_x() as usize;
    if window == 0 {
        let bad = work.words.get(Work::BAD);
        if bad != Work::NONE && work.words.get(Work::BAD_BEFORE) == Work::NONE {
            work.words.set(Work::BAD_BEFORE, bad);
        }
        work.words.set(Work::BAD, Work::NONE);
        work.counts.set(0, 0);
        work.counts.set(1, 0);
    }
    let windows = offsets.shape.windows as usize;
    if window > windows {
        return;
    }
    let (mut low, mut high) = (0, offsets.segments());
    if window == 0 {
        high = 0;
    }
    if window == windows {
        low = high;
    }
    let begin = window * offsets.shape.window as usize;
    // The first segment with a start of at least `begin` is in `low..=high`, if offsets do not decrease.
    while low < high {
        let middle = low + (high - low) / 2;
        match offsets.get(middle).wrapping_add(middle) < begin {
            true => low = middle + 1,
            false => high = middle,
        }
    }
    work.set_edge(window, Edge::of(offsets, low));
}
