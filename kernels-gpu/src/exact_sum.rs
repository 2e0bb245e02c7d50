//! The exact sum of an array: every term is added without rounding, in any order.
//!
//! A *term* is what an item adds ([`Terms`]): an element, its magnitude, its square, or the product of two elements.
//!
//! Each lane holds a sum of its terms as three floats ([`Expansion`]), to which terms are added exactly, by additions
//! whose rounding errors are known. If the three floats have too few bits, the terms are added as integers: each warp has
//! a fixed-point number in shared memory ([`Digits`]). A warp adds a *group* of rows at a time, in the first way that is
//! exact for all its lanes:
//!
//! | way | terms of | cost of a term | is exact if |
//! |---|---|---|---|
//! | [`Way::Plain`] | up to 24 bits | one addition | the exponents of a lane's terms in the group differ little |
//! | [`Way::Split`] | `f32` | five additions | they differ by no more than about 74 |
//! | [`Way::Two`] | up to 53 bits, other than `f32` | two additions with errors | the lane's sum fits into two floats |
//! | [`Way::Three`] | any | three additions with errors | the lane's sum fits into three floats |
//! | [`Way::Integers`] | any | up to five atomics in shared memory | always |
//!
//! At the end each block adds its digits to cells in global memory, by integer atomics. So the sum of the cells is the same
//! in any order, for any grid. The block that finishes last copies the cells to memory of the host, which rounds their sum
//! once.
//!
//! # Requirements of every launch
//!
//! - A one-dimensional block of a power of two of threads, from 32 to 1024; a one-dimensional grid of any size.
//! - A scratch of [`Layout::CELLS`] digits for each warp of the block.
//! - `Layout::CELLS` cells in `cells`, to which the kernel adds, and in `copy`, where it leaves their values. Any number in
//!   `next`, which it sets to 0, for a launch that follows.
//! - One counter in `arrivals`, which is 0 before and after the launch.

mod digits;
mod expansion;
mod rows;
mod terms;

pub use digits::{Digits, Layout};
pub use expansion::Expansion;
pub use rows::Rows;
pub use terms::Terms;

use crate::exact::Flags;
use crate::items::Items;
use crate::mem::{Global, Shared};
use crate::warp::{FULL_MASK, WARP_SIZE};
use cuda_std::thread::{
    block_dim_x, block_idx_x, device_fence, grid_dim_x, sync_threads, thread_idx_x,
};
use cuda_std::warp::{sync_warp, warp_vote_all};

/// The way in which a warp adds a group of rows; see the [module](self).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Way {
    /// Each lane adds its terms without errors, and the sum to its expansion.
    Plain,
    /// Each lane cuts its terms at the same bit, adds the upper and the lower parts without errors, and the two sums to its
    /// expansion.
    Split,
    /// Each lane adds its terms to the first two floats of its expansion.
    Two,
    /// Each lane adds its terms to the three floats of its expansion.
    Three,
    /// Each lane adds its terms to the warp's digits.
    Integers,
}

/// The most groups for which a warp keeps a slower way before it tries the fastest one again.
const MOST_PATIENCE: u32 = 256;

/// The number of rows in a group: 64 bytes for each lane.
pub const fn rows_of(arrays: usize) -> usize {
    4 / arrays
}

