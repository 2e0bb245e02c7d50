//! Atomic extrema of floats by integer atomics.

use core::sync::atomic::Ordering::Relaxed;
use cuda_std::atomic::mid;

/// Atomic minimum and maximum of floats, for which the hardware only has integer instructions.
///
/// The bits of non-negative floats, read as signed integers, are in the order of the values. The bits of
/// negative floats, read as unsigned integers, are in the order of the magnitudes. So one integer atomic,
/// chosen by the value's sign, orders all floats, with `-0.0` below `+0.0`, without a compare-and-swap loop. In
/// this order a NaN is beyond the infinity of its sign.
pub(super) trait BySign: Sized {
    /// Stores the smaller value in a cell of global memory.
    ///
    /// # Safety
    ///
    /// That of [`combine_atomic_device`](super::AtomicOp::combine_atomic_device).
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    unsafe fn min_device(cell: *mut Self, value: Self);

    /// Stores the smaller value in a cell of shared memory.
    ///
    /// # Safety
    ///
    /// That of [`combine_atomic_block`](super::AtomicOp::combine_atomic_block).
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    unsafe fn min_block(cell: *mut Self, value: Self);

    /// Stores the larger value in a cell of global memory.
    ///
    /// # Safety
    ///
    /// That of [`combine_atomic_device`](super::AtomicOp::combine_atomic_device).
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    unsafe fn max_device(cell: *mut Self, value: Self);

    /// Stores the larger value in a cell of shared memory.
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
            // SAFETY: the caller's contract; the cell has the size and alignment of the integer.
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
