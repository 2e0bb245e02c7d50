//! A segment of a window.

use crate::items::Items;
use crate::tile::Source;

/// The items of a segment in shared memory.
pub(super) struct Segment<I: Items> {
    pub(super) staged: I::Staged,
    /// The place of the first item.
    pub(super) start: u32,
    pub(super) len: u32,
}

impl<I: Items> Clone for Segment<I> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<I: Items> Copy for Segment<I> {}

impl<I: Items> Source<I> for Segment<I> {
    #[inline(always)]
    fn len(self) -> usize {
        self.len as usize
    }

    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn get(self, index: usize) -> I {
        I::staged(self.staged, self.start + index as u32)
    }
}
