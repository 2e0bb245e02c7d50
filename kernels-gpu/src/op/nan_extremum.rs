//! The smallest and the largest value, ignoring NaNs.

use super::CombineAtomic;
use super::by_sign::BySign;

/// The smallest float that is not a NaN, as NumPy's `nanmin`; `None` for empty input. NaN if all values are
/// NaN; `-0.0 < +0.0`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NanMin;

/// The largest float that is not a NaN, as NumPy's `nanmax`; `None` for empty input. NaN if all values are NaN;
/// `-0.0 < +0.0`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NanMax;

operator_of_numbers!(NanMin: Option<T>, |acc| Some(T::saturate(acc)), empty None);
operator_of_numbers!(NanMax: Option<T>, |acc| Some(T::saturate(acc)), empty None);

macro_rules! nan_extremum {
    ($($float:ident)*) => { $(
        // The identity's sign puts it at the end of the order of the atomics, so that every number replaces it.
        combine! { NanMin:
            $float, $float::NAN.abs(), |a, b| {
                if a < b || b.is_nan() {
                    a
                } else if b < a || a.is_nan() {
                    b
                } else {
                    // Equal values have the same bits, or are the two zeros, of which -0.0 is the smaller.
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
                    // Equal values have the same bits, or are the two zeros, of which +0.0 is the larger.
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
                        // SAFETY: the caller's contract is that of the function called.
                        unsafe { $float::[<$which _device>](cell, value) }
                    }
                }

                #[inline(always)]
                #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
                unsafe fn combine_block(cell: *mut $float, value: $float) {
                    if !value.is_nan() {
                        // SAFETY: the caller's contract is that of the function called.
                        unsafe { $float::[<$which _block>](cell, value) }
                    }
                }
            }
        }
    };
}

nan_extremum!(f32 f64);
