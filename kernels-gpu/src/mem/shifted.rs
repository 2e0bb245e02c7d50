//! Vectors of an array that starts at any element.
//!
//! One instruction loads 16 bytes only from a multiple of 16. A vector that starts between two such *granules* lies in
//! both of them, so the thread loads both and shifts the bytes together:
//!
//! ```text
//! granules      | . . . a | b c d . |        four floats from one granule's last to the next one's third
//! vector                [ a b c d ]
//! ```
//!
//! Adjacent threads load most granules twice; the second load hits the L1 cache. A vector with wider elements has
//! several granules, and narrower ones if its size is no multiple of 16.

use super::Global;
use super::trace::{self, Access};
use super::vector::{At8, At16, Layout};
use crate::device::funnel_shift_right;
use crate::element::Element;
use crate::op::unrolled;

/// The words of the longest vector that is shifted, and of one more granule.
const WORDS: usize = 28;

/// The words that follow another one.
const NOT_LAST: usize = WORDS - 1;

/// The words that follow two others.
const NOT_LAST_TWO: usize = WORDS - 2;

impl<T: Element, const N: usize> Layout<T, N> {
    /// The bytes of a granule: the width of a load.
    const GRANULE: usize = Self::ALIGNMENT;

    /// The words of a granule.
    const GRANULE_WORDS: usize = Self::GRANULE / size_of::<u32>();

    /// The granules of a vector that starts within one.
    const GRANULES: usize = Self::LOADS + 1;

    /// Whether a vector may start within a granule, and is then shifted. Otherwise its elements are loaded one by one:
    /// they are as wide as granules, or granules are narrower than words, or there are too many.
    const IS_SHIFTED: bool = align_of::<T>() < Self::GRANULE
        && Self::GRANULE_WORDS > 0
        && Self::GRANULES * Self::GRANULE_WORDS <= WORDS;

    /// Loads the elements of `array` from the `first`th one behind element `start` on; `first` is a multiple of `N`.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn load_shifted(array: Global<T>, start: usize, first: usize) -> [T; N] {
        if !Self::IS_SHIFTED {
            let first = start.wrapping_add(first);
            let mut vector = [array.get(first); N];
            unrolled!(|e < N| vector[e] = array.get(first + e));
            return vector;
        }
        // The same for all vectors behind this element, because each has a whole number of granules.
        let at = array.start.wrapping_add(start);
        let bytes = at.addr() % Self::GRANULE;
        let mut words = [0u32; WORDS];
        unrolled!(|g < Self::GRANULES| {
            let granule = Self::load_granule(array, at, first, g);
            unrolled!(|w < Self::GRANULE_WORDS| words[g * Self::GRANULE_WORDS + w] = granule[w]);
        });
        if Self::GRANULE > 8 && bytes & 8 != 0 {
            unrolled!(|w < NOT_LAST_TWO| words[w] = words[w + 2]);
        }
        if Self::GRANULE > 4 && bytes & 4 != 0 {
            unrolled!(|w < NOT_LAST| words[w] = words[w + 1]);
        }
        if align_of::<T>() < size_of::<u32>() {
            let bits = 8 * (bytes as u32 % 4);
            unrolled!(|w < NOT_LAST| words[w] = funnel_shift_right(words[w], words[w + 1], bits));
        }
        // SAFETY: the words have at least the bytes of the vector (`IS_SHIFTED`), and every bit pattern is a valid
        // value (`Plain`).
        unsafe { words.as_ptr().cast::<[T; N]>().read_unaligned() }
    }

    /// Loads granule `g` of the vector from the `first`th element behind `at` on; the words of a narrow granule are followed by zeros.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn load_granule(array: Global<T>, at: *const T, first: usize, g: usize) -> [u32; 4] {
        let granules = at.map_addr(|address| address & !(Self::GRANULE - 1));
        let start = granules
            .wrapping_add(first)
            .wrapping_byte_add(g * Self::GRANULE);
        trace::granule(
            array.start,
            array.end(),
            start.addr(),
            Self::GRANULE,
            Access::Load,
        );
        // SAFETY: the maker of the `Global` guarantees that the granule is in the array; it starts at a multiple of its
        // size.
        unsafe {
            match Self::GRANULE {
                16 => start.cast::<At16<[u32; 4]>>().read().0,
                8 => {
                    let [low, high] = start.cast::<At8<[u32; 2]>>().read().0;
                    [low, high, 0, 0]
                }
                _ => [start.cast::<u32>().read(), 0, 0, 0],
            }
        }
    }
}

impl<T: Element> Global<T> {
    /// Loads `N` elements, from the `first`th one behind element `start` on, wherever that is: by loads of whole granules of up to
    /// 16 bytes, all of which are in the array. `first` is a multiple of `N`.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn shifted<const N: usize>(self, start: usize, first: usize) -> [T; N] {
        Layout::<T, N>::load_shifted(self, start, first)
    }

    /// Whether the array has all granules that [`shifted`](Self::shifted) loads for the `N` elements from `first` on: also the one
    /// behind a vector that starts with a granule.
    #[inline(always)]
    pub fn has_granules<const N: usize>(self, first: usize) -> bool {
        let (granule, bytes) = match Layout::<T, N>::IS_SHIFTED {
            true => (
                Layout::<T, N>::GRANULE,
                Layout::<T, N>::GRANULES * Layout::<T, N>::GRANULE,
            ),
            false => (1, size_of::<[T; N]>()),
        };
        let start = self.start.wrapping_add(first).addr() & !(granule - 1);
        self.start.addr() <= start && start + bytes <= self.end()
    }
}
