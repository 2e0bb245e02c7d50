//! Device instructions that Rust-CUDA's `cuda_std` lacks: `nvptx` implements them in PTX, `host` on the CPU.
//!
//! Everything else that a kernel calls is in both versions of `cuda_std`, Rust-CUDA's and this repository's, so
//! that either can be the dependency.

#[cfg(not(target_arch = "nvptx64"))]
mod host;
#[cfg(target_arch = "nvptx64")]
mod nvptx;
mod shared_array;

#[cfg(not(target_arch = "nvptx64"))]
use host as arch;
#[cfg(target_arch = "nvptx64")]
use nvptx as arch;

use half::{bf16, f16};

/// The compute capability times 100: 750 for 7.5, 900 for 9.0. CUDA's `__CUDA_ARCH__`.
///
/// One build makes modules for several devices, so this is not a `const` in Rust. LLVM treats it as a constant:
/// a branch on it costs nothing, and the branch not taken may use instructions that the device lacks.
///
/// # Panics
///
/// On the host, outside of a simulated thread.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn cuda_arch() -> u32 {
    arch::cuda_arch()
}

/// Adds 1 to a cell of global memory, or stores 0 if it holds `most` or more; returns the value before.
///
/// Relaxed `atom.inc`, atomic for all threads of the device.
///
/// # Safety
///
/// `cell` is valid for reads and writes, aligned, and only accessed by atomic operations.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub unsafe fn increment_global(cell: *mut u32, most: u32) -> u32 {
    // SAFETY: the caller's contract.
    unsafe { arch::increment_global(cell, most) }
}

/// Starts to load the line of global memory at `address` into the L1 cache. It has no result, and no effect if the
/// address is invalid.
///
/// `prefetch.global.L1`.
#[inline(always)]
pub fn prefetch(address: *const u8) {
    arch::prefetch(address);
}

/// The same into the L2 cache.
///
/// `prefetch.global.L2`.
#[inline(always)]
pub fn prefetch_to_l2(address: *const u8) {
    arch::prefetch_to_l2(address);
}

/// `a * b + c`, rounded once.
///
/// `fma.rn.f64`.
#[inline(always)]
pub fn mul_add(a: f64, b: f64, c: f64) -> f64 {
    arch::mul_add(a, b, c)
}

/// The lower word of `high` and `low` together, shifted right by `bits`: from 0 to 31.
///
/// `shf.r.wrap.b32`.
#[inline(always)]
pub fn funnel_shift_right(low: u32, high: u32, bits: u32) -> u32 {
    arch::funnel_shift_right(low, high, bits)
}

/// The current block's copy of the array that `shared_array!` declares at `declared`.
#[doc(hidden)]
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn array_of_block<T>(declared: *mut T, len: usize) -> *mut T {
    arch::array_of_block(declared, len)
}

/// A 16-bit float with conversions from and to `f32` in one instruction each.
///
/// `half` does not know this target and converts by dozens of integer instructions.
pub trait Float16: Copy {
    /// Converts to `f32`; exact. A NaN stays a NaN, but its payload may change.
    ///
    /// `f16`: `cvt.f32.f16`. `bf16`: a shift.
    fn widen(self) -> f32;

    /// Rounds to the nearest 16-bit value, ties to even; too large values become infinite. A NaN stays a NaN,
    /// but its payload may change.
    ///
    /// `f16`: `cvt.rn.f16.f32`. `bf16`: `cvt.rn.bf16.f32` from compute capability 8.0 on, integer arithmetic on
    /// 7.5.
    fn narrow(value: f32) -> Self;
}

impl Float16 for f16 {
    #[inline(always)]
    fn widen(self) -> f32 {
        arch::f16_to_f32(self.to_bits())
    }

    #[inline(always)]
    fn narrow(value: f32) -> Self {
        Self::from_bits(arch::f32_to_f16(value))
    }
}

impl Float16 for bf16 {
    #[inline(always)]
    fn widen(self) -> f32 {
        f32::from_bits((self.to_bits() as u32) << 16)
    }

    #[inline(always)]
    fn narrow(value: f32) -> Self {
        Self::from_bits(arch::f32_to_bf16(value))
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::shared_array;

    #[test]
    fn every_half_is_the_same_single() {
        for bits in 0..=u16::MAX {
            let half = f16::from_bits(bits);
            let (expected, got) = (half.to_f32(), half.widen());
            let same = got.to_bits() == expected.to_bits();
            assert!(same || (got.is_nan() && expected.is_nan()), "{bits:#06x}");
        }
    }

    #[test]
    fn narrow_floats_round_to_even() {
        assert_eq!(f16::narrow(2049.0).widen(), 2048.0);
        assert_eq!(f16::narrow(2051.0).widen(), 2052.0);
        assert_eq!(f16::narrow(65520.0).widen(), f32::INFINITY);
        assert_eq!(bf16::narrow(257.0).widen(), 256.0);
        assert_eq!(bf16::narrow(259.0).widen(), 260.0);
        assert!(bf16::narrow(f32::NAN).widen().is_nan());
        for bits in 0..=u16::MAX {
            let (h, b) = (f16::from_bits(bits), bf16::from_bits(bits));
            assert!(h.is_nan() || f16::narrow(h.widen()).to_bits() == bits);
            assert!(b.is_nan() || bf16::narrow(b.widen()).to_bits() == bits);
        }
    }

    #[test]
    fn increments_wrap_behind_the_most() {
        let mut cell = 0;
        // SAFETY: `cell` outlives the calls, and nothing else accesses it.
        let drawn = [(); 5].map(|()| unsafe { increment_global(&raw mut cell, 2) });
        assert_eq!(drawn, [0, 1, 2, 0, 1]);
        cell = 9;
        // SAFETY: as above.
        let above = unsafe { increment_global(&raw mut cell, 2) };
        assert_eq!((above, cell), (9, 0));
    }

    #[test]
    fn each_occurrence_of_shared_array_is_one_array() {
        fn array() -> *mut u32 {
            shared_array![u32; 4]
        }
        assert_eq!(array(), array());
        assert_ne!(array(), shared_array![u32; 4]);
    }

    #[test]
    fn the_architecture_needs_a_device() {
        let caught = std::panic::catch_unwind(cuda_arch);
        let message = *caught
            .unwrap_err()
            .downcast::<std::string::String>()
            .unwrap();
        let name = "`kernels_gpu::device::cuda_arch` ";
        assert!(message.starts_with(name), "{message}");
    }
}
