//! Conversions of the bits of 16-bit floats.

use core::arch::asm;

use super::cuda_arch;

/// `cvt.f32.f16`
#[inline(always)]
pub(crate) fn f16_to_f32(bits: u16) -> f32 {
    f16::from_bits(bits) as f32
}

/// `cvt.rn.f16.f32`
#[inline(always)]
pub(crate) fn f32_to_f16(value: f32) -> u16 {
    (value as f16).to_bits()
}

/// `cvt.rn.bf16.f32` from sm_80 on; below, the same rounding in integer arithmetic.
#[inline(always)]
pub(crate) fn f32_to_bf16(value: f32) -> u16 {
    if cuda_arch() < 800 {
        return half::bf16::from_f32(value).to_bits();
    }
    let bits: u16;
    // SAFETY: a conversion between registers.
    unsafe {
        asm!(
            "cvt.rn.bf16.f32 {}, {};",
            out(reg16) bits,
            in(reg32) value,
            options(pure, nomem, nostack, preserves_flags)
        );
    }
    bits
}
