//! Makes the plans of the windows, and prepares the words between the kernels.

use super::plan::{OF_WARP, Plan};
use super::{Edge, Offsets, Work};
use crate::tile::LANES;
use cuda_std::thread::{block_dim_x, block_idx_x, grid_dim_x, thread_idx_x};

/// The guesses for a window's first segment, before steps.
const GUESSES: u32 = 3;

/// The distance of a guess in segments behind which further guesses are not worth their loads.
const FAR: usize = 1 << 15;

/// The length of the first step in segments, and how much longer each further one is.
const FIRST_STEP: usize = 16;
const FASTER: usize = 8;

/// Stores the plan of each window, and finds its first segment: a lane for each, and one for where the window
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

/// Where a window begins: at the first segment whose start is not before its first diagonal.
///
/// A few guesses come first, each from the one before, as if all segments in between had the average length. Then steps that
/// become longer, from the last guess on, until the segment is between two of them, and bisection; at once if a guess is far
/// away.
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
    let (mut guess, mut guesses) = (offsets.shape.segments_of(begin), GUESSES);
    let mut step = FIRST_STEP;
    // The segment is in `low..=high`, if offsets do not decrease.
    while low < high {
        let is_near = guesses > 0 || step < high - low;
        let middle = match is_near {
            true => guess.clamp(low, high - 1),
            false => low + (high - low) / 2,
        };
        let diagonal = offsets.get(middle).wrapping_add(middle);
        let mut distance = step;
        if guesses > 0 {
            distance = offsets.shape.segments_of(diagonal.abs_diff(begin));
            guesses -= 1;
            if distance > FAR {
                (guesses, step) = (0, usize::MAX);
            }
        } else if is_near {
            step *= FASTER;
        }
        match diagonal < begin {
            true => {
                low = middle + 1;
                guess = low.saturating_add(distance);
            }
            false => {
                high = middle;
                guess = high.saturating_sub(distance);
            }
        }
    }
    Edge::of(offsets, low)
}
