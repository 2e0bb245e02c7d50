//! Parts of an array that a block copies to shared memory.
//!
//! The copy keeps each byte's address modulo 16, so whole *granules* of 16 bytes are loaded and stored by one
//! instruction each, wherever the part starts. A granule that the array does not have completely is copied in smaller
//! words.
//!
//! The granules of each 128 bytes are permuted, so that threads which read elements a power of two apart use different
//! banks: granule `g` is in place `g ^ (g / 8 % 8)`. Elements that may lie in two granules are not permuted.

use super::trace::{self, Access};
use super::words::{B128, Word};
use super::{Global, Shared, compiler_barrier, opaque};
use crate::element::Element;
use crate::op::unrolled;
use core::mem::MaybeUninit;
use cuda_std::thread::thread_idx_x;

/// The bytes of a granule.
const GRANULE: usize = size_of::<B128>();

/// The granules that a thread has in flight at once.
const IN_FLIGHT: usize = 8;

/// The granules that a thread has in flight at once beside those of another array.
const FEW_IN_FLIGHT: usize = 4;

/// The granules that are permuted among each other: those of all banks.
const LINE: u32 = 8;

/// A part of an array in shared memory.
#[derive(Clone, Copy, Debug)]
pub struct Staged<T> {
    /// From the element on that is first in the granules. If they are not permuted, from the part's first element on.
    elements: Shared<T>,
    /// The number of the part's first element, if they are permuted.
    first: u32,
    /// The first byte of shared memory behind the part.
    end: u32,
}

impl<T: Copy> Staged<T> {
    /// Whether the granules are permuted: every element is in one granule.
    const PERMUTED: bool = size_of::<T>() == align_of::<T>() && size_of::<T>() <= GRANULE;

    /// The elements of a granule.
    const OF_GRANULE: u32 = (GRANULE / size_of::<T>()) as u32;

    /// The element that is `index` elements behind the part's first one.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn get(self, index: u32) -> T {
        if !Self::PERMUTED {
            return self.elements.get(index);
        }
        // In bytes, because a load adds the elements' address by itself, but does not multiply.
        let byte = (self.first + index) * size_of::<T>() as u32;
        let place = byte ^ ((byte / LINE) & ((LINE - 1) * GRANULE as u32));
        self.elements.cast::<u8>().behind(place).cast::<T>().get(0)
    }

    /// The number of elements that the part's first granule of `N` elements has before the first one; `None` if these are
    /// not the elements of a granule.
    #[inline(always)]
    pub fn skew<const N: usize>(self) -> Option<u32> {
        (Self::PERMUTED && N as u32 == Self::OF_GRANULE).then(|| self.first % N as u32)
    }

    /// The elements of granule `granule`, counted from the one with the first element. There is a [`skew`](Self::skew).
    /// Those that are not in the array are 0.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn granule<const N: usize>(self, granule: u32) -> [T; N] {
        let words = (self.elements.cast::<B128>())
            .get_word(place::<true>(self.first / N as u32 + granule))
            .halves();
        // SAFETY: `N` elements have 16 bytes, and every bit pattern is a valid value (`Plain`).
        unsafe { words.as_ptr().cast::<[T; N]>().read_unaligned() }
    }

    /// The elements from `index` on.
    #[inline(always)]
    pub fn behind(self, index: u32) -> Self {
        if Self::PERMUTED {
            let first = self.first + index;
            return Self { first, ..self };
        }
        let elements = self.elements.behind(index);
        Self { elements, ..self }
    }

    /// The first byte of dynamic shared memory behind the part; a multiple of 16.
    #[inline(always)]
    pub fn end(self) -> u32 {
        self.end
    }
}

/// The place of granule `granule`.
#[inline(always)]
fn place<const PERMUTED: bool>(granule: u32) -> u32 {
    match PERMUTED {
        true => granule ^ (granule / LINE % LINE),
        false => granule,
    }
}

/// The most bytes of shared memory for a part of `bytes` bytes: permuted granules may be anywhere in their line.
pub const fn staged_bytes(bytes: usize) -> usize {
    bytes + (LINE as usize + 1) * GRANULE
}

impl<T: Element> Global<T> {
    /// The `len` elements from `first` on, as an array.
    #[inline(always)]
    pub fn part(self, first: usize, len: usize) -> Self {
        let start = self.start.wrapping_add(first);
        Self { start, len }
    }

