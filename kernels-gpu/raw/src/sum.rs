//! The elements and their sum: `kernels_gpu::{element, op, warp}` for one operator.

use core::sync::atomic::Ordering::Relaxed;
use cuda_std::atomic::mid;
use cuda_std::warp::{
    WarpReduceValue, WarpReductionOp, WarpShuffleValue, warp_reduce, warp_shuffle_down,
};

/// What is summed.
pub(crate) trait Element: Copy + WarpShuffleValue {
    /// The sum of nothing.
    const IDENTITY: Self;

    /// The sum of two.
    fn combine(a: Self, b: Self) -> Self;

    /// Adds to a cell of global memory.
    ///
    /// # Safety
    ///
    /// The cell is valid, aligned, and touched by everybody atomically.
    unsafe fn combine_atomic_device(cell: *mut Self, value: Self);

    /// Adds to a cell of shared memory.
    ///
    /// # Safety
    ///
    /// The cell is valid, aligned, and touched by everybody atomically between two barriers.
    unsafe fn combine_atomic_block(cell: *mut Self, value: Self);
}

macro_rules! elements {
    ($($element:ident, $identity:expr, |$a:ident, $b:ident| $add:expr);* $(;)?) => { pastey::paste! {
        $(impl Element for $element {
            const IDENTITY: $element = $identity;

            #[inline(always)]
            fn combine($a: $element, $b: $element) -> $element {
                $add
            }

            #[inline(always)]
            unsafe fn combine_atomic_device(cell: *mut $element, value: $element) {
                // SAFETY: the caller's contract is the callee's.
                unsafe { mid::[<atomic_fetch_add_ $element _device>](cell, Relaxed, value) };
            }

            #[inline(always)]
            unsafe fn combine_atomic_block(cell: *mut $element, value: $element) {
                // SAFETY: the caller's contract is the callee's.
                unsafe { mid::[<atomic_fetch_add_ $element _block>](cell, Relaxed, value) };
            }
        })*
    }};
}

elements! {
    i32, 0, |a, b| a.wrapping_add(b);
    f32, -0.0, |a, b| a + b;
    f64, -0.0, |a, b| a + b;
}

/// What is summed, too, where no atomic adds it.
pub(crate) trait ByCas: Element {
    /// Adds to a cell of global memory by a loop around a compare-and-swap.
    ///
    /// # Safety
    ///
    /// As [`combine_atomic_device`](Element::combine_atomic_device).
    unsafe fn combine_by_cas(cell: *mut Self, value: Self);
}

macro_rules! by_cas {
    ($($element:ident $width:literal $bits:ident |$value:ident| $to_bits:expr, $from_bits:expr;)*) => { pastey::paste! {
        $(impl ByCas for $element {
            #[inline(always)]
            unsafe fn combine_by_cas(cell: *mut $element, value: $element) {
                let cell = cell.cast::<$bits>();
                // SAFETY: the caller's contract; as many bits have the cell's size and alignment.
                unsafe {
                    let mut seen = mid::[<atomic_load_ $width _device>](cell, Relaxed);
                    loop {
                        let $value: $bits = seen;
                        let $value = Self::combine($from_bits, value);
                        let new = $to_bits;
                        let found = mid::[<atomic_compare_and_swap_ $bits _device>](
                            cell, seen, new, Relaxed,
                        );
                        if found == seen {
                            break;
                        }
                        seen = found;
                    }
                }
            }
        })*
    }};
}

by_cas! {
    i32 32 u32 |x| x as u32, x as i32;
    f32 32 u32 |x| x.to_bits(), f32::from_bits(x);
    f64 64 u64 |x| x.to_bits(), f64::from_bits(x);
}

/// Lanes in a warp.
pub(crate) const WARP_SIZE: u32 = 32;

/// The warp's sum, held by lane 0.
///
/// # Safety
///
/// All 32 lanes of the warp arrive here.
#[inline(always)]
pub(crate) unsafe fn reduce_down<T: Element>(mut value: T) -> T {
    let mut offset = WARP_SIZE / 2;
    while offset > 0 {
        // SAFETY: the caller brings all lanes that the full mask names.
        let (above, _) = unsafe { warp_shuffle_down(u32::MAX, value, offset, WARP_SIZE) };
        value = T::combine(value, above);
        offset /= 2;
    }
    value
}

/// The warp's sum by one instruction.
///
/// # Safety
///
/// All 32 lanes of the warp arrive here.
#[inline(always)]
pub(crate) unsafe fn reduce_redux<T: WarpReduceValue>(value: T) -> T {
    // SAFETY: the caller brings all lanes that the full mask names.
    unsafe { warp_reduce(u32::MAX, value, WarpReductionOp::Add) }
}
