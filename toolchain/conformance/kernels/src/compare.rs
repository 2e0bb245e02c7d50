//! Comparisons of slices and arrays, for which rustc calls `memcmp`.

use core::cmp::Ordering;
use core::slice;

use crate::io::{Io, global_thread};

/// Words of a thread's record: the starts of two slices, and their common length in bytes.
pub const RECORD: usize = 3;

/// The slices are equal.
pub const EQUAL: u64 = 1;
/// The first slice is less than the second.
pub const LESS: u64 = 2;
/// The first slice is greater than the second.
pub const GREATER: u64 = 4;
/// The 24 bytes from the starts of the slices are equal, as arrays.
pub const EQUAL_ARRAYS: u64 = 8;

/// The size of the arrays in bytes.
pub const ARRAY: usize = 24;

/// Thread `t` compares two slices of the input's bytes, which its record at input word `3 t` describes. It
/// writes the bits above to output word `t`.
///
/// # Safety
/// Slices and arrays lie within the input.
#[inline(always)]
pub unsafe fn compare(io: Io) {
    let thread = global_thread();
    let [a, b, len] = [0, 1, 2].map(|i| io.read(RECORD * thread + i) as usize);
    // SAFETY: the launch promises the bounds; any byte is a `u8`.
    let bytes = |start, len| unsafe { slice::from_raw_parts(io.input_bytes().add(start), len) };
    // SAFETY: likewise.
    let array = |start| unsafe { *io.input_bytes().add(start).cast::<[u8; ARRAY]>() };
    let (x, y) = (bytes(a, len), bytes(b, len));
    let mut bits = match x.cmp(y) {
        Ordering::Less => LESS,
        Ordering::Equal => 0,
        Ordering::Greater => GREATER,
    };
    if x == y {
        bits |= EQUAL;
    }
    if array(a) == array(b) {
        bits |= EQUAL_ARRAYS;
    }
    io.write(thread, bits);
}
