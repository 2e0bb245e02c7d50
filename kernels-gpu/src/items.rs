//! Items: the input of an operator, elements of one array or of several arrays.

use crate::element::{Element, Shuffle};
use crate::mem::{Global, Staged};
use crate::op::unrolled;

/// The elements that an operator takes at one index: one element, or a pair or a triple of elements of as many
/// arrays.
///
/// | items | arrays |
/// |---|---|
/// | `T` | one array of `T` |
/// | `(T, U)` | an array of `T` and an array of `U`, of the same length |
/// | `(T, U, V)` | three arrays of the same length |
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be reduced: it is neither an element nor a tuple of two or three elements",
    label = "not an element, nor a tuple of elements",
    note = "elements are numbers, arrays of elements, and `#[repr(C)]` structures with `#[derive(Element)]`",
    note = "if `{Self}` is a structure of yours, mark it `#[derive(Clone, Copy, Debug, PartialEq, Element)]` and `#[repr(C)]`"
)]
pub trait Items: Copy + Send + Sync + 'static {
    /// A value for each array, such as a view or a slice; see [`Each`].
    type Of<E: Each>: Copy + Send + Sync;

    /// The bytes of an item, for all arrays together.
    const BYTES: usize;

    /// The arrays, as the kernel receives them.
    type Arrays: Copy;

    /// Parts of the arrays in shared memory.
    type Staged: Copy;

    /// Converts the value of each array.
    fn map<A: Each, B: Each>(of: Self::Of<A>, map: &mut impl Map<A, B>) -> Self::Of<B>;

    /// The item that consists of these elements.
    fn item(of: Self::Of<Own>) -> Self;

    /// The item of another lane of the warp: see [`Element::shuffle`].
    ///
    /// # Safety
    ///
    /// As [`Element::shuffle`].
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    unsafe fn shuffled(item: Self, mask: u32, from: Shuffle) -> Self;

    /// The number of items of a vector: the fewest with which the loads of every array are 16 bytes wide.
    /// Smaller if that needs too many registers.
    const VECTOR: usize;

    /// The number of vectors that a thread has in flight.
    const IN_FLIGHT: usize;

    /// The number of items.
    fn len(arrays: Self::Arrays) -> usize;

    /// Loads item `index`.
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn get(arrays: Self::Arrays, index: usize) -> Self;

    /// Starts to load the line with item `index` into the L1 cache.
    fn prefetch(arrays: Self::Arrays, index: usize);

    /// The number of items between the last address for a vector of `N` items, at or before the start, and the start: 0
    /// if the arrays start with a vector. `None` if no item is aligned for a vector in all arrays.
    fn skew<const N: usize>(arrays: Self::Arrays) -> Option<usize>;

    /// Loads the vector of the `N` items from `first` on, which is aligned for a vector in all arrays.
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn vector<const N: usize>(arrays: Self::Arrays, first: usize) -> [Self; N];

    /// Loads `N` items wherever they are: those from the `first`th one behind item `start` on, where `first` is a multiple of `N`.
    /// The arrays [have the granules](Self::have_granules).
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn shifted<const N: usize>(arrays: Self::Arrays, start: usize, first: usize) -> [Self; N];

    /// Whether [`shifted`](Self::shifted) can load the `N` items from `first` on: see [`Global::has_granules`].
    fn have_granules<const N: usize>(arrays: Self::Arrays, first: usize) -> bool;

    /// The `len` items from `first` on.
    fn part(arrays: Self::Arrays, first: usize, len: usize) -> Self::Arrays;

    /// Copies the items from `first` to `end` to shared memory: see [`Global::stage`].
    ///
    /// # Safety
    ///
    /// As [`Global::stage`], for each array one behind the other.
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    unsafe fn stage<const THREADS: u32>(
        arrays: Self::Arrays,
        first: usize,
        end: usize,
        at: u32,
        meanwhile: impl FnOnce(),
    ) -> Self::Staged;

    /// The staged items from `index` on.
    fn behind(staged: Self::Staged, index: u32) -> Self::Staged;

    /// Item `index` of the staged ones.
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn staged(staged: Self::Staged, index: u32) -> Self;

    /// The number of items before the staged ones in the granule of `N` items that has the first of them: see
    /// [`Staged::skew`]. `None` if it is not the same in all arrays.
    fn staged_skew<const N: usize>(staged: Self::Staged) -> Option<u32>;

    /// The items of granule `granule`, counted from that with the first staged item: see [`Staged::granule`].
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn staged_granule<const N: usize>(staged: Self::Staged, granule: u32) -> [Self; N];
}

/// A type for each array, by its element type: `&'a [T]` for `struct Slices<'a>`.
pub trait Each {
    /// The type for an array of `T`.
    type Of<T: Element>: Copy + Send + Sync;
}

/// Selects the element itself.
#[derive(Clone, Copy, Debug)]
pub struct Own;

impl Each for Own {
    type Of<T: Element> = T;
}

/// A function that is applied to the value of each array.
pub trait Map<A: Each, B: Each> {
    /// The function for an array of `T`.
    fn map<T: Element>(&mut self, of: A::Of<T>) -> B::Of<T>;
}

