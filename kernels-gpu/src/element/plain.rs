//! Plain data, where there is no simulator to say what that is.

use half::{bf16, f16};

/// Plain data: every pattern of bits is a valid value, there is no padding, and copying the bits copies
/// the value.
///
/// # Safety
///
/// All of this is true of the type.
pub unsafe trait Plain: Copy + 'static {}

macro_rules! plain {
    ($($number:ty)*) => { $(
        // SAFETY: a number: all of its bits count, and all patterns are numbers.
        unsafe impl Plain for $number {}
    )* };
}

plain! { i8 u8 i16 u16 i32 u32 i64 u64 f16 bf16 f32 f64 }

// SAFETY: an array has no padding of its own.
unsafe impl<T: Plain, const N: usize> Plain for [T; N] {}