    /// Copies the elements from `first` to `end` (exclusive) to dynamic shared memory from byte `at` on, a multiple of 16.
    /// All `THREADS` threads of the block, whole lines of them, share the work, and call `meanwhile` while the first loads are in flight. There is
    /// no barrier: the caller needs one before the copy is read.
    ///
    /// # Safety
    ///
    /// The contract of the [module](super): the elements exist, and the block has [`staged_bytes`] of dynamic shared
    /// memory from `at` on, which it does not use otherwise.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub unsafe fn stage<const THREADS: u32>(
        self,
        first: usize,
        end: usize,
        at: u32,
        meanwhile: impl FnOnce(),
    ) -> Staged<T> {
        // SAFETY: the caller's contract.
        let (skew, end) = unsafe {
            match Staged::<T>::PERMUTED {
                true => self.copy::<THREADS, IN_FLIGHT, true>(first, end, at, meanwhile),
                false => self.copy::<THREADS, IN_FLIGHT, false>(first, end, at, meanwhile),
            }
        };
        let (unmoved, first) = match Staged::<T>::PERMUTED {
            true => (0, skew / size_of::<T>() as u32),
            false => (skew, 0),
        };
        Staged {
            // SAFETY: the caller's contract.
            elements: unsafe { Shared::dynamic_at(at + unmoved) },
            first,
            end,
        }
    }

    /// Copies the elements from `first` to `end` as [`stage`](Self::stage), but in their order: element `first` is
    /// [`skew_of`](Self::skew_of) elements behind byte `at`.
    ///
    /// # Safety
    ///
    /// As [`stage`](Self::stage), with room for a granule more than the elements have.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub unsafe fn stage_in_order<const THREADS: u32>(self, first: usize, end: usize, at: u32) {
        // SAFETY: the caller's contract.
        unsafe { self.copy::<THREADS, FEW_IN_FLIGHT, false>(first, end, at, || {}) };
    }

    /// The number of elements from the last multiple of 16 bytes to element `first`.
    #[inline(always)]
    pub fn skew_of(self, first: usize) -> u32 {
        (self.start.wrapping_add(first).addr() % GRANULE / size_of::<T>()) as u32
    }

    /// Copies elements by granules, each thread `K` at once, permuted or not. Returns the number of bytes between `at` and
    /// the first element, and the first byte behind the copy.
    ///
    /// # Safety
    ///
    /// As [`stage`](Self::stage).
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    // Simulated code needs no copy for each caller.
    #[cfg_attr(not(target_arch = "nvptx64"), inline(never), track_caller)]
    unsafe fn copy<const THREADS: u32, const K: usize, const PERMUTED: bool>(
        self,
        first: usize,
        end: usize,
        at: u32,
        meanwhile: impl FnOnce(),
    ) -> (u32, u32) {
        let from = self.start.wrapping_add(first).addr();
        let base = from & !(GRANULE - 1);
        let bytes = self.start.wrapping_add(end).addr() - base;
        let granules = if end > first {
            bytes.div_ceil(GRANULE) as u32
        } else {
            0
        };
        // The array may lack a part of the first granule, and of the last one.
        let skipped = u32::from(base < self.start.addr());
        let whole =
            granules - u32::from(granules > 0 && base + granules as usize * GRANULE > self.end());
        // SAFETY: the caller's contract.
        let to: Shared<B128> = unsafe { Shared::dynamic_at(at) };
        let own = thread_idx_x() + skipped;
        const { assert!(THREADS.is_multiple_of(LINE * LINE)) };
        // A line of lines further on, the place is as far.
        let (own_from, own_to) = (
            base + own as usize * GRANULE,
            to.behind(place::<PERMUTED>(own)),
        );
        let step = THREADS as usize * GRANULE;
        let mut words = [MaybeUninit::<B128>::uninit(); K];
        unrolled!(|k < K| {
            if own + k as u32 * THREADS < whole {
                words[k] = MaybeUninit::new(self.load_at(own_from + k * step));
            }
        });
        compiler_barrier();
        meanwhile();
        // Compares again: so many answers would be kept in registers.
        let again = opaque(whole as usize) as u32;
        unrolled!(|k < K| {
            if own + k as u32 * THREADS < again {
                // SAFETY: loaded above, because `again` is `whole`.
                own_to.set(k as u32 * THREADS, unsafe { words[k].assume_init() });
            }
        });
        let mut k = K as u32;
        while own + k * THREADS < whole {
            own_to.set(k * THREADS, self.load_at(own_from + k as usize * step));
            k += 1;
        }
        if thread_idx_x() == 0 && granules > 0 {
            // SAFETY: the caller's contract.
            unsafe {
                if skipped > 0 {
                    self.stage_partly::<PERMUTED>(base, at, 0);
                }
                if whole < granules && granules > skipped {
                    self.stage_partly::<PERMUTED>(base, at, whole);
                }
            }
        }
        (
            (from - base) as u32,
            at + granules.next_multiple_of(LINE) * GRANULE as u32,
        )
    }

    /// Copies those bytes of granule `g` that the array has.
    ///
    /// # Safety
    ///
    /// As [`stage`](Self::stage).
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    unsafe fn stage_partly<const PERMUTED: bool>(self, base: usize, at: u32, g: u32) {
        // SAFETY: the caller's contract.
        unsafe {
            match align_of::<T>() {
                1 => self.stage_words::<u8, PERMUTED>(base, at, g),
                2 => self.stage_words::<u16, PERMUTED>(base, at, g),
                4 => self.stage_words::<u32, PERMUTED>(base, at, g),
                _ => self.stage_words::<u64, PERMUTED>(base, at, g),
            }
        }
    }

    /// Copies those words of granule `g` that the array has; the others are 0.
    ///
    /// # Safety
    ///
    /// As [`stage`](Self::stage); `W` has at most the elements' alignment.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    unsafe fn stage_words<W: Word + Default, const PERMUTED: bool>(
        self,
        base: usize,
        at: u32,
        g: u32,
    ) {
        // SAFETY: the caller's contract.
        let to: Shared<W> = unsafe { Shared::dynamic_at(at) };
        let words = (GRANULE / size_of::<W>()) as u32;
        let place = place::<PERMUTED>(g) * words;
        let mut word = 0;
        while word < words {
            let address = base + (g * words + word) as usize * size_of::<W>();
            let exists = self.start.addr() <= address && address + size_of::<W>() <= self.end();
            let value = if exists {
                self.load_at(address)
            } else {
                W::default()
            };
            to.set(place + word, value);
            word += 1;
        }
    }

    /// Loads the word at an address, a multiple of its size, in the array.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn load_at<W: Word>(self, address: usize) -> W {
        let size = size_of::<W>();
        trace::granule(self.start, self.end(), address, size, Access::Load);
        // SAFETY: the maker of the `Global` guarantees that the word is in the array; it is aligned.
        unsafe { W::load(self.start.with_addr(address).cast()) }
    }
}
