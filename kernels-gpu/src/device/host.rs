//! The implementation on the CPU: ordinary memory and arithmetic, with the calls that a simulated thread needs.

use core::sync::atomic::{AtomicU32, Ordering};
#[cfg(feature = "simulator")]
use cuda_sim::device as simulator;

#[track_caller]
pub fn cuda_arch() -> u32 {
    const NAME: &str = "kernels_gpu::device::cuda_arch";
    #[cfg(feature = "simulator")]
    return simulator::arch(NAME);
    #[cfg(not(feature = "simulator"))]
    panic!(
        "`{NAME}` needs a GPU, or kernels-gpu's feature `simulator` and a `cuda_sim::Simulator`"
    );
}

/// # Safety
///
/// `cell` is valid for reads and writes, aligned, and only accessed by atomic operations.
#[track_caller]
pub unsafe fn increment_global(cell: *mut u32, most: u32) -> u32 {
    let next = |old: u32| if old >= most { 0 } else { old + 1 };
    #[cfg(feature = "simulator")]
    simulator::before_atomic(
        cell.addr(),
        size_of::<u32>(),
        simulator::Scope::Device,
        Ordering::Relaxed,
        true,
        true,
    );
    // SAFETY: the caller's contract.
    let atomic = unsafe { AtomicU32::from_ptr(cell) };
    let before = atomic.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |old| Some(next(old)));
    let (Ok(before) | Err(before)) = before;
    #[cfg(feature = "simulator")]
    simulator::after_atomic(cell.addr(), before != next(before));
    before
}

/// Nothing: the CPU's prefetchers suffice.
#[inline(always)]
pub fn prefetch(_address: *const u8) {}

#[inline(always)]
pub fn prefetch_to_l2(_address: *const u8) {}

/// One rounding, also on processors that lack the instruction.
#[inline(always)]
pub fn mul_add(a: f64, b: f64, c: f64) -> f64 {
    a.mul_add(b, c)
}

/// Outside of a simulated thread, returns the declared array itself.
#[inline(always)]
#[track_caller]
pub fn array_of_block<T>(declared: *mut T, len: usize) -> *mut T {
    #[cfg(feature = "simulator")]
    return simulator::shared_array(declared.cast(), len * size_of::<T>(), align_of::<T>()).cast();
    #[cfg(not(feature = "simulator"))]
    {
        let _ = len;
        declared
    }
}

/// Has no branch, so that loops over it can be vectorised. Avoids arithmetic on subnormal `f32`, which takes
/// some processors a hundred cycles.
#[inline(always)]
pub fn f16_to_f32(bits: u16) -> f32 {
    const EXPONENT: u32 = 0x1F << 23;
    const BIAS: u32 = (127 - 15) << 23;
    const LEAST_NORMAL: f32 = f32::from_bits((127 - 14) << 23);
    let sign = u32::from(bits & 0x8000) << 16;
    let magnitude = u32::from(bits & 0x7FFF) << 13;
    let exponent = magnitude & EXPONENT;
    // Infinite or NaN: an exponent of all ones stays all ones.
    let top = if exponent == EXPONENT { BIAS } else { 0 };
    let normal = magnitude + BIAS + top;
    // Subnormal: the difference to the least normal value.
    let subnormal = f32::from_bits(magnitude + BIAS + (1 << 23)) - LEAST_NORMAL;
    let magnitude = if exponent == 0 {
        subnormal.to_bits()
    } else {
        normal
    };
    f32::from_bits(magnitude | sign)
}

pub fn f32_to_f16(value: f32) -> u16 {
    half::f16::from_f32(value).to_bits()
}

pub fn f32_to_bf16(value: f32) -> u16 {
    half::bf16::from_f32(value).to_bits()
}

/// The same word by a shift of 64 bits.
#[inline(always)]
pub fn funnel_shift_right(low: u32, high: u32, bits: u32) -> u32 {
    ((u64::from(high) << 32 | u64::from(low)) >> bits) as u32
}
