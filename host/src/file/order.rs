//! The order of bytes.

use rayon::prelude::*;

/// What one thread swaps, or reads and swaps, at a time, in bytes: a multiple of every element's size.
pub(super) const AT_ONCE: usize = 2 << 20;

/// Reverses the bytes of each element of `size` bytes, which is a number.
pub(super) fn swap(bytes: &mut [u8], size: usize) {
    match size {
        2 => reverse::<2>(bytes),
        4 => reverse::<4>(bytes),
        8 => reverse::<8>(bytes),
        _ => debug_assert_eq!(size, 1),
    }
}

/// [`swap`] by all cores.
pub(super) fn swap_all(bytes: &mut [u8], size: usize) {
    let parts = bytes.par_chunks_mut(AT_ONCE);
    parts.for_each(|part| swap(part, size));
}

/// With the length known when it is compiled, this is a shuffle of vectors.
fn reverse<const N: usize>(bytes: &mut [u8]) {
    let (elements, rest) = bytes.as_chunks_mut::<N>();
    debug_assert!(rest.is_empty());
    for element in elements {
        element.reverse();
    }
}
