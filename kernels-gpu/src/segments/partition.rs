//! Makes the plans of the windows, and prepares the words between the kernels.

use super::plan::{OF_WARP, Plan};
use super::{Edge, Offsets, Work};
use crate::tile::LANES;
use cuda_std::thread::{block_dim_x, block_idx_x, grid_dim_x, thread_idx_x};

/// Stores the plan of each window, and finds its first segment by binary search: a lane for each, and one for where the window
/// behind those of the warp begins. Empties the cells, and forgets the number of huge segments and the bad offsets of the launch
/// before.
///
/// # Safety
///
/// The launch meets the [requirements](super), with [as many warps](super::Layout::planners) as the plans need.
#[inline(always)]
pub unsafe fn partition(offsets: Offsets, work: Work) {
    let thread = block_idx_x() as usize * block_dim_x() as usize + thread_idx_x() as usize;
    if thread == 0 {
        work.reports().begin();
        work.counts.set(Work::HUGE, 0);
    }
    let mut cell = thread;
    while cell < work.layout.cells {
        work.set_no_long(cell);
        cell += grid_dim_x() as usize * block_dim_x() as usize;
    }
    let windows = offsets.shape.windows as usize;
    let lane = thread % LANES;
    let window = (thread / LANES * OF_WARP + lane).min(windows);
    let edge = edge_of(offsets, window);
    // SAFETY: all lanes of the warp arrive here.
    let next = unsafe { edge.of_next_lane() };
    if lane < OF_WARP && window < windows {
        let begin = window * offsets.shape.window as usize;
        Plan::of(&offsets.shape, begin, edge, next).store(work, window, edge, next);
    }
}

/// Where a window begins.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
fn edge_of(offsets: Offsets, window: usize) -> Edge {
    let (mut low, mut high) = (0, offsets.segments());
    if window == 0 {
        high = 0;
    }
    if window == offsets.shape.windows as usize {
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
    Edge::of(offsets, low)
}
