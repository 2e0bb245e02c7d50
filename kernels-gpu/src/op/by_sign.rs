//! Atomic extrema of floats by those of integers.

use core::sync::atomic::Ordering::Relaxed;
use cuda_std::atomic::mid;

/// Floats have no atomic minimum in hardware, but their bits have: among non-negative floats
/// the bits, read as a signed integer, grow with the value; among negative ones the bits, read
/// as an unsigned integer, grow with the magnitude. One integer atomic, chosen by the value's
/// sign, therefore orders all floats, `-0.0` below `+0.0`, without a compare-and-swap loop.
///
/// In this order a NaN stands beyond the infinity of its sign.
pub(super) trait BySign: Sized {
    /// Leaves the smaller one in a cell of global memory.
    ///
    /// # Safety
    ///
    /// That of [`combine_atomic_device`](super::AtomicOp::combine_atomic_device).
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    unsafe fn min_device(cell: *mut Self, value: Self);

    /// Leaves the smaller one in a cell of shared memory.
    ///
    /// # Safety
    ///
    /// That of [`combine_atomic_block`](super::AtomicOp::combine_atomic_block).
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    unsafe fn min_block(cell: *mut Self, value: Self);

    /// Leaves the larger one in a cell of global memory.
    ///
    /// # Safety
    ///
    /// That of [`combine_atomic_device`](super::AtomicOp::combine_atomic_device).
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    unsafe fn max_device(cell: *mut Self, value: Self);

    /// Leaves the larger one in a cell of shared memory.
    ///
    /// # Safety
    ///
    /// That of [`combine_atomic_block`](super::AtomicOp::combine_atomic_block).
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    unsafe fn max_block(cell: *mut Self, value: Self);
}

macro_rules! by_sign {
    ($($float:ident $unsigned:ident $signed:ident;)*) => { $(
        impl BySign for $float {
            by_sign!(@min_device $float, max $unsigned device, min $signed device);
            by_sign!(@min_block $float, max $unsigned block, min $signed block);
            by_sign!(@max_device $float, min $unsigned device, max $signed device);
            by_sign!(@max_block $float, min $unsigned block, max $signed block);
        }
    )* };
    (@$name:ident $float:ident,
        $negative:ident $unsigned:ident $scope:ident, $other:ident $signed:ident $_:ident
    ) => { pastey::paste! {
        #[inline(always)]
        #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
        unsafe fn $name(cell: *mut $float, value: $float) {
            let bits = value.to_bits();
            // SAFETY: the caller's contract; an integer of the same size may stand in the cell.
            unsafe {
                if value.is_sign_negative() {
                    mid::[<atomic_fetch_ $negative _ $unsigned _ $scope>](cell.cast(), Relaxed, bits);
                } else {
                    mid::[<atomic_fetch_ $other _ $signed _ $scope>](
                        cell.cast(),
                        Relaxed,
                        bits as $signed,
                    );
                }
            }
        }
    }};
}

by_sign! {
    f32 u32 i32;
    f64 u64 i64;
}
