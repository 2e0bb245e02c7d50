//! `memcmp` and `bcmp`, which rustc calls where a kernel compares slices or arrays: `a == b` and `a < b` of bytes, and
//! `a == b` of integers. `core` has neither. A kernel that compares nothing has no byte of them.
//!
//! Copies need no function here: LLVM's back-end makes loops of `memcpy` and `memset`.

/// Less than 0, 0 or more than 0, as the `n` bytes from `a` are to those from `b`.
///
/// # Safety
///
/// All of them can be read.
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

/// 0 if the `n` bytes from `a` are those from `b`. LLVM calls it where only that matters.
///
/// # Safety
///
/// All of them can be read.
#[unsafe(no_mangle)]
unsafe extern "C" fn bcmp(a: *const u8, b: *const u8, n: usize) -> i32 {
    // SAFETY: the caller's promise.
    unsafe { memcmp(a, b, n) }
}
