//! Vectors: adjacent elements in global memory that are loaded together.
//!
//! One instruction loads 2, 4, 8 or 16 bytes for a thread, from an address that is a multiple of the size. 16
//! bytes are the widest load before sm_100. A vector of more bytes, such as four `f64`, is several loads of 16.
//!
//! An array may start at any element, so the first aligned vector may begin a few elements after its start;
//! [`Global::vectors_at`] returns this distance. Four elements of 12 bytes are a vector of three loads, which
//! may begin at one of four consecutive elements.

use super::trace::{self, Access};
use super::{Global, opaque};
use crate::element::Element;
use crate::op::unrolled;
use core::marker::PhantomData;
use core::mem::MaybeUninit;

/// The bytes of the widest load before sm_100.
const WIDEST: usize = 16;

/// An array in global memory as vectors of `N` elements; see [`Global::vectors`].
#[derive(Clone, Copy, Debug)]
pub struct Vectors<T, const N: usize> {
    start: *const [T; N],
    len: usize,
    /// The address behind the array; its last elements may belong to no vector.
    end: usize,
}

/// The alignment of vectors of `N` elements.
pub(super) struct Layout<T, const N: usize>(PhantomData<T>);

impl<T, const N: usize> Layout<T, N> {
    /// The required alignment of a vector's address in bytes: the width of its loads.
    pub(super) const ALIGNMENT: usize = largest_power_in(size_of::<[T; N]>(), WIDEST);

    /// The greatest power of two that divides both `ALIGNMENT` and the size of an element. An array whose
    /// address is not a multiple of it has no vectors.
    const STEP: usize = largest_power_in(size_of::<T>(), Self::ALIGNMENT);

    /// Of this many consecutive elements, a vector may begin at one; a power of two.
    const PERIOD: usize = {
        let period = Self::ALIGNMENT / Self::STEP;
        assert!(period <= N, "vectors begin where others end");
        period
    };

    /// The number of loads of a vector.
    pub(super) const LOADS: usize = size_of::<[T; N]>() / Self::ALIGNMENT;

    /// Whether every array that is long enough has vectors.
    const ALWAYS: bool = align_of::<T>().is_multiple_of(Self::STEP);

    /// The inverse of an element's size in steps, modulo the period.
    const INVERSE: usize = {
        let odd = size_of::<T>() / Self::STEP;
        let mut inverse = 1;
        while (odd * inverse) % Self::PERIOD != 1 % Self::PERIOD {
            inverse += 2;
        }
        inverse
    };

    /// Whether elements are structures or arrays whose size is a power of two.
    const IS_WORDS: bool = size_of::<T>() > align_of::<T>() && size_of::<T>().is_power_of_two();

    /// Calls `each` with the number of each load of a vector, fully unrolled.
    #[inline(always)]
    fn each_load(each: impl Fn(usize)) {
        unrolled!(|load < Self::LOADS| each(load));
    }

    /// The number of elements before the first vector of an array at this address.
    #[inline(always)]
    fn head(address: usize) -> usize {
        (address / Self::STEP)
            .wrapping_neg()
            .wrapping_mul(Self::INVERSE)
            % Self::PERIOD
    }
}

impl<T: Element> Global<T> {
    /// The array as vectors of `N` elements; up to `N - 1` elements at the end belong to no vector.
    ///
    /// # Safety
    ///
    /// The array starts at a multiple of the vector's bytes, or of 16 if it has more.
    #[inline(always)]
    pub unsafe fn vectors<const N: usize>(self) -> Vectors<T, N> {
        Vectors {
            start: self.start.cast(),
            len: self.len / N,
            end: self.end(),
        }
    }

    /// The whole vectors of an array that may start at any element, and the index of the first vector's first
    /// element: `(head, vectors)`.
    ///
    /// The elements before `head` and those after the last vector, at most `N - 1` each, belong to no vector.
    /// `None` if no element of the array is aligned for a vector, for example a structure of two `f32` at 4
    /// bytes behind a multiple of 8.
    #[inline(always)]
    pub fn vectors_at<const N: usize>(self) -> Option<(usize, Vectors<T, N>)> {
        let address = self.start.addr();
        if !Layout::<T, N>::ALWAYS && !address.is_multiple_of(Layout::<T, N>::STEP) {
            return None;
        }
        let head = Layout::<T, N>::head(address).min(self.len);
        let vectors = Vectors {
            start: self.first_vector(),
            len: (self.len - head) / N,
            end: self.end(),
        };
        Some((head, vectors))
    }

    /// Whether every element belongs to one of the [vectors](Self::vectors_at).
    #[inline(always)]
    pub fn is_all_vectors<const N: usize>(self) -> bool {
        let alignment = Layout::<T, N>::ALIGNMENT;
        self.start.addr().is_multiple_of(alignment) && self.len.is_multiple_of(N)
    }

