//! The items of a column.

use crate::axes::{DIM_WORDS, Dims, Shape};
use crate::items::Items;
use crate::mem::Shared;
use crate::tile::{Source, Vectored, items_of_tile};

/// The items of a column.
pub(super) struct Column<I: Items> {
    pub(super) arrays: I::Arrays,
    len: usize,
    /// The offset of item 0; wraps, if the offset of a run's start is below that of its first item, or strides are negative.
    pub(super) base: usize,
    pub(super) dims: Dims,
    /// The number of adjacent columns in a vector.
    pub(super) width: usize,
    /// Whether items of adjacent indices are adjacent, and each vector of them is aligned.
    pub(super) is_adjacent: bool,
}

impl<I: Items> Clone for Column<I> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<I: Items> Copy for Column<I> {}

impl<I: Items> Column<I> {
    /// The column whose first item is at this offset, for tile number `tile`.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub(super) fn new(
        arrays: I::Arrays,
        shape: &Shape,
        words: Shared<u64>,
        offset: usize,
        tile: usize,
    ) -> Self {
        let stride = shape.reduced_stride as usize;
        let (mut base, mut last) = (offset, shape.dims.saturating_sub(1));
        if shape.is_in_runs > 0 {
            let first = tile * items_of_tile::<I>();
            let dims = Dims {
                words,
                first: shape.kept,
                last,
                stride: words.get(DIM_WORDS as u32 * last + 2) as usize,
            };
            let of_run = base.wrapping_add(dims.offset(first));
            base = of_run.wrapping_sub(first.wrapping_mul(stride));
            last = shape.kept;
        }
        Self {
            arrays,
            len: shape.items as usize,
            base,
            dims: Dims {
                words,
                first: shape.kept,
                last,
                stride,
            },
            width: shape.width as usize,
            is_adjacent: shape.is_adjacent > 0,
        }
    }

    /// The offset of item `index`.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub(super) fn offset(&self, index: usize) -> usize {
        self.base.wrapping_add(self.dims.offset(index))
    }
}

impl<I: Items> Source<I> for Column<I> {
    #[inline(always)]
    fn len(self) -> usize {
        self.len
    }

    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn get(self, index: usize) -> I {
        I::get(self.arrays, self.offset(index))
    }
}

impl<I: Items> Vectored<I> for Column<I> {
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn vector<const N: usize>(self, first: usize) -> [I; N] {
        I::vector(self.arrays, self.base.wrapping_add(first))
    }

    /// Nothing: columns have enough loads in flight.
    #[inline(always)]
    fn prefetch(self, _index: usize) {}
}
