//! Fast conversions of `half`'s 16-bit floats. An addition to Rust-CUDA.
//!
//! On an unknown target, `half` converts and computes in integer arithmetic, with dozens of instructions for
//! each operation. [`Float16`] converts with one instruction; compute in `f32` in between. On the host it
//! uses `half`'s conversion.

use crate::arch::float16;
use half::{bf16, f16};

/// Conversions of a 16-bit float from and to `f32`.
pub trait Float16: Copy {
    /// The same value in `f32`; exact. A NaN stays a NaN, but its payload may change.
    ///
    /// `f16`: `cvt.f32.f16`. `bf16`: a shift.
    fn widen(self) -> f32;

    /// The nearest 16-bit value, ties to even; infinite if it is too large. A NaN stays a NaN, but its
    /// payload may change.
    ///
    /// `f16`: `cvt.rn.f16.f32`. `bf16`: `cvt.rn.bf16.f32` from compute capability 8.0 on, integer
    /// arithmetic on 7.5.
    fn narrow(value: f32) -> Self;
}

impl Float16 for f16 {
    #[inline(always)]
    fn widen(self) -> f32 {
        float16::f16_to_f32(self.to_bits())
    }

    #[inline(always)]
    fn narrow(value: f32) -> Self {
        Self::from_bits(float16::f32_to_f16(value))
    }
}

impl Float16 for bf16 {
    #[inline(always)]
    fn widen(self) -> f32 {
        f32::from_bits((self.to_bits() as u32) << 16)
    }

    #[inline(always)]
    fn narrow(value: f32) -> Self {
        Self::from_bits(float16::f32_to_bf16(value))
    }
}