/// The bytes of the widest load before sm_100.
const WIDEST: usize = 16;

/// The maximum bytes of a vector with several elements.
const MOST_BYTES: usize = 96;

/// The maximum bytes that a thread has in flight, if these are several vectors.
const MOST_IN_FLIGHT: usize = 128;

/// The number of elements of `size` bytes in the shortest vector with the widest loads.
const fn vector_of(size: usize) -> usize {
    let mut load = WIDEST;
    loop {
        let elements = load / greatest_power_of_two_in(size, load);
        if elements == 1 || elements * size <= MOST_BYTES {
            return elements;
        }
        load /= 2;
    }
}

/// The greatest power of two up to `most` that divides `size`.
const fn greatest_power_of_two_in(size: usize, most: usize) -> usize {
    let power = size & size.wrapping_neg();
    if power < most { power } else { most }
}

/// The number of vectors of `bytes` bytes in flight per thread: 4, 2 or 1.
const fn in_flight_of(bytes: usize) -> usize {
    match MOST_IN_FLIGHT / bytes {
        0 | 1 => 1,
        2 | 3 => 2,
        _ => 4,
    }
}

impl<T: Element> Items for T {
    type Arrays = Global<T>;
    type Staged = Staged<T>;
    type Of<E: Each> = E::Of<T>;
    const BYTES: usize = size_of::<T>();
    const VECTOR: usize = vector_of(size_of::<T>());
    const IN_FLIGHT: usize = {
        let most = in_flight_of(Self::VECTOR * size_of::<T>());
        // The items of a vector of bytes need many registers.
        if Self::VECTOR > 8 && most > 2 {
            2
        } else {
            most
        }
    };

    #[inline(always)]
    fn map<A: Each, B: Each>(of: A::Of<T>, map: &mut impl Map<A, B>) -> B::Of<T> {
        map.map(of)
    }

    #[inline(always)]
    fn item(element: T) -> T {
        element
    }

    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    unsafe fn shuffled(item: Self, mask: u32, from: Shuffle) -> T {
        // SAFETY: the caller's contract.
        unsafe { Element::shuffle(item, mask, from) }
    }

    #[inline(always)]
    fn len(array: Global<T>) -> usize {
        array.len()
    }

    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn get(array: Global<T>, index: usize) -> T {
        array.get(index)
    }

    #[inline(always)]
    fn prefetch(array: Global<T>, index: usize) {
        array.prefetch(index);
    }

    #[inline(always)]
    fn skew<const N: usize>(array: Global<T>) -> Option<usize> {
        array.skew::<N>()
    }

    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn vector<const N: usize>(array: Global<T>, first: usize) -> [T; N] {
        array.vector(first)
    }

    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn shifted<const N: usize>(array: Global<T>, start: usize, first: usize) -> [T; N] {
        array.shifted(start, first)
    }

    #[inline(always)]
    fn have_granules<const N: usize>(array: Global<T>, first: usize) -> bool {
        array.has_granules::<N>(first)
    }

    #[inline(always)]
    fn part(array: Global<T>, first: usize, len: usize) -> Global<T> {
        array.part(first, len)
    }

    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    unsafe fn stage<const THREADS: u32>(
        array: Global<T>,
        first: usize,
        end: usize,
        at: u32,
        meanwhile: impl FnOnce(),
    ) -> Staged<T> {
        // SAFETY: the caller's contract.
        unsafe { array.stage::<THREADS>(first, end, at, meanwhile) }
    }

    #[inline(always)]
    fn behind(staged: Staged<T>, index: u32) -> Staged<T> {
        staged.behind(index)
    }

    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn staged(staged: Staged<T>, index: u32) -> T {
        staged.get(index)
    }

    #[inline(always)]
    fn staged_skew<const N: usize>(staged: Staged<T>) -> Option<u32> {
        staged.skew::<N>()
    }

    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn staged_granule<const N: usize>(staged: Staged<T>, granule: u32) -> [T; N] {
        staged.granule(granule)
    }
}

