//! Finds the first segment that starts in each window, and its start; and prepares the words between the kernels.

use super::{Edge, Offsets, Work};
use cuda_std::thread::{block_dim_x, block_idx_x, grid_dim_x, thread_idx_x};

/// Stores the first segment of each window, a thread for each, and of one window more. Empties the cells, and resets the
/// number of huge segments and the bad offset of the launch before.
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
        work.counts.set(Work::HUGE, 0);
    }
    let mut cell = window;
    while cell < work.layout.cells {
        work.set_no_long(cell);
        cell += grid_dim_x() as usize * block_dim_x() as usize;
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
    let is_before = |segment: usize| offsets.get(segment).wrapping_add(segment) < begin;
    // Where the window's first segment is if all have the same length. A division would be a call.
    let guess = window as u128 * offsets.shape.per_window as u128;
    let guess = ((guess + u32::MAX as u128) >> 32) as usize;
    if low < guess && guess < high && is_before(guess - 1) && !is_before(guess) {
        (low, high) = (guess, guess);
    }
    // The first segment with a start of at least `begin` is in `low..=high`, if offsets do not decrease.
    while low < high {
        let middle = low + (high - low) / 2;
        match is_before(middle) {
            true => low = middle + 1,
            false => high = middle,
        }
    }
    work.set_edge(window, Edge::of(offsets, low));
}
