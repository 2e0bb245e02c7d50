//! Where the items of tiles are.

use super::items_of_tile;
use crate::items::Items;

/// Where the items of a [`Share`](super::Share) are.
pub(crate) trait Source<I>: Copy {
    /// The number of items.
    fn len(self) -> usize;

    /// Loads item `index`.
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn get(self, index: usize) -> I;
}

/// Where items are that can be loaded by vectors.
pub(crate) trait Vectored<I>: Source<I> {
    /// Loads the vector of the `N` items from `first` on, which is aligned in every array.
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn vector<const N: usize>(self, first: usize) -> [I; N];

    /// Starts to load the line with item `index` into the L1 cache.
    fn prefetch(self, index: usize);
}

/// Where items are that can be loaded by [shifted](crate::mem::Global::shifted) vectors.
pub(crate) trait Shifted<I>: Vectored<I> {
    /// Loads the vector of the `N` items from `first` on, a multiple of `N`, which need not be aligned.
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn shifted<const N: usize>(self, first: usize) -> [I; N];
}

/// Arrays in global memory.
pub(crate) struct Arrays<I: Items>(pub(crate) I::Arrays);

impl<I: Items> Clone for Arrays<I> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<I: Items> Copy for Arrays<I> {}

impl<I: Items> Source<I> for Arrays<I> {
    #[inline(always)]
    fn len(self) -> usize {
        I::len(self.0)
    }

    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn get(self, index: usize) -> I {
        I::get(self.0, index)
    }
}

impl<I: Items> Vectored<I> for Arrays<I> {
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn vector<const N: usize>(self, first: usize) -> [I; N] {
        I::vector(self.0, first)
    }

    #[inline(always)]
    fn prefetch(self, index: usize) {
        I::prefetch(self.0, index);
    }
}

impl<I: Items> Shifted<I> for Arrays<I> {
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn shifted<const N: usize>(self, first: usize) -> [I; N] {
        I::shifted(self.0, 0, first)
    }
}

/// A part of arrays. Its items are counted from its start, but the granules of its first and last items may have others.
pub struct Part<I: Items> {
    /// The arrays.
    pub arrays: I::Arrays,
    /// The index of its first item.
    pub start: usize,
    /// The number of its items.
    pub len: usize,
}

impl<I: Items> Clone for Part<I> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<I: Items> Copy for Part<I> {}

impl<I: Items> Part<I> {
    /// Whether it starts with a vector.
    #[inline(always)]
    pub fn is_aligned<const N: usize>(self) -> bool {
        I::skew::<N>(I::part(self.arrays, self.start, self.len)) == Some(0)
    }

    /// The items of a tile, which has an item.
    #[inline(always)]
    pub fn tile(self, tile: usize) -> Self {
        let first = tile * items_of_tile::<I>();
        Self {
            arrays: self.arrays,
            start: self.start + first,
            len: (self.len - first).min(items_of_tile::<I>()),
        }
    }

    /// Whether it has a whole vector, and the arrays have the granules of all of them.
    #[inline(always)]
    pub fn has_granules<const N: usize>(self) -> bool {
        self.len >= N
            && I::have_granules::<N>(self.arrays, self.start)
            && I::have_granules::<N>(self.arrays, self.start + self.len - N)
    }
}

impl<I: Items> Source<I> for Part<I> {
    #[inline(always)]
    fn len(self) -> usize {
        self.len
    }

    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn get(self, index: usize) -> I {
        I::get(self.arrays, self.start + index)
    }
}

impl<I: Items> Vectored<I> for Part<I> {
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn vector<const N: usize>(self, first: usize) -> [I; N] {
        I::vector(self.arrays, self.start + first)
    }

    #[inline(always)]
    fn prefetch(self, index: usize) {
        I::prefetch(self.arrays, self.start + index);
    }
}

impl<I: Items> Shifted<I> for Part<I> {
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn shifted<const N: usize>(self, first: usize) -> [I; N] {
        I::shifted(self.arrays, self.start, first)
    }
}
