//! The implementation in PTX.

use core::arch::asm;
use core::ffi::c_char;

/// A constant for LLVM, which removes the excluded branches before it emits instructions.
#[inline(always)]
pub fn cuda_arch() -> u32 {
    unsafe extern "C" {
        fn __nvvm_reflect(name: *const c_char) -> u32;
    }
    const NAME: *const c_char = c"__CUDA_ARCH".as_ptr();
    // SAFETY: not a call at run time; LLVM's NVVMReflect pass replaces it. The name ends with a zero.
    unsafe { __nvvm_reflect(NAME) }
}

/// # Safety
///
/// `cell` is in global memory, valid for reads and writes, aligned, and only accessed by atomic operations.
#[inline(always)]
pub unsafe fn increment_global(cell: *mut u32, most: u32) -> u32 {
    let before;
    // SAFETY: the caller's contract is that of the instruction.
    unsafe {
        asm!(
            concat!(
                "{{ .reg .b64 %address; cvta.to.global.u64 %address, {cell}; ",
                "atom.relaxed.gpu.global.inc.u32 {before}, [%address], {most}; }}",
            ),
            cell = in(reg64) cell,
            before = out(reg32) before,
            most = in(reg32) most,
            options(nostack, preserves_flags)
        );
    }
    before
}

/// `prefetch.global.L1`
#[inline(always)]
pub fn prefetch(address: *const u8) {
    // SAFETY: a prefetch changes no memory and cannot fault.
    unsafe {
        asm!(
            "{{ .reg .b64 %address; cvta.to.global.u64 %address, {0}; prefetch.global.L1 [%address]; }}",
            in(reg64) address,
            options(nostack, preserves_flags)
        );
    }
}

#[inline(always)]
pub fn prefetch_to_l2(address: *const u8) {
    // SAFETY: a prefetch changes no memory and cannot fault.
    unsafe {
        asm!(
            "{{ .reg .b64 %address; cvta.to.global.u64 %address, {0}; prefetch.global.L2 [%address]; }}",
            in(reg64) address,
            options(nostack, preserves_flags)
        );
    }
}

/// `fma.rn.f64`, by LLVM's intrinsic: with assembly, ptxas ran out of registers.
#[inline(always)]
pub fn mul_add(a: f64, b: f64, c: f64) -> f64 {
    unsafe extern "C" {
        #[link_name = "llvm.fma.f64"]
        fn fma(a: f64, b: f64, c: f64) -> f64;
    }
    // SAFETY: only uses registers.
    unsafe { fma(a, b, c) }
}

/// `shf.r.wrap.b32`
#[inline(always)]
pub fn funnel_shift_right(low: u32, high: u32, bits: u32) -> u32 {
    let word;
    // SAFETY: only uses registers.
    unsafe {
        asm!(
            "shf.r.wrap.b32 {}, {}, {}, {};",
            out(reg32) word,
            in(reg32) low,
            in(reg32) high,
            in(reg32) bits,
            options(pure, nomem, nostack, preserves_flags)
        );
    }
    word
}

/// On the GPU, a static in shared memory exists once per block already.
#[inline(always)]
pub fn array_of_block<T>(declared: *mut T, _len: usize) -> *mut T {
    declared
}

/// `cvt.f32.f16`
#[inline(always)]
pub fn f16_to_f32(bits: u16) -> f32 {
    f16::from_bits(bits) as f32
}

/// `cvt.rn.f16.f32`
#[inline(always)]
pub fn f32_to_f16(value: f32) -> u16 {
    (value as f16).to_bits()
}

/// `cvt.rn.bf16.f32` from sm_80 on; before, the same rounding in integer arithmetic.
#[inline(always)]
pub fn f32_to_bf16(value: f32) -> u16 {
    if cuda_arch() < 800 {
        return half::bf16::from_f32(value).to_bits();
    }
    let bits: u16;
    // SAFETY: only uses registers.
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
