//! Values that cross from one block to another within a launch.

use super::trace::{self, Access};
use crate::element::Element;
use crate::op::unrolled;
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::sync::atomic::Ordering::Relaxed;
use cuda_std::atomic::mid::{atomic_load_64_device, atomic_store_64_device};

/// In a word: the value's half is there.
const LEFT: u64 = 1 << 32;

/// Halves of the widest value.
const MOST_HALVES: usize = 6;

/// An array in global memory through which blocks hand values over while they all run: one block leaves
/// a value, another takes it.
///
/// A value and the news that it is there are two things, and global memory shows them to another block
/// in any order, unless the writer waits between the two at a fence, for a trip to the L2 cache. But a
/// word of 64 bits arrives whole or not at all (PTX ISA, memory consistency model: single-copy
/// atomicity). So each word carries 32 bits of the value and says itself that they are there:
///
/// ```text
/// word    0                       nobody has left anything
///         1 ‖ half of the value   left
/// ```
///
/// Whoever takes a value sets its words back to 0, so that the next launch finds them so.
///
/// See the [module](super) for what its maker promises; in addition, that all words are 0 before the
/// launch, and that each value is left once and taken once.
#[derive(Clone, Copy, Debug)]
pub struct Partials<A> {
    words: *mut u64,
    len: usize,
    of: PhantomData<A>,
}

/// The words of a value as they were at a look.
#[derive(Clone, Copy, Debug)]
pub struct Look<A> {
    words: [u64; MOST_HALVES],
    of: PhantomData<A>,
}

impl<A: Element> Look<A> {
    const WORDS: usize = Partials::<A>::WORDS;

    /// At a place that nobody waits for.
    pub const NOWHERE: Self = Self {
        words: [LEFT; MOST_HALVES],
        of: PhantomData,
    };

    /// Whether the whole value was there.
    #[inline(always)]
    pub fn found(self) -> bool {
        let mut all = LEFT;
        unrolled!(|half < Self::WORDS| all &= self.words[half]);
        all != 0
    }

    /// The value, where it was found.
    #[inline(always)]
    fn value(self) -> A {
        let mut value = MaybeUninit::<A>::uninit();
        let halves = value.as_mut_ptr().cast::<u32>();
        unrolled!(|half < Self::WORDS| {
            // SAFETY: inside the value.
            unsafe { halves.add(half).write_unaligned(self.words[half] as u32) }
        });
        // SAFETY: all of its halves are set, and every bit pattern is a valid value (`Element`).
        unsafe { value.assume_init() }
    }
}

impl<A: Element> Partials<A> {
    /// Words of a value.
    pub const WORDS: usize = {
        assert!(size_of::<A>().is_multiple_of(size_of::<u32>()));
        assert!(size_of::<A>() <= MOST_HALVES * size_of::<u32>());
        size_of::<A>() / size_of::<u32>()
    };

    /// Room for `len` values, [`WORDS`](Self::WORDS) for each from `words`.
    ///
    /// # Safety
    ///
    /// The [contract](Self).
    #[inline(always)]
    pub unsafe fn new(words: *mut u64, len: usize) -> Self {
        let of = PhantomData;
        Self { words, len, of }
    }

    /// Leaves `value` in place `index`.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn leave(self, index: usize, value: A) {
        let halves = (&raw const value).cast::<u32>();
        unrolled!(|half < Self::WORDS| {
            // SAFETY: the value has so many halves, all initialised (`Element`: no padding).
            let bits = unsafe { halves.add(half).read_unaligned() };
            self.store(index, half, LEFT | u64::from(bits));
        });
    }

    /// Looks at place `index`: loads for which nothing waits here.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn look(self, index: usize) -> Look<A> {
        let mut look = Look::NOWHERE;
        unrolled!(|half < Self::WORDS| {
            // SAFETY: the maker of the handle promised that `index` is in bounds and that its words
            // are accessed through handles like this one alone, and so atomically.
            look.words[half] = unsafe { atomic_load_64_device(self.place(index, half), Relaxed) };
        });
        look
    }

    /// Takes the value of place `index`, which the look has found.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn take(self, index: usize, look: Look<A>) -> A {
        unrolled!(|half < Self::WORDS| self.store(index, half, 0));
        look.value()
    }

    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn store(self, index: usize, half: usize, word: u64) {
        // SAFETY: as above.
        unsafe { atomic_store_64_device(self.place(index, half), Relaxed, word) }
    }

    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn place(self, index: usize, half: usize) -> *mut u64 {
        let place = index * Self::WORDS + half;
        trace::global(self.words, self.len * Self::WORDS, place, Access::Atomic);
        self.words.wrapping_add(place)
    }
}
