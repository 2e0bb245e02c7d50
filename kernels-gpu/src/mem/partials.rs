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

/// Bytes of the widest accumulator.
pub const MOST_BYTES: usize = 128;

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

/// A value as it was at a look, if it was there.
#[derive(Clone, Copy, Debug)]
pub struct Look<A: Element> {
    /// Of all words that were looked at, what they have in common.
    all: u64,
    value: MaybeUninit<A>,
}

impl<A: Element> Look<A> {
    /// At a place that nobody waits for.
    pub const NOWHERE: Self = Self {
        all: LEFT,
        value: MaybeUninit::uninit(),
    };

    /// Whether the whole value was there.
    #[inline(always)]
    pub fn found(self) -> bool {
        self.all & LEFT != 0
    }
}

impl<A: Element> Partials<A> {
    /// Words of a value.
    pub const WORDS: usize = {
        assert!(
            size_of::<A>() <= MOST_BYTES,
            "an accumulator has at most 128 bytes"
        );
        size_of::<A>().div_ceil(size_of::<u32>())
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
        let value = MaybeUninit::new(value);
        unrolled!(|word < Self::WORDS| {
            // SAFETY: the value has this word, all of it initialised (`Plain`: no padding).
            let bits = unsafe { read_word(&value, word) };
            self.store(index, word, LEFT | u64::from(bits));
        });
    }

    /// Looks at place `index`: loads for which nothing waits here.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn look(self, index: usize) -> Look<A> {
        let mut look = Look::NOWHERE;
        unrolled!(|word < Self::WORDS| {
            // SAFETY: the maker of the handle promised that `index` is in bounds and that its words
            // are accessed through handles like this one alone, and so atomically.
            let found = unsafe { atomic_load_64_device(self.place(index, word), Relaxed) };
            look.all &= found;
            // SAFETY: the value has this word.
            unsafe { write_word(&mut look.value, word, found as u32) };
        });
        look
    }

    /// Takes the value of place `index`, which the look has found.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn take(self, index: usize, look: Look<A>) -> A {
        unrolled!(|word < Self::WORDS| self.store(index, word, 0));
        // SAFETY: the look has set all of its words, and every bit pattern is a valid value (`Plain`).
        unsafe { look.value.assume_init() }
    }

    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn store(self, index: usize, word: usize, bits: u64) {
        // SAFETY: as above.
        unsafe { atomic_store_64_device(self.place(index, word), Relaxed, bits) }
    }

    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn place(self, index: usize, word: usize) -> *mut u64 {
        let place = index * Self::WORDS + word;
        trace::global(self.words, self.len * Self::WORDS, place, Access::Atomic);
        self.words.wrapping_add(place)
    }
}

/// Word `word` of a value; the last may have fewer bytes.
///
/// # Safety
///
/// The value has it, initialised.
#[inline(always)]
unsafe fn read_word<A>(value: &MaybeUninit<A>, word: usize) -> u32 {
    let from = value.as_ptr().cast::<u8>().wrapping_add(4 * word);
    let bytes = size_of::<A>() - 4 * word;
    // SAFETY: as many bytes are there (the caller).
    unsafe {
        match bytes {
            1 => (*from).into(),
            2 => from.cast::<u16>().read_unaligned().into(),
            3 => u32::from(from.cast::<u16>().read_unaligned()) | u32::from(*from.add(2)) << 16,
            _ => from.cast::<u32>().read_unaligned(),
        }
    }
}

/// Sets word `word` of a value; the last may have fewer bytes.
///
/// # Safety
///
/// The value has it.
#[inline(always)]
unsafe fn write_word<A>(value: &mut MaybeUninit<A>, word: usize, bits: u32) {
    let to = value.as_mut_ptr().cast::<u8>().wrapping_add(4 * word);
    let bytes = size_of::<A>() - 4 * word;
    // SAFETY: as many bytes are there (the caller).
    unsafe {
        match bytes {
            1 => to.write(bits as u8),
            2 => to.cast::<u16>().write_unaligned(bits as u16),
            3 => {
                to.cast::<u16>().write_unaligned(bits as u16);
                to.add(2).write((bits >> 16) as u8);
            }
            _ => to.cast::<u32>().write_unaligned(bits),
        }
    }
}
