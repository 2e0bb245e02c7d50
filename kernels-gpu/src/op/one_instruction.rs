//! Extrema of floats in one instruction, if the device has one.

/// The smaller and the larger of two floats as in [`Min`](super::Min) and [`Max`](super::Max); `None` if that
/// takes several instructions.
pub(super) trait OneInstruction: Sized {
    /// The smaller of the two.
    #[inline(always)]
    fn smaller(_: Self, _: Self) -> Option<Self> {
        None
    }

    /// The larger of the two.
    #[inline(always)]
    fn larger(_: Self, _: Self) -> Option<Self> {
        None
    }
}

/// `min.NaN.f32` and `max.NaN.f32`, from sm_80 on. Any NaN becomes `0x7fffffff`; `-0.0` is smaller than `+0.0`
/// (PTX ISA, floating point instructions).
#[cfg(target_arch = "nvptx64")]
impl OneInstruction for f32 {
    #[inline(always)]
    fn smaller(a: Self, b: Self) -> Option<Self> {
        instruction!("min.NaN.f32", a, b)
    }

    #[inline(always)]
    fn larger(a: Self, b: Self) -> Option<Self> {
        instruction!("max.NaN.f32", a, b)
    }
}

#[cfg(not(target_arch = "nvptx64"))]
impl OneInstruction for f32 {}

/// There is no such instruction for 64 bits.
impl OneInstruction for f64 {}

#[cfg(target_arch = "nvptx64")]
macro_rules! instruction {
    ($instruction:literal, $a:ident, $b:ident) => {{
        if crate::device::cuda_arch() < 800 {
            return None;
        }
        let result: f32;
        // SAFETY: only uses registers.
        unsafe {
            core::arch::asm!(
                concat!($instruction, " {}, {}, {};"),
                out(reg32) result,
                in(reg32) $a,
                in(reg32) $b,
                options(pure, nomem, nostack, preserves_flags)
            );
        }
        Some(result)
    }};
}

#[cfg(target_arch = "nvptx64")]
use instruction;
