//! Plain data, in builds without the simulator, which otherwise defines it.

use half::{bf16, f16};

/// Plain data: every bit pattern is a valid value, there is no padding, and copying the bits copies the value.
///
/// # Safety
///
/// The type has these properties.
pub unsafe trait Plain: Copy + 'static {}

macro_rules! plain {
    ($($number:ty)*) => { $(
        // SAFETY: a number uses all of its bits, and every bit pattern is a number.
        unsafe impl Plain for $number {}
    )* };
}

plain! { i8 u8 i16 u16 i32 u32 i64 u64 f16 bf16 f32 f64 }

// SAFETY: an array adds no padding.
unsafe impl<T: Plain, const N: usize> Plain for [T; N] {}