    /// The number of elements between the last address for a vector, at or before the start, and the start: 0 if the
    /// array starts with a vector. `None` as for [`vectors_at`](Self::vectors_at).
    #[inline(always)]
    pub fn skew<const N: usize>(self) -> Option<usize> {
        let address = self.start.addr();
        if !Layout::<T, N>::ALWAYS && !address.is_multiple_of(Layout::<T, N>::STEP) {
            return None;
        }
        let period = Layout::<T, N>::PERIOD;
        Some((period - Layout::<T, N>::head(address)) % period)
    }

    /// Loads the vector of the `N` elements from `first` on, whose address is aligned for a vector.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn vector<const N: usize>(self, first: usize) -> [T; N] {
        let alignment = Layout::<T, N>::ALIGNMENT;
        let start = self.start.wrapping_add(first);
        for load in 0..Layout::<T, N>::LOADS {
            let load = start.addr() + load * alignment;
            trace::granule(self.start, self.end(), load, alignment, Access::Load);
        }
        // SAFETY: the maker of the `Global` guarantees that the elements are in bounds, and that the address is aligned.
        unsafe { load(start.cast()) }
    }

    /// Stores the vector of the `N` elements from `first` on, whose address is aligned for a vector.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn set_vector<const N: usize>(self, first: usize, vector: [T; N]) {
        let alignment = Layout::<T, N>::ALIGNMENT;
        let start = self.start.wrapping_add(first);
        for store in 0..Layout::<T, N>::LOADS {
            let store = start.addr() + store * alignment;
            trace::granule(self.start, self.end(), store, alignment, Access::Store);
        }
        // SAFETY: the maker of the `Global` guarantees that the elements are in bounds and without a data race, and the
        // caller that the address is aligned.
        unsafe { store(start.cast(), vector) }
    }

    /// The first address, from the start on, that is aligned for a vector; it may be past the end. It is
    /// computed from the address alone if possible, because the first load depends on it.
    #[inline(always)]
    fn first_vector<const N: usize>(self) -> *const [T; N] {
        if Layout::<T, N>::PERIOD == 1 {
            return self.start.cast();
        }
        if size_of::<T>() == Layout::<T, N>::STEP {
            let mask = Layout::<T, N>::ALIGNMENT - 1;
            let up = |address: usize| address.wrapping_add(mask) & !mask;
            return self.start.map_addr(up).cast();
        }
        let head = Layout::<T, N>::head(self.start.addr());
        self.start.wrapping_add(head).cast()
    }

    /// The address behind the array.
    #[inline(always)]
    pub(super) fn end(self) -> usize {
        self.start.wrapping_add(self.len).addr()
    }
}

impl<T: Element, const N: usize> Vectors<T, N> {
    /// The number of vectors.
    #[inline(always)]
    #[expect(clippy::len_without_is_empty, reason = "no kernel asks")]
    pub fn len(self) -> usize {
        self.len
    }

    /// Whether there is a vector `index`. It is available earlier than [`len`](Self::len), and the first load
    /// of a thread depends on it.
    #[inline(always)]
    pub fn has(self, index: usize) -> bool {
        self.start.wrapping_add(index + 1).addr() <= self.end
    }

    /// Loads vector `index`.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn get(self, index: usize) -> [T; N] {
        let alignment = Layout::<T, N>::ALIGNMENT;
        trace::vector(self.start, self.len, index, alignment, Access::Load);
        // SAFETY: the maker of the `Global` guarantees that `index` is in bounds, and the maker of the vectors
        // that the start is aligned.
        unsafe { load(self.start.add(index)) }
    }
}

/// The greatest power of two up to `most` that divides `size`.
const fn largest_power_in(size: usize, most: usize) -> usize {
    let power = size & size.wrapping_neg();
    if power < most { power } else { most }
}

macro_rules! aligned {
    ($($name:ident $bytes:literal),*) => {$(
        /// A value with this alignment.
        #[derive(Clone, Copy)]
        #[repr(C, align($bytes))]
        pub(super) struct $name<T>(pub(super) T);
    )*};
}

aligned!(At2 2, At4 4, At8 8, At16 16);

/// Loads a vector by the fewest possible instructions.
///
/// # Safety
///
/// `from` is valid for reads and has the vectors' [alignment](Layout).
#[inline(always)]
unsafe fn load<T: Element, const N: usize>(from: *const [T; N]) -> [T; N] {
    // A type carries the alignment, because `align` accepts no generic constant. The chosen alignment divides
    // the vector's size, so it adds no padding.
    // SAFETY: the caller's contract.
    unsafe {
        match Layout::<T, N>::ALIGNMENT {
            alignment if alignment <= align_of::<T>() => *from,
            2 => (*from.cast::<At2<[T; N]>>()).0,
            4 => (*from.cast::<At4<[T; N]>>()).0,
            8 => (*from.cast::<At8<[T; N]>>()).0,
            16 if Layout::<T, N>::IS_WORDS => load_words(from),
            16 => (*from.cast::<At16<[T; N]>>()).0,
            _ => *from,
        }
    }
}

