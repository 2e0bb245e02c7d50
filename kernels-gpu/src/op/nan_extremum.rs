//! The smallest and the largest value that is a number.

use super::CombineAtomic;
use super::by_sign::BySign;

/// The smaller of the two floats, where a NaN does not count: NaN only if both are, as NumPy's
/// `nanmin`. `-0.0 < +0.0`. `None` for empty input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NanMin;

/// The larger of the two floats, where a NaN does not count: NaN only if both are, as NumPy's
/// `nanmax`. `-0.0 < +0.0`. `None` for empty input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NanMax;

operator_of_numbers!(NanMin: Option<T>, |acc| Some(T::saturate(acc)), empty None);
operator_of_numbers!(NanMax: Option<T>, |acc| Some(T::saturate(acc)), empty None);

macro_rules! nan_extremum {
    ($($float:ident)*) => { $(
        // The identity's sign makes it the last in the order of the atomics: every number takes
        // its place.
        combine! { NanMin:
            $float, $float::NAN.abs(), |a, b| {
                if a < b || b.is_nan() {
                    a
                } else if b < a || a.is_nan() {
                    b
                } else {
                    // Equal: the same bits, or two zeros, of which -0.0 is the smaller.
                    $float::from_bits(a.to_bits() | b.to_bits())
                }
            };
        }

        combine! { NanMax:
            $float, -$float::NAN.abs(), |a, b| {
                if a > b || b.is_nan() {
                    a
                } else if b > a || a.is_nan() {
                    b
                } else {
                    // Equal: the same bits, or two zeros, of which +0.0 is the larger.
                    $float::from_bits(a.to_bits() & b.to_bits())
                }
            };
        }

        nan_atomic!(NanMin: $float, min);
        nan_atomic!(NanMax: $float, max);
    )* };
}

/// The atomic form: a NaN changes nothing.
macro_rules! nan_atomic {
    ($op:ident: $float:ident, $which:ident) => {
        pastey::paste! {
            impl CombineAtomic<$float> for $op {
                #[inline(always)]
                #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
                unsafe fn combine_device(cell: *mut $float, value: $float) {
                    if !value.is_nan() {
                        // SAFETY: the caller's contract is the callee's.
                        unsafe { $float::[<$which _device>](cell, value) }
                    }
                }

                #[inline(always)]
                #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
                unsafe fn combine_block(cell: *mut $float, value: $float) {
                    if !value.is_nan() {
                        // SAFETY: the caller's contract is the callee's.
                        unsafe { $float::[<$which _block>](cell, value) }
                    }
                }
            }
        }
    };
}

nan_extremum!(f32 f64);
