//! `memcmp` and `bcmp`, which rustc calls if a kernel compares slices or arrays: `a == b` and `a < b` of
//! bytes, and `a == b` of integers. `core` has neither. Kernels without such comparisons do not contain them.
//!
//! Copies need no function: LLVM's back end compiles `memcpy` and `memset` to loops.

/// Compares the `n` bytes at `a` and `b`; negative, 0 or positive for less, equal or greater.
///
/// # Safety
///
/// All bytes are valid for reads.
#[unsafe(no_mangle)]
unsafe extern "C" fn memcmp(a: *const u8, b: *const u8, n: usize) -> i32 {
    const WORD: usize = size_of::<u32>();
    let mut i = 0;
    if (a.addr() | b.addr()).is_multiple_of(WORD) {
        while n - i >= WORD {
            // SAFETY: both words lie within the bytes, and are aligned.
            let same = unsafe { *a.add(i).cast::<u32>() == *b.add(i).cast::<u32>() };
            if !same {
                break;
            }
            i += WORD;
        }
    }
    while i < n {
        // SAFETY: `i` is below `n`.
        let (x, y) = unsafe { (*a.add(i), *b.add(i)) };
        if x != y {
            return i32::from(x) - i32::from(y);
        }
        i += 1;
    }
    0
}

/// 0 if the `n` bytes at `a` and `b` are equal. LLVM calls it if the order does not matter.
///
/// # Safety
///
/// All bytes are valid for reads.
#[unsafe(no_mangle)]
unsafe extern "C" fn bcmp(a: *const u8, b: *const u8, n: usize) -> i32 {
    // SAFETY: the caller's contract.
    unsafe { memcmp(a, b, n) }
}
