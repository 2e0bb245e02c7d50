//! The rows of a warp: how groups of them are loaded, wherever an array starts.

use crate::items::Items;
use crate::mem::{compiler_barrier, compiler_barrier_of};
use crate::op::unrolled;
use crate::tile::{LANES, zero};
use cuda_std::thread::thread_idx_x;

/// The items of an array in groups of `R` rows; a row has a vector of `N` items for each lane.
///
/// If the arrays do not start with a vector, but all at the same distance behind the address for one, the first group
/// begins at that address, before the arrays. The order does not matter for an exact sum.
#[derive(Clone, Copy)]
pub struct Rows<I: Items, const N: usize, const R: usize> {
    arrays: I::Arrays,
    /// The number of items by which the first group begins before the arrays.
    skew: usize,
    /// Whether no vector is aligned in all arrays.
    is_shifted: bool,
}

impl<I: Items, const N: usize, const R: usize> Rows<I, N, R> {
    /// The items of a group.
    const GROUP: usize = LANES * N * R;

    /// Whether there may be no vector that is aligned in all arrays; never for a single array of floats.
    const MAY_BE_SHIFTED: bool = N * I::BYTES > 16;

    /// The groups of these arrays.
    #[inline(always)]
    pub fn new(arrays: I::Arrays) -> Self {
        let skew = I::skew::<N>(arrays);
        Self {
            arrays,
            skew: skew.unwrap_or(0),
            is_shifted: skew.is_none(),
        }
    }

    /// The number of groups.
    #[inline(always)]
    pub fn groups(&self) -> usize {
        (I::len(self.arrays) + self.skew).div_ceil(Self::GROUP)
    }

    /// The index of the first item of the lane's vector in a row; it wraps if that is before the array.
    #[inline(always)]
    fn first(&self, group: usize, row: usize) -> usize {
        let lane = thread_idx_x() as usize % LANES;
        (group * Self::GROUP + row * LANES * N + lane * N).wrapping_sub(self.skew)
    }

    /// Whether the lanes can load the group by vectors.
    #[inline(always)]
    pub fn is_whole(&self, group: usize) -> bool {
        let (start, len) = (group * Self::GROUP, I::len(self.arrays));
        let has_items = start >= self.skew && start + Self::GROUP - self.skew <= len;
        has_items && (!self.is_shifted || self.has_granules(start))
    }

    /// Loads the lane's items in a whole group, in [branch](compiler_barrier_of) number `BRANCH`.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn load<const BRANCH: usize>(&self, group: usize) -> [[I; N]; R] {
        compiler_barrier_of::<BRANCH>();
        let first = |row: usize| self.first(group, row);
        let mut rows = [[zero::<I>(); N]; R];
        if Self::MAY_BE_SHIFTED && self.is_shifted {
            unrolled!(|r < R| rows[r] = I::shifted(self.arrays, 0, first(r)));
        } else {
            unrolled!(|r < R| rows[r] = I::vector(self.arrays, first(r)));
        }
        compiler_barrier();
        rows
    }

    /// Loads a whole group into the L1 cache, for [`get`](Self::get).
    #[inline(always)]
    pub fn prefetch(&self, group: usize) {
        unrolled!(|r < R| I::prefetch(self.arrays, self.first(group, r)));
    }

    /// Whether the arrays have all granules of the group that starts with this item.
    #[inline(always)]
    fn has_granules(&self, start: usize) -> bool {
        let last = start + Self::GROUP - N;
        I::have_granules::<N>(self.arrays, start) && I::have_granules::<N>(self.arrays, last)
    }

    /// Loads one of the lane's items in a group, if it exists.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn get(&self, group: usize, item: usize) -> Option<I> {
        let i = self.first(group, item / N).wrapping_add(item % N);
        (i < I::len(self.arrays)).then(|| I::get(self.arrays, i))
    }
}