/// Adds the terms of all items to `cells`, exactly, in groups of `R` rows of vectors of `N` items; copies the cells to
/// `copy` and sets `next` to 0.
///
/// # Safety
///
/// The launch meets the [requirements](self); all arrays have the same length.
#[inline(always)]
pub unsafe fn exact_sum<I: Items, O: Terms<I>, const N: usize, const R: usize>(
    arrays: I::Arrays,
    scratch: Shared<i32>,
    cells: Global<u64>,
    next: Global<u64>,
    copy: Global<u64>,
    arrivals: Global<u32>,
) {
    let (warp, warps) = (thread_idx_x() / WARP_SIZE, block_dim_x() / WARP_SIZE);
    let rows = Rows::<I, N, R>::new(arrays);
    // SAFETY: no thread has exited, so all lanes of the warp arrive here, and in the calls below.
    let mut sum = unsafe { Sum::<I, O, N, R>::new(rows, Digits::of_warp(scratch, warp)) };
    let mut group = block_idx_x() as usize * warps as usize + warp as usize;
    while group < rows.groups() {
        // SAFETY: as above; the group is that of the warp.
        unsafe { sum.add(group, cells) };
        group += grid_dim_x() as usize * warps as usize;
    }
    sum.finish();
    sync_threads();
    let mut cell = thread_idx_x();
    while cell < Layout::<I, O>::CELLS {
        Digits::<I, O>::add_to(scratch, warps, cell, cells);
        cell += block_dim_x();
    }
    let mut cell = thread_idx_x() as usize;
    while block_idx_x() == 0 && cell < next.len() {
        next.set(cell, 0);
        cell += block_dim_x() as usize;
    }
    // SAFETY: all threads of the block arrive here, and all have read the scratch that they need.
    if unsafe { is_last_block(scratch, arrivals) } {
        let mut cell = thread_idx_x() as usize;
        while cell < Layout::<I, O>::CELLS as usize {
            copy.set(cell, cells.get_atomic(cell));
            cell += block_dim_x() as usize;
        }
    }
}

/// Whether all other blocks have arrived here before. What they have added to global memory is then visible.
///
/// # Safety
///
/// All threads of all blocks arrive here. No thread needs the first element of the scratch.
#[inline(always)]
unsafe fn is_last_block(scratch: Shared<i32>, arrivals: Global<u32>) -> bool {
    // What this thread has added is visible before the block's arrival.
    device_fence();
    sync_threads();
    if thread_idx_x() == 0 {
        scratch.set(0, arrivals.fetch_increment(0, grid_dim_x()) as i32);
    }
    sync_threads();
    // What the other blocks added before their arrivals is visible behind this.
    device_fence();
    scratch.get(0) as u32 == grid_dim_x() - 1
}

/// What a lane has added, and the warp's choice of a way.
struct Sum<I: Items, O, const N: usize, const R: usize> {
    rows: Rows<I, N, R>,
    digits: Digits<I, O>,
    expansion: Expansion,
    flags: Flags,
    /// The same in all lanes.
    way: Way,
    /// The number of groups for which the warp keeps its way.
    kept: u32,
    /// That number after the next failure of the fastest way. It doubles with each, and is 1 again after a success.
    patience: u32,
    /// The most that lanes have added to one digit since it was 0, in units of 2^16.
    added: u32,
}

impl<I: Items, O: Terms<I>, const N: usize, const R: usize> Sum<I, O, N, R> {
    /// Whether many terms can be added as `f64` without error.
    const IS_NARROW: bool = O::BITS <= 24;

    /// Whether terms are cut in two: few of them, because a lane keeps both parts of all in registers.
    const SPLITS: bool = Self::IS_NARROW && N * R <= 16;

    /// The next way, which is exact for more terms.
    #[inline(always)]
    const fn next(way: Way) -> Way {
        match way {
            Way::Plain if Self::SPLITS => Way::Split,
            Way::Plain => Way::Two,
            Way::Split | Way::Two => Way::Three,
            _ => Way::Integers,
        }
    }

    /// The fastest way. A group of terms of more than 24 bits cannot be added plainly, and products of two floats each
    /// do not fit into two floats.
    const FASTEST: Way = if Self::IS_NARROW {
        Way::Plain
    } else if O::IS_LONG {
        Way::Three
    } else {
        Way::Two
    };

    /// The most terms of a group that are added to one digit.
    const MOST: u32 = WARP_SIZE * (N * R) as u32;

