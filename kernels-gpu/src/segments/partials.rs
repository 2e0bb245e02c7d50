//! The partials of the tiles of a long segment, which are combined as a binary tree of adjacent tiles.

use crate::element::{Element, Shuffle};
use crate::items::Items;
use crate::mem::Global;
use crate::op::Op;
use crate::warp::{FULL_MASK, WARP_SIZE, reduce_in_order};
use cuda_std::thread::thread_idx_x;
use cuda_std::warp::sync_warp;

/// The partials that a thread combines by itself.
pub(super) const OF_LANE: usize = 4;

/// The partials that a warp combines at once.
pub(super) const GROUP: usize = OF_LANE * WARP_SIZE as usize;

/// The partials of a run. A warp can combine more at once, but its groups one after another.
pub const RUN: usize = 8 * GROUP;

/// The most partials that a warp combines at once: a group for each lane.
const MOST: usize = WARP_SIZE as usize * GROUP;

/// The partials of a segment's tiles, in global memory.
#[derive(Clone, Copy)]
pub(super) struct Partials<A> {
    pub global: Global<A>,
    /// The place of the first tile's partial.
    pub first: usize,
    /// The place where it would be if it were beside those of the other tiles.
    pub others: usize,
}

impl<A: Element> Partials<A> {
    /// The place of a tile's partial.
    #[inline(always)]
    fn place(self, tile: usize) -> usize {
        match tile {
            0 => self.first,
            _ => self.others + tile,
        }
    }

    /// Stores the partial of a tile.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn set(self, tile: usize, value: A) {
        self.global.set(self.place(tile), value);
    }

    /// Combines the results of a segment's runs, each of `run` partials. **Lane 0 holds the result.**
    ///
    /// # Safety
    ///
    /// All lanes of the warp arrive here, with the same arguments.
    #[inline(always)]
    pub unsafe fn of_runs<I: Items, O: Op<I, Acc = A>>(
        self,
        op: O,
        mut runs: usize,
        run: usize,
    ) -> A {
        let mut step = run;
        // Of more than 2^22 tiles: the warp combines as many runs as it can at once, and then the results.
        while runs > MOST {
            let mut first = 0;
            while first < runs {
                // SAFETY: the caller guarantees that all lanes arrive, with the same arguments; here and below.
                let value =
                    unsafe { self.combined::<I, O>(op, first, (runs - first).min(MOST), step) };
                if thread_idx_x().is_multiple_of(WARP_SIZE) {
                    self.set(first * step, value);
                }
                first += MOST;
            }
            // SAFETY: as above.
            unsafe { sync_warp(FULL_MASK) };
            runs = runs.div_ceil(MOST);
            step *= MOST;
        }
        // SAFETY: as above.
        unsafe { self.combined::<I, O>(op, 0, runs, step) }
    }

    /// Combines `len` partials, at most [`MOST`], from the one with number `first` on; their tiles are `step` apart. **Lane 0
    /// holds the result.**
    ///
    /// # Safety
    ///
    /// All lanes of the warp arrive here, with the same arguments.
    #[inline(always)]
    pub unsafe fn combined<I: Items, O: Op<I, Acc = A>>(
        self,
        op: O,
        first: usize,
        len: usize,
        step: usize,
    ) -> A {
        let lane = thread_idx_x() % WARP_SIZE;
        let mut kept = op.identity();
        let mut group = 0;
        while group * GROUP < len {
            let own = group * GROUP + lane as usize * OF_LANE;
            let number = len.saturating_sub(own).min(OF_LANE);
            let value = self.few::<I, O>(op, first + own, number, step);
            // SAFETY: the caller guarantees that all lanes arrive, here and below.
            let value = unsafe { reduce_in_order::<I, O>(op, value) };
            // SAFETY: as above.
            let value = unsafe { value.shuffle(FULL_MASK, Shuffle::Idx(0)) };
            if lane as usize == group {
                kept = value;
            }
            group += 1;
        }
        // SAFETY: as above.
        unsafe { reduce_in_order::<I, O>(op, kept) }
    }

    /// Combines `len` partials, at most [`OF_LANE`], from the one with number `first` on; the identity if there is none.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn few<I: Items, O: Op<I, Acc = A>>(
        self,
        op: O,
        first: usize,
        len: usize,
        step: usize,
    ) -> A {
        let load = |i: usize| match i < len {
            true => self.global.get(self.place((first + i) * step)),
            false => op.identity(),
        };
        let [a, b, c, d] = [load(0), load(1), load(2), load(3)];
        let combine = |a, b| op.combine(a, b);
        combine(combine(a, b), combine(c, d))
    }
}
