//! Partials: values that one block stores and another block loads within the same launch.

use super::trace::{self, Access};
use crate::element::Element;
use crate::op::unrolled;
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::sync::atomic::Ordering::Relaxed;
use cuda_std::atomic::mid::{atomic_load_64_device, atomic_store_64_device};

/// The ready flag of a word: its half of the value has been stored.
const READY: u64 = 1 << 32;

/// The maximum bytes of an accumulator.
pub const MOST_BYTES: usize = 128;

/// An array in global memory through which running blocks exchange values: one block stores a value, another
/// loads it.
///
/// A value and a separate flag could become visible to another block in any order, unless the writer issues a
/// fence between the two stores, which takes a round trip to the L2 cache. But a store of 64 bits is
/// indivisible (PTX ISA, memory consistency model: single-copy atomicity). So each 64-bit word carries 32 bits
/// of the value and a ready flag:
///
/// ```text
/// word    0                       not stored yet
///         1 ‖ half of the value   ready
/// ```
///
/// The reader resets the words to 0 for the next launch.
///
/// The [module](super) documents the contract of the maker. In addition, all words are 0 before the launch, and
/// each value is stored once and loaded once.
#[derive(Clone, Copy, Debug)]
pub struct Partials<A> {
    words: *mut u64,
    len: usize,
    of: PhantomData<A>,
}

/// The result of a poll: the value, if it was ready.
#[derive(Clone, Copy, Debug)]
pub struct Polled<A: Element> {
    /// The bitwise and of all polled words.
    all: u64,
    value: MaybeUninit<A>,
}

impl<A: Element> Polled<A> {
    /// The result for a partial that no lane waits for: counts as ready.
    pub const NOT_NEEDED: Self = Self {
        all: READY,
        value: MaybeUninit::uninit(),
    };

    /// Whether all words of the value were ready.
    #[inline(always)]
    pub fn is_ready(self) -> bool {
        self.all & READY != 0
    }
}

impl<A: Element> Partials<A> {
    /// The number of words of a value.
    pub const WORDS: usize = {
        assert!(
            size_of::<A>() <= MOST_BYTES,
            "an accumulator has at most 128 bytes"
        );
        size_of::<A>().div_ceil(size_of::<u32>())
    };

    /// The handle of `len` values at `words`, with [`WORDS`](Self::WORDS) words each.
    ///
    /// # Safety
    ///
    /// The [contract](Self).
    #[inline(always)]
    pub unsafe fn new(words: *mut u64, len: usize) -> Self {
        let of = PhantomData;
        Self { words, len, of }
    }

    /// Stores `value` as partial `index`, with its ready flags.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn store(self, index: usize, value: A) {
        let value = MaybeUninit::new(value);
        unrolled!(|word < Self::WORDS| {
            // SAFETY: the value has this word, and all of it is initialised (`Plain`: no padding).
            let bits = unsafe { read_word(&value, word) };
            self.store_word(index, word, READY | u64::from(bits));
        });
    }

    /// Loads the words of partial `index` without waiting for the ready flags.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn poll(self, index: usize) -> Polled<A> {
        let mut polled = Polled::NOT_NEEDED;
        unrolled!(|word < Self::WORDS| {
            // SAFETY: the maker of the handle guarantees that `index` is in bounds, and that its words are only
            // accessed through handles like this one, and so atomically.
            let loaded = unsafe { atomic_load_64_device(self.address(index, word), Relaxed) };
            polled.all &= loaded;
            // SAFETY: the value has this word.
            unsafe { write_word(&mut polled.value, word, loaded as u32) };
        });
        polled
    }

    /// Returns the value of partial `index` from a poll that was ready, and resets its ready flags.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn load_and_reset(self, index: usize, polled: Polled<A>) -> A {
        unrolled!(|word < Self::WORDS| self.store_word(index, word, 0));
        // SAFETY: the poll has set all words of the value, and every bit pattern is a valid value (`Plain`).
        unsafe { polled.value.assume_init() }
    }

    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn store_word(self, index: usize, word: usize, bits: u64) {
        // SAFETY: as above.
        unsafe { atomic_store_64_device(self.address(index, word), Relaxed, bits) }
    }

    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn address(self, index: usize, word: usize) -> *mut u64 {
        let offset = index * Self::WORDS + word;
        trace::global(self.words, self.len * Self::WORDS, offset, Access::Atomic);
        self.words.wrapping_add(offset)
    }
}

/// Reads word `word` of a value; the last word may have fewer bytes.
///
/// # Safety
///
/// The value has this word, and it is initialised.
#[inline(always)]
unsafe fn read_word<A>(value: &MaybeUninit<A>, word: usize) -> u32 {
    let from = value.as_ptr().cast::<u8>().wrapping_add(4 * word);
    let bytes = size_of::<A>() - 4 * word;
    // SAFETY: the caller guarantees that the value has these bytes.
    unsafe {
        match bytes {
            1 => (*from).into(),
            2 => from.cast::<u16>().read_unaligned().into(),
            3 => u32::from(from.cast::<u16>().read_unaligned()) | u32::from(*from.add(2)) << 16,
            _ => from.cast::<u32>().read_unaligned(),
        }
    }
}

/// Writes word `word` of a value; the last word may have fewer bytes.
///
/// # Safety
///
/// The value has this word.
#[inline(always)]
unsafe fn write_word<A>(value: &mut MaybeUninit<A>, word: usize, bits: u32) {
    let to = value.as_mut_ptr().cast::<u8>().wrapping_add(4 * word);
    let bytes = size_of::<A>() - 4 * word;
    // SAFETY: the caller guarantees that the value has these bytes.
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
