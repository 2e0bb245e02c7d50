//! The smallest and the largest value.

use super::{AtomicOp, Op, ReduxOp};
use core::sync::atomic::Ordering::Relaxed;
use cuda_std::atomic::mid;
use cuda_std::warp::WarpReductionOp;

/// The smaller of the two. Floats: NaN if either is NaN, and `-0.0 < +0.0`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Min;

/// The larger of the two. Floats: NaN if either is NaN, and `-0.0 < +0.0`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Max;

macro_rules! integer_extremum {
    ($op:ident, $name:literal, $($element:ident = $identity:expr),*) => { pastey::paste! {
        $(impl Op<$element> for $op {
            const NAME: &'static str = $name;
            const IDENTITY: $element = $identity;

            #[inline(always)]
            fn combine(a: $element, b: $element) -> $element {
                a.[<$op:lower>](b)
            }
        }

        impl AtomicOp<$element> for $op {
            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            unsafe fn combine_atomic_device(cell: *mut $element, value: $element) {
                // SAFETY: the caller's contract is the callee's.
                unsafe { mid::[<atomic_fetch_ $op:lower _ $element _device>](cell, Relaxed, value) };
            }

            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            unsafe fn combine_atomic_block(cell: *mut $element, value: $element) {
                // SAFETY: the caller's contract is the callee's.
                unsafe { mid::[<atomic_fetch_ $op:lower _ $element _block>](cell, Relaxed, value) };
            }
        })*
    }};
}

integer_extremum!(
    Min,
    "min",
    i32 = i32::MAX,
    u32 = u32::MAX,
    i64 = i64::MAX,
    u64 = u64::MAX
);
integer_extremum!(
    Max,
    "max",
    i32 = i32::MIN,
    u32 = u32::MIN,
    i64 = i64::MIN,
    u64 = u64::MIN
);

macro_rules! redux_extremum {
    ($($op:ident $element:ident),*) => {
        $(impl ReduxOp<$element> for $op {
            const REDUX: WarpReductionOp = WarpReductionOp::$op;
        })*
    };
}

redux_extremum!(Min i32, Min u32, Max i32, Max u32);

macro_rules! float_extremum {
    ($element:ident, $bits:ident, $int:ident) => {
        impl Op<$element> for Min {
            const NAME: &'static str = "min";
            const IDENTITY: $element = $element::INFINITY;

            #[inline(always)]
            fn combine(a: $element, b: $element) -> $element {
                if a < b || a.is_nan() {
                    a
                } else if b < a || b.is_nan() {
                    b
                } else {
                    // Equal: the same bits, or two zeros, of which -0.0 is the smaller.
                    $element::from_bits(a.to_bits() | b.to_bits())
                }
            }
        }

        impl Op<$element> for Max {
            const NAME: &'static str = "max";
            const IDENTITY: $element = $element::NEG_INFINITY;

            #[inline(always)]
            fn combine(a: $element, b: $element) -> $element {
                if a > b || a.is_nan() {
                    a
                } else if b > a || b.is_nan() {
                    b
                } else {
                    // Equal: the same bits, or two zeros, of which +0.0 is the larger.
                    $element::from_bits(a.to_bits() & b.to_bits())
                }
            }
        }

        float_atomic!(Min of $element: negative max $bits, other min $int, NaN -$element::NAN.abs());
        float_atomic!(Max of $element: negative min $bits, other max $int, NaN $element::NAN.abs());
    };
}

/// Floats have no atomic minimum in hardware, but their bits have: among non-negative floats
/// the bits, read as a signed integer, grow with the value; among negative ones the bits, read
/// as an unsigned integer, grow with the magnitude. One integer atomic, chosen by the value's
/// sign, therefore orders all floats, `-0.0` below `+0.0`, without a compare-and-swap loop.
///
/// A NaN must win. With the sign bit set its bits are the largest unsigned integer of all, and
/// without it the largest signed one, so [`Min`] stores NaN as negative and [`Max`] as positive,
/// and no later update can remove it.
macro_rules! float_atomic {
    (
        $op:ident of $element:ident:
        negative $negative:ident $bits:ident, other $other:ident $int:ident, NaN $nan:expr
    ) => {
        impl AtomicOp<$element> for $op {
            float_atomic!(@device $element, $negative $bits, $other $int, $nan);
            float_atomic!(@block $element, $negative $bits, $other $int, $nan);
        }
    };
    (
        @$scope:ident
        $element:ident, $negative:ident $bits:ident, $other:ident $int:ident, $nan:expr
    ) => { pastey::paste! {
        #[inline(always)]
        #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
        unsafe fn [<combine_atomic_ $scope>](cell: *mut $element, value: $element) {
            let value = if value.is_nan() { $nan } else { value };
            let bits = value.to_bits();
            // SAFETY: the caller's contract; an integer of the same size may stand in the cell.
            unsafe {
                if value.is_sign_negative() {
                    mid::[<atomic_fetch_ $negative _ $bits _ $scope>](cell.cast(), Relaxed, bits);
                } else {
                    mid::[<atomic_fetch_ $other _ $int _ $scope>](cell.cast(), Relaxed, bits as $int);
                }
            }
        }
    }};
}

float_extremum!(f32, u32, i32);
float_extremum!(f64, u64, i64);