/// Stores a vector by the fewest possible instructions.
///
/// # Safety
///
/// `to` is valid for writes and has the vectors' [alignment](Layout).
#[inline(always)]
unsafe fn store<T: Element, const N: usize>(to: *mut [T; N], vector: [T; N]) {
    // SAFETY: the caller's contract.
    unsafe {
        match Layout::<T, N>::ALIGNMENT {
            alignment if alignment <= align_of::<T>() => *to = vector,
            2 => *to.cast() = At2(vector),
            4 => *to.cast() = At4(vector),
            8 => *to.cast() = At8(vector),
            16 => *to.cast() = At16(vector),
            _ => *to = vector,
        }
    }
}

/// Loads a vector of structures in words of 64 bits. Field by field, LLVM would not combine fields of different
/// sizes into a wide load.
///
/// # Safety
///
/// As [`load`]; the size of a vector is a multiple of 16 bytes.
#[inline(always)]
unsafe fn load_words<T: Element, const N: usize>(from: *const [T; N]) -> [T; N] {
    let mut vector = MaybeUninit::<[T; N]>::uninit();
    let (from, to) = (from.cast::<At16<[usize; 2]>>(), vector.as_mut_ptr());
    Layout::<T, N>::each_load(|load| {
        // SAFETY: the vector has this load, and `vector` has memory for it.
        unsafe {
            // Otherwise LLVM would still split the load by fields.
            let [low, high] = (*from.add(load)).0.map(opaque);
            to.cast::<[usize; 2]>()
                .add(load)
                .write_unaligned([low, high]);
        }
    });
    // SAFETY: all of it is written, and every bit pattern is a valid value (`Plain`).
    unsafe { vector.assume_init() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::Indexed;

    /// The head, found by a search.
    fn searched<T, const N: usize>(address: usize) -> Option<usize> {
        let is_start = |head: &usize| {
            (address + head * size_of::<T>()).is_multiple_of(Layout::<T, N>::ALIGNMENT)
        };
        (0..N).find(is_start)
    }

    fn holds<T, const N: usize>() {
        for address in (0..256usize).step_by(align_of::<T>()) {
            let found = (Layout::<T, N>::ALWAYS || address.is_multiple_of(Layout::<T, N>::STEP))
                .then(|| Layout::<T, N>::head(address));
            assert_eq!(
                found,
                searched::<T, N>(address),
                "{address} of {N} elements"
            );
        }
    }

    #[test]
    fn a_vector_begins_where_its_loads_may() {
        holds::<u8, 16>();
        holds::<u16, 8>();
        holds::<f32, 1>();
        holds::<f32, 2>();
        holds::<f32, 4>();
        holds::<f64, 2>();
        holds::<f64, 4>();
        holds::<[f32; 2], 2>();
        holds::<[f32; 3], 4>();
        holds::<[f32; 4], 1>();
        holds::<[f32; 5], 4>();
        holds::<[f32; 9], 2>();
        holds::<[f64; 3], 2>();
        holds::<[u8; 3], 16>();
        holds::<[u16; 3], 8>();
        holds::<[f64; 8], 1>();
    }

    #[test]
    fn a_vector_is_stored_whole_and_nothing_else() {
        fn stores<T: Element, const N: usize>(vector: [T; N], other: T) {
            let mut stored = At16([[other; N]; 3]);
            let start = stored.0.as_mut_ptr().cast::<T>();
            // SAFETY: the array has these elements, and nothing else uses them meanwhile.
            let array = unsafe { Global::new(start, 3 * N) };
            array.set_vector(N, vector);
            assert_eq!(stored.0, [[other; N], vector, [other; N]]);
        }
        stores([1u8, 2, 3, 4], 9);
        stores([1i16, -2, 3, 4], 9);
        stores([1.0f32, 2.0, 3.0, 4.0], 9.0);
        stores([1.0f64, 2.0], 9.0);
        stores([1u64, 2, 3, 4], 9);
        let indexed = [0, 1, 2, 3].map(|i| Indexed::new(i as f32, 7 << 33 | i));
        stores(indexed, Indexed::new(-1.0, u64::MAX));
    }

    #[test]
    fn a_vector_of_structures_is_loaded_whole() {
        fn loads<T: Element, const N: usize>(elements: [T; N]) {
            let stored = At16(elements);
            // SAFETY: a vector at a multiple of 16 bytes.
            assert_eq!(unsafe { load(&raw const stored.0) }, elements);
        }
        loads([[1.0f32, 2.0], [3.0, 4.0]]);
        loads([[1.0f32, 2.0, 3.0, 4.0]]);
        loads([Indexed::new(1.5f64, 7 << 33 | 5)]);
        loads([[1.0f64, 2.0, 3.0], [4.0, 5.0, 6.0]]);
        loads([0, 1, 2, 3].map(|i| Indexed::new(i as f32, 7 << 33 | i)));
    }
}
