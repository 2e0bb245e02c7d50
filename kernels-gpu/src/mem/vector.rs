//! Neighbours in global memory that travel together.
//!
//! One instruction loads 2, 4, 8 or 16 bytes for a thread, from a multiple of as many; 16 are the
//! widest before sm_100. A vector of more bytes (four `f64`) is that many loads of 16.
//!
//! An array may start at any element, so its first whole vector may lie a few elements behind its
//! start: [`Global::vectors_at`] says how many.

use super::Global;
use super::trace::{self, Access};
use crate::element::Element;

/// Bytes of the widest load before sm_100.
const WIDEST: usize = 16;

/// An array in global memory as vectors of `N` elements; see [`Global::vectors`].
#[derive(Clone, Copy, Debug)]
pub struct Vectors<T, const N: usize> {
    start: *const [T; N],
    len: usize,
    /// The address behind the array, of which a few elements may belong to no vector.
    end: usize,
}

impl<T: Element> Global<T> {
    /// The array as vectors of `N` elements; up to `N - 1` elements at the end belong to none.
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

    /// The whole vectors in an array that may start at any element, and the element that the first
    /// of them begins with: `(head, vectors)`. The elements before `head` and those behind the
    /// last vector, at most `N - 1` each, belong to none.
    #[inline(always)]
    pub fn vectors_at<const N: usize>(self) -> (usize, Vectors<T, N>) {
        // How many elements lie between two places where a load may begin.
        let step = (alignment::<T, N>() / size_of::<T>()).max(1);
        let behind = (self.start.addr() / size_of::<T>()) % step;
        let head = ((step - behind) % step).min(self.len);
        let vectors = Vectors {
            start: self.first_vector(),
            len: (self.len - head) / N,
            end: self.end(),
        };
        (head, vectors)
    }

    /// Whether every element belongs to one of the [vectors](Self::vectors_at).
    #[inline(always)]
    pub fn is_all_vectors<const N: usize>(self) -> bool {
        self.start.addr().is_multiple_of(alignment::<T, N>()) && self.len.is_multiple_of(N)
    }

    /// The first place, from the start on, where a vector may begin; behind the end of an array that has
    /// none. Straight from the address: a load waits for this.
    #[inline(always)]
    fn first_vector<const N: usize>(self) -> *const [T; N] {
        if N == 1 {
            return self.start.cast();
        }
        let mask = alignment::<T, N>() - 1;
        let up = |address: usize| address.wrapping_add(mask) & !mask;
        self.start.map_addr(up).cast()
    }

    /// The address behind the array.
    #[inline(always)]
    fn end(self) -> usize {
        self.start.wrapping_add(self.len).addr()
    }
}

impl<T: Element, const N: usize> Vectors<T, N> {
    /// How many vectors there are.
    #[inline(always)]
    #[expect(clippy::len_without_is_empty, reason = "no kernel asks")]
    pub fn len(self) -> usize {
        self.len
    }

    /// Whether there is a vector `index`. The first load of a thread waits for the answer: it comes sooner
    /// than [`len`](Self::len) would.
    #[inline(always)]
    pub fn has(self, index: usize) -> bool {
        self.start.wrapping_add(index + 1).addr() <= self.end
    }

    /// Loads vector `index`.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn get(self, index: usize) -> [T; N] {
        let alignment = alignment::<T, N>();
        trace::vector::<[T; N], WIDEST>(self.start, self.len, index, alignment, Access::Load);
        // SAFETY: the maker of the `Global` promised that `index` is in bounds, and whoever made
        // the vectors that the start is aligned.
        unsafe { load(self.start.add(index)) }
    }
}

/// What a vector's address is a multiple of, in bytes.
const fn alignment<T, const N: usize>() -> usize {
    const {
        assert!(
            N == 1 || N.is_power_of_two() && size_of::<T>() == align_of::<T>(),
            "an array of such elements may have no place where a vector can begin"
        );
    }
    let bytes = size_of::<[T; N]>();
    if N == 1 {
        align_of::<T>()
    } else if bytes <= WIDEST {
        bytes
    } else {
        WIDEST
    }
}

macro_rules! aligned {
    ($($name:ident $bytes:literal),*) => {$(
        /// A value at a multiple of so many bytes.
        #[derive(Clone, Copy)]
        #[repr(C, align($bytes))]
        struct $name<T>(T);
    )*};
}

aligned!(At2 2, At4 4, At8 8, At16 16);

/// Loads a vector by as few instructions as there can be.
///
/// # Safety
///
/// `from` is valid for reads and a multiple of [`alignment`].
#[inline(always)]
unsafe fn load<T: Copy, const N: usize>(from: *const [T; N]) -> [T; N] {
    // A type says the alignment, since `align` takes no constant of ours. The one that is chosen is
    // no larger than the vector.
    // SAFETY: the caller's contract.
    unsafe {
        match alignment::<T, N>() {
            _ if N == 1 => *from,
            2 => (*from.cast::<At2<[T; N]>>()).0,
            4 => (*from.cast::<At4<[T; N]>>()).0,
            8 => (*from.cast::<At8<[T; N]>>()).0,
            16 => (*from.cast::<At16<[T; N]>>()).0,
            _ => *from,
        }
    }
}
