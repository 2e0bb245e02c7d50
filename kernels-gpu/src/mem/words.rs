//! Memory as words that are wider than its elements, for copies, which do not interpret the bytes.

use super::Global;
use super::trace::{self, Access};
use crate::element::Element;

/// A word that one instruction loads or stores; its address must be a multiple of its size.
pub trait Word: Copy {
    /// Loads the word.
    ///
    /// # Safety
    ///
    /// `from` is valid for reads, aligned and initialised.
    unsafe fn load(from: *const Self) -> Self;
}

macro_rules! words {
    ($($word:ident),*) => {
        $(impl Word for $word {
            #[inline(always)]
            unsafe fn load(from: *const Self) -> Self {
                // SAFETY: the caller's contract.
                unsafe { *from }
            }
        })*
    };
}

words!(u8, u16, u32, u64);

/// 16 bytes: the widest access before sm_100.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(16))]
pub struct B128([u64; 2]);

impl B128 {
    /// 16 bytes of 0.
    pub const ZERO: Self = Self([0; 2]);

    /// The first and the last 8 bytes.
    #[inline(always)]
    pub fn halves(self) -> [u64; 2] {
        self.0
    }
}

impl Word for B128 {
    #[inline(always)]
    unsafe fn load(from: *const Self) -> Self {
        // By halves, because LLVM makes one load of these, but two of a copy of the whole.
        // SAFETY: the caller's contract.
        unsafe { Self([(*from).0[0], (*from).0[1]]) }
    }
}

/// 32 bytes: the widest access from sm_100 on.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
pub struct B256([u64; 4]);

impl Word for B256 {
    #[inline(always)]
    unsafe fn load(from: *const Self) -> Self {
        // By quarters, as above.
        // SAFETY: the caller's contract.
        unsafe { Self([(*from).0[0], (*from).0[1], (*from).0[2], (*from).0[3]]) }
    }
}

impl<T: Element> Global<T> {
    /// Whether the addresses of the two arrays agree modulo the size of `W`.
    #[inline(always)]
    pub fn has_same_alignment<W: Word>(self, other: Self) -> bool {
        (self.start.addr() ^ other.start.addr()).is_multiple_of(size_of::<W>())
    }

    /// Whether the first element is aligned for a word of `W`.
    #[inline(always)]
    pub fn is_aligned_for<W: Word>(self) -> bool {
        self.start.addr().is_multiple_of(size_of::<W>())
    }

    /// The number of elements before the first aligned word of `W`, which may be past the end.
    #[inline(always)]
    pub fn head_len<W: Word>(self) -> usize {
        self.start.addr().wrapping_neg() % size_of::<W>() / size_of::<T>()
    }

    /// `len` words from element `first`.
    ///
    /// # Safety
    ///
    /// The words are inside the array, and element `first` is aligned for a word.
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
    /// The number of words.
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
        // SAFETY: the maker of the handle guarantees that `index` is in bounds, aligned and initialised.
        unsafe { W::load(self.start.add(index)) }
    }

    /// Stores `value` in word `index`.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn set(self, index: usize, value: W) {
        trace::global(self.start, self.len, index, Access::Store);
        // SAFETY: the maker of the handle guarantees that `index` is in bounds, aligned and without a data
        // race.
        unsafe { *self.start.add(index) = value }
    }
}
