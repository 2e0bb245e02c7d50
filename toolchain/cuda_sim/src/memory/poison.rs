//! The pattern in memory that was never written.

use std::mem::MaybeUninit;
use std::slice;

/// The pattern, selected by the low bits of the address: NaN as a float of any size, and a value that
/// programs rarely write.
const PATTERN: [u8; 8] = 0xFFFB_5DA7_FFFB_5DA7_u64.to_le_bytes();

/// Fills memory with the poison pattern.
///
/// # Safety
///
/// `start` is valid for writes of `len` bytes.
pub(crate) unsafe fn poison(start: *mut u8, len: usize) {
    // SAFETY: valid for writes by the caller's contract; uninitialised bytes are not read.
    let memory = unsafe { slice::from_raw_parts_mut(start.cast::<MaybeUninit<u8>>(), len) };
    let first = start.addr();
    // SAFETY: `MaybeUninit<u64>` has the layout of eight aligned bytes.
    let (head, words, tail) = unsafe { memory.align_to_mut::<MaybeUninit<u64>>() };
    let behind = first + len - tail.len();
    words.fill(MaybeUninit::new(u64::from_ne_bytes(PATTERN)));
    for (bytes, at) in [(head, first), (tail, behind)] {
        for (i, byte) in bytes.iter_mut().enumerate() {
            byte.write(PATTERN[(at + i) % PATTERN.len()]);
        }
    }
}

/// Whether a byte still has the value that [`poison`] stored. Writes through raw pointers are not traced: a
/// different value means that the byte was written.
///
/// # Safety
///
/// `at` is valid for reads.
pub(crate) unsafe fn is_poison(at: *const u8) -> bool {
    // SAFETY: valid for reads by the caller's contract; volatile, because another host thread may write an
    // atomic here.
    let byte = unsafe { at.read_volatile() };
    byte == PATTERN[at.addr() % PATTERN.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn poison_is_not_a_number_and_is_known_again() {
        let mut memory = [0_u64; 4];
        let start = memory.as_mut_ptr().cast::<u8>();
        // SAFETY: the array's own bytes.
        unsafe {
            poison(start.add(3), 26);
            assert!((3..29).all(|i| is_poison(start.add(i))));
            assert!((0..3).chain(29..32).all(|i| !is_poison(start.add(i))));
            poison(start, 32);
            assert!((0..32).all(|i| is_poison(start.add(i))));
        }
        assert!(f64::from_bits(memory[0]).is_nan());
        assert!(f32::from_bits(memory[1] as u32).is_nan());
        memory[2] = 1;
        let start = memory.as_ptr().cast::<u8>();
        // SAFETY: as above.
        assert!(unsafe { !is_poison(start.add(16)) && is_poison(start.add(24)) });
    }
}
