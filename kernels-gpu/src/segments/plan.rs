//! What a block has to know of its window.

use super::{Edge, Shape, Work};
use crate::warp::WARP_SIZE;

/// The windows of which a warp makes the plans, a lane for each; its last lane only finds where the window behind begins.
pub(super) const OF_WARP: usize = WARP_SIZE as usize - 1;

/// What a block has to know of its window. A lane of [`partition`](super::partition) makes it for the whole block; with rows,
/// the block itself does.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    /// The first segment that starts in the window or behind it.
    pub first: usize,
    /// Its first item.
    pub at: usize,
    /// The number of segments that start in the window.
    pub count: usize,
    /// The first item of the last one, counted from `at`.
    pub last: u32,
    /// The number of items of the segments that are staged; less than 2^16, because they fit into a block's shared memory.
    pub items: u32,
    /// The first item behind the last segment, counted from `at`; at most 2^32 - 1.
    pub end: u32,
    /// Whether the segment before is so long that its tiles may start here.
    pub is_begun: bool,
    /// Whether the offsets that were used are right.
    pub is_right: bool,
}

impl Plan {
    /// The words of a plan in global memory.
    pub const WORDS: usize = 6;

    /// The bits behind the number of segments.
    const IS_RIGHT: u64 = 1 << 63;
    const IS_BEGUN: u64 = 1 << 62;

    /// The plan of the window from diagonal `begin` on, which begins at `edge`; the next one begins at `next`.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    // Simulated code needs no copy for each caller.
    #[cfg_attr(not(target_arch = "nvptx64"), inline(never))]
    pub fn of(shape: &Shape, begin: usize, edge: Edge, next: Edge) -> Self {
        let Edge { first, before, at } = edge;
        let (last, behind) = (next.before, next.at);
        // None, if the searches went astray.
        let count = next.first.saturating_sub(first);
        let n = shape.items as usize;
        let (window, staged) = (shape.window as usize, shape.staged as usize);
        let mut plan = Self {
            first,
            at,
            count,
            last: 0,
            items: 0,
            end: 0,
            is_begun: at.wrapping_sub(before) > staged,
            is_right: first <= next.first
                && count <= window
                && before <= at
                && at <= n
                && (first == 0 || before + (first - 1) < begin),
        };
        if !plan.is_right || count == 0 {
            return plan;
        }
        let in_window =
            |start: usize, segment: usize| start.wrapping_add(segment).wrapping_sub(begin) < window;
        let items = match behind.wrapping_sub(last) > staged {
            true => last.wrapping_sub(at),
            false => behind.wrapping_sub(at),
        };
        plan.is_right = at <= last
            && last <= behind
            && behind <= n
            && items <= window + staged - count
            && in_window(at, first)
            && in_window(last, first + count - 1);
        plan.last = last.wrapping_sub(at) as u32;
        plan.items = items as u32;
        plan.end = behind.wrapping_sub(at).min(u32::MAX as usize) as u32;
        plan
    }

    /// Loads the plan of a window.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn load(work: Work, window: usize) -> Self {
        let word = Work::PLANS + Self::WORDS * window;
        let get = |i: usize| work.words.get(word + i);
        let (first, at, count, lengths) = (get(0), get(1), get(2), get(3));
        Self {
            first: first as usize,
            at: at as usize,
            count: (count & !(Self::IS_RIGHT | Self::IS_BEGUN)) as usize,
            last: lengths as u32 & 0xffff,
            items: lengths as u32 >> 16,
            end: (lengths >> 32) as u32,
            is_begun: count & Self::IS_BEGUN != 0,
            is_right: count & Self::IS_RIGHT != 0,
        }
    }

    /// The first item behind the window's last segment.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn load_behind(work: Work, window: usize) -> usize {
        work.words.get(Work::PLANS + Self::WORDS * window + 4) as usize
    }

    /// The first item of the segment before the window.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn load_before(work: Work, window: usize) -> usize {
        work.words.get(Work::PLANS + Self::WORDS * window + 5) as usize
    }

    /// Stores the plan of a window.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn store(self, work: Work, window: usize, edge: Edge, next: Edge) {
        let flag = |flag: u64, is_set: bool| if is_set { flag } else { 0 };
        let count = self.count as u64
            | flag(Self::IS_RIGHT, self.is_right)
            | flag(Self::IS_BEGUN, self.is_begun);
        let lengths = u64::from(self.end) << 32 | u64::from(self.items << 16 | self.last);
        let word = Work::PLANS + Self::WORDS * window;
        let set = |i: usize, value: u64| work.words.set(word + i, value);
        set(0, edge.first as u64);
        set(1, edge.at as u64);
        set(2, count);
        set(3, lengths);
        set(4, next.at as u64);
        set(5, edge.before as u64);
    }
}