/// Several arrays. They have a skew if it is the same for all of them.
macro_rules! side_by_side {
    ($($element:ident $i:tt),+) => {
        impl<$($element: Element),+> Items for ($($element),+) {
            type Arrays = ($(Global<$element>),+);
            type Staged = ($(Staged<$element>),+);
            type Of<E: Each> = ($(E::Of<$element>),+);
            const BYTES: usize = 0 $(+ size_of::<$element>())+;
            // The widest elements determine the vector, so that their loads are full.
            const VECTOR: usize = {
                let mut items = WIDEST;
                $(
                    let own = vector_of(size_of::<$element>());
                    if own < items {
                        items = own;
                    }
                )+
                items
            };
            // Two loads of each array.
            const IN_FLIGHT: usize = {
                let most = in_flight_of(Self::VECTOR * Self::BYTES);
                if most < 2 { most } else { 2 }
            };

            #[inline(always)]
            fn map<A: Each, B: Each>(of: Self::Of<A>, map: &mut impl Map<A, B>) -> Self::Of<B> {
                ($(map.map::<$element>(of.$i)),+)
            }

            #[inline(always)]
            fn item(of: Self) -> Self {
                of
            }

            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            unsafe fn shuffled(item: Self, mask: u32, from: Shuffle) -> Self {
                // SAFETY: the caller's contract, for each element: all lanes shuffle all of them.
                unsafe { ($(Element::shuffle(item.$i, mask, from)),+) }
            }

            #[inline(always)]
            fn len(arrays: Self::Arrays) -> usize {
                arrays.0.len()
            }

            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            fn get(arrays: Self::Arrays, index: usize) -> Self {
                ($(arrays.$i.get(index)),+)
            }

            #[inline(always)]
            fn prefetch(arrays: Self::Arrays, index: usize) {
                $(arrays.$i.prefetch(index);)+
            }

            #[inline(always)]
            fn skew<const N: usize>(arrays: Self::Arrays) -> Option<usize> {
                let all = ($(arrays.$i.skew::<N>()?),+);
                let alike = $(all.$i == all.0)&&+;
                alike.then_some(all.0)
            }

            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            fn vector<const N: usize>(arrays: Self::Arrays, first: usize) -> [Self; N] {
                let loaded = ($(arrays.$i.vector::<N>(first)),+);
                let mut items = [($(loaded.$i[0]),+); N];
                unrolled!(|e < N| items[e] = ($(loaded.$i[e]),+));
                items
            }

            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            fn shifted<const N: usize>(
                arrays: Self::Arrays,
                start: usize,
                first: usize,
            ) -> [Self; N] {
                let loaded = ($(arrays.$i.shifted::<N>(start, first)),+);
                let mut items = [($(loaded.$i[0]),+); N];
                unrolled!(|e < N| items[e] = ($(loaded.$i[e]),+));
                items
            }

            #[inline(always)]
            fn have_granules<const N: usize>(arrays: Self::Arrays, first: usize) -> bool {
                $(arrays.$i.has_granules::<N>(first))&&+
            }

            #[inline(always)]
            fn part(arrays: Self::Arrays, first: usize, len: usize) -> Self::Arrays {
                ($(arrays.$i.part(first, len)),+)
            }

            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            #[allow(unused_assignments, reason = "nothing is behind the last array")]
            unsafe fn stage<const THREADS: u32>(
                arrays: Self::Arrays,
                first: usize,
                end: usize,
                at: u32,
                meanwhile: impl FnOnce(),
            ) -> Self::Staged {
                let mut meanwhile = Some(meanwhile);
                let mut at = at;
                ($({
                    let meanwhile = meanwhile.take();
                    // SAFETY: the caller's contract.
                    let staged = unsafe {
                        arrays.$i.stage::<THREADS>(first, end, at, || if let Some(meanwhile) = meanwhile {
                            meanwhile();
                        })
                    };
                    at = staged.end();
                    staged
                }),+)
            }

            #[inline(always)]
            fn behind(staged: Self::Staged, index: u32) -> Self::Staged {
                ($(staged.$i.behind(index)),+)
            }

            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            fn staged(staged: Self::Staged, index: u32) -> Self {
                ($(staged.$i.get(index)),+)
            }

            #[inline(always)]
            fn staged_skew<const N: usize>(staged: Self::Staged) -> Option<u32> {
                let all = ($(staged.$i.skew::<N>()?),+);
                let alike = $(all.$i == all.0)&&+;
                alike.then_some(all.0)
            }

            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            fn staged_granule<const N: usize>(staged: Self::Staged, granule: u32) -> [Self; N] {
                let loaded = ($(staged.$i.granule::<N>(granule)),+);
                let mut items = [($(loaded.$i[0]),+); N];
                unrolled!(|e < N| items[e] = ($(loaded.$i[e]),+));
                items
            }
        }
    };
}

side_by_side!(T 0, U 1);
side_by_side!(T 0, U 1, V 2);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_fill_their_loads() {
        let shapes = |size| (vector_of(size), in_flight_of(vector_of(size) * size));
        for (size, items) in [(1, 16), (2, 8), (4, 4), (8, 2), (16, 1)] {
            assert_eq!(shapes(size), (items, 4), "{size}");
        }
        // Four points of three floats are three loads.
        assert_eq!(shapes(12), (4, 2));
        assert_eq!(shapes(24), (2, 2));
        assert_eq!(shapes(20), (4, 1));
        assert_eq!(shapes(36), (2, 1));
        assert_eq!((shapes(64), shapes(128)), ((1, 2), (1, 1)));
        assert_eq!(shapes(127), (1, 1));
    }

    #[test]
    fn arrays_side_by_side_share_what_is_in_flight() {
        assert_eq!(<(f32, f32)>::VECTOR, 4);
        assert_eq!(<(f32, f32)>::IN_FLIGHT, 2);
        assert_eq!(<(f64, i8)>::VECTOR, 2);
        assert_eq!(<(f32, f32, f32)>::IN_FLIGHT, 2);
        assert_eq!(<([f64; 8], f64)>::IN_FLIGHT, 1);
    }
}
