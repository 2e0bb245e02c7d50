//! Memory in words that are wider than its elements: what a copy moves, which does not care what
//! the bytes mean.

use super::Global;
use super::trace::{self, Access};
use crate::element::Element;

/// Bytes that one instruction loads and one stores, at a multiple of as many.
pub trait Word: Copy {
    /// Loads it.
    ///
    /// # Safety
    ///
    /// `place` is valid for reads, aligned and initialised.
    unsafe fn load(place: *const Self) -> Self;
}

macro_rules! words {
    ($($word:ident),*) => {
        $(impl Word for $word {
            #[inline(always)]
            unsafe fn load(place: *const Self) -> Self {
                // SAFETY: the caller's promise.
                unsafe { *place }
            }
        })*
    };
}

words!(u8, u16, u32, u64);

/// Sixteen bytes: the widest access before sm_100.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(16))]
pub struct B128([u64; 2]);

impl Word for B128 {
    #[inline(always)]
    unsafe fn load(place: *const Self) -> Self {
        // By its halves: LLVM makes one load of these, and two of a copy of the whole.
        // SAFETY: the caller's promise.
        unsafe { Self([(*place).0[0], (*place).0[1]]) }
    }
}

/// Thirty-two bytes: the widest access from sm_100 on.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
pub struct B256([u64; 4]);

impl Word for B256 {
    #[inline(always)]
    unsafe fn load(place: *const Self) -> Self {
        // By its quarters, as above.
        // SAFETY: the caller's promise.
        unsafe { Self([(*place).0[0], (*place).0[1], (*place).0[2], (*place).0[3]]) }
    }
}

impl<T: Element> Global<T> {
    /// Whether the two arrays lie alike in words of `W`: where a word begins in the one, one
    /// begins in the other.
    #[inline(always)]
    pub fn lies_alike<W: Word>(self, other: Self) -> bool {
        (self.start.addr() ^ other.start.addr()).is_multiple_of(size_of::<W>())
    }

    /// Whether a word of `W` may begin with the first element.
    #[inline(always)]
    pub fn begins_word<W: Word>(self) -> bool {
        self.start.addr().is_multiple_of(size_of::<W>())
    }

    /// How many elements lie before the first whole word of `W`, which may be past the end.
    #[inline(always)]
    pub fn before_words<W: Word>(self) -> usize {
        self.start.addr().wrapping_neg() % size_of::<W>() / size_of::<T>()
    }

    /// `len` words from element `first`.
    ///
    /// # Safety
    ///
    /// The words are inside the array, and a word may begin at element `first`.
    #[inline(always)]
    pub unsafe fn words<W: Word>(self, first: usize, len: usize) -> Words<W> {
        Words {
            start: self.start.wrapping_add(first).cast(),
            len,
        }
    }
}

/// An array in global memory as words; see [`Global::words`].
#[derive(Clone, Copy, Debug)]
pub struct Words<W> {
    start: *mut W,
    len: usize,
}

impl<W: Word> Words<W> {
    /// How many words there are.
    #[inline(always)]
    #[expect(clippy::len_without_is_empty, reason = "no kernel asks")]
    pub fn len(self) -> usize {
        self.len
    }

    /// Loads word `index`.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn get(self, index: usize) -> W {
        trace::global(self.start, self.len, index, Access::Load);
        // SAFETY: the maker of the handle promised that `index` is in bounds, aligned and
        // initialised.
        unsafe { W::load(self.start.add(index)) }
    }

    /// Stores `value` in word `index`.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn set(self, index: usize, value: W) {
        trace::global(self.start, self.len, index, Access::Store);
        // SAFETY: the maker of the handle promised that `index` is in bounds, aligned and not
        // raced for.
        unsafe { *self.start.add(index) = value }
    }
}