    /// # Safety
    ///
    /// All lanes of the warp arrive here.
    #[inline(always)]
    unsafe fn new(rows: Rows<I, N, R>, digits: Digits<I, O>) -> Self {
        digits.clear();
        // SAFETY: the caller guarantees that all lanes arrive.
        unsafe { sync_warp(FULL_MASK) };
        Self {
            rows,
            digits,
            expansion: Expansion::NONE,
            flags: Flags::NONE,
            way: Self::FASTEST,
            kept: 0,
            patience: 1,
            added: 0,
        }
    }

    /// Adds a group.
    ///
    /// # Safety
    ///
    /// All lanes of the warp arrive here, with the same group.
    #[inline(always)]
    unsafe fn add(&mut self, group: usize, cells: Global<u64>) {
        if self.rows.is_whole(group) {
            self.choose_way();
            while self.way < Way::Integers {
                // SAFETY: the caller guarantees that all lanes arrive; their way is the same.
                if unsafe { self.add_floats(group) } {
                    return;
                }
                self.way = Self::next(self.way);
            }
            self.rows.prefetch(group);
        }
        self.add_each(group);
        self.added += Self::MOST;
        if self.added > Digits::<I, O>::MOST_ADDED - 2 * Self::MOST {
            // SAFETY: as above.
            unsafe { self.digits.flush(cells) };
            self.added = 0;
        }
    }

    /// Chooses the way of the next group: that of the last one, or the fastest.
    #[inline(always)]
    fn choose_way(&mut self) {
        if self.way == Self::FASTEST {
            self.patience = 1;
        } else if self.kept > 0 {
            self.kept -= 1;
        } else {
            self.way = Self::FASTEST;
            self.kept = self.patience;
            self.patience = (2 * self.patience).min(MOST_PATIENCE);
        }
    }

    /// Adds a group to the expansions in the present way; false if that is not exact. Each way loads the items itself:
    /// LLVM would merge the arithmetic of ways that have the same items, and execute all of it.
    ///
    /// # Safety
    ///
    /// All lanes of the warp arrive here, with the same group and way.
    #[inline(always)]
    unsafe fn add_floats(&mut self, group: usize) -> bool {
        let (rows, sum) = (&self.rows, self.expansion);
        let (expansion, is_exact) = if Self::IS_NARROW && self.way == Way::Plain {
            sum.plus_plain::<I, O, N, R>(&rows.load::<1>(group))
        } else if Self::SPLITS && self.way == Way::Split {
            sum.plus_split::<I, O, N, R>(&rows.load::<2>(group))
        } else if !Self::SPLITS && Self::FASTEST <= Way::Two && self.way == Way::Two {
            sum.plus::<I, O, N, R, 2>(&rows.load::<2>(group))
        } else {
            sum.plus::<I, O, N, R, 3>(&rows.load::<3>(group))
        };
        // SAFETY: the caller guarantees that all lanes arrive.
        let is_exact = unsafe { warp_vote_all(FULL_MASK, is_exact) };
        if is_exact {
            self.expansion = expansion;
        }
        is_exact
    }

    /// Adds the lane's items one by one: to the expansion, or to the warp's digits. A loop, because registers cannot be
    /// indexed.
    #[inline(always)]
    fn add_each(&mut self, group: usize) {
        let mut item = 0;
        while item < N * R {
            if let Some(item) = self.rows.get(group, item) {
                self.add_item(item);
            }
            item += 1;
        }
    }

    #[inline(always)]
    fn add_item(&mut self, item: I) {
        if self.way < Way::Integers {
            let (expansion, is_exact) = self.expansion.plus::<I, O, 1, 1, 3>(&[[item]]);
            if is_exact {
                self.expansion = expansion;
                return;
            }
        }
        let (a, b) = O::factors(item);
        self.flags |= self.digits.add_product(a, b);
    }

    /// Adds the expansion and the flags to the warp's digits.
    #[inline(always)]
    fn finish(mut self) {
        let (terms, flags) = self.expansion.finish();
        self.flags |= flags;
        let mut k = 0;
        while k < terms.len() {
            self.digits.add(terms[k]);
            k += 1;
        }
        self.digits.add_flags(self.flags);
    }
}
