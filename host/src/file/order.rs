//! Byte order.

use rayon::prelude::*;

/// The bytes that one thread reads or swaps at a time; a multiple of every element's size.
pub(super) const PART_BYTES: usize = 2 << 20;

/// Reverses the bytes of each element of `size` bytes.
pub(super) fn swap(bytes: &mut [u8], size: usize) {
    match size {
        2 => reverse::<2>(bytes),
        4 => reverse::<4>(bytes),
        8 => reverse::<8>(bytes),
        _ => debug_assert_eq!(size, 1),
    }
}

/// [`swap`] on all cores.
pub(super) fn swap_all(bytes: &mut [u8], size: usize) {
    let parts = bytes.par_chunks_mut(PART_BYTES);
    parts.for_each(|part| swap(part, size));
}

/// Reverses the bytes of each element; the size is a constant, so that the compiler uses vector shuffles.
fn reverse<const N: usize>(bytes: &mut [u8]) {
    let (elements, rest) = bytes.as_chunks_mut::<N>();
    debug_assert!(rest.is_empty());
    for element in elements {
        element.reverse();
    }
}
