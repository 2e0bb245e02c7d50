//! The smallest and the largest value.

use super::CombineAtomic;
use super::by_sign::BySign;
use super::one_instruction::OneInstruction;
use cuda_std::atomic::mid;

/// The smallest value; `None` for empty input. For floats, NaN if any value is a NaN; `-0.0 < +0.0`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Min;

/// The largest value; `None` for empty input. For floats, NaN if any value is a NaN; `-0.0 < +0.0`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Max;

operator_of_numbers!(Min: Option<T>, |acc| Some(T::saturate(acc)), empty None);
operator_of_numbers!(Max: Option<T>, |acc| Some(T::saturate(acc)), empty None);

combine! { Min:
    i32, i32::MAX, |a, b| a.min(b);
    u32, u32::MAX, |a, b| a.min(b);
    i64, i64::MAX, |a, b| a.min(b);
    u64, u64::MAX, |a, b| a.min(b);
}

combine! { Max:
    i32, i32::MIN, |a, b| a.max(b);
    u32, u32::MIN, |a, b| a.max(b);
    i64, i64::MIN, |a, b| a.max(b);
    u64, u64::MIN, |a, b| a.max(b);
}

atomic_instruction!(Min is min: i32 u32 i64 u64);
atomic_instruction!(Max is max: i32 u32 i64 u64);
warp_instruction!(Min is Min);
warp_instruction!(Max is Max);

macro_rules! float_extremum {
    ($($float:ident)*) => { $(
        combine! { Min:
            $float, $float::INFINITY, |a, b| {
                if let Some(smaller) = $float::smaller(a, b) {
                    return smaller;
                }
                // Selections instead of branches, because lanes would diverge at every element. Equal values
                // have the same bits, or are the two zeros, of which -0.0 is the smaller.
                let equal = $float::from_bits(a.to_bits() | b.to_bits());
                let other = if a == b { equal } else { b };
                if (a < b) | a.is_nan() { a } else { other }
            };
        }

        combine! { Max:
            $float, $float::NEG_INFINITY, |a, b| {
                if let Some(larger) = $float::larger(a, b) {
                    return larger;
                }
                // Selections instead of branches, because lanes would diverge at every element. Equal values
                // have the same bits, or are the two zeros, of which +0.0 is the larger.
                let equal = $float::from_bits(a.to_bits() & b.to_bits());
                let other = if a == b { equal } else { b };
                if (a > b) | a.is_nan() { a } else { other }
            };
        }

        // A NaN must be the result. With the sign bit set it is below all other values in the order of the
        // atomics, and without it above them. So no later update can replace it.
        float_atomic!(Min: $float, min, |value| if value.is_nan() { -$float::NAN.abs() } else { value });
        float_atomic!(Max: $float, max, |value| if value.is_nan() { $float::NAN.abs() } else { value });
    )* };
}

/// The atomic form for floats; the expression maps a NaN to an end of the order of [`BySign`].
macro_rules! float_atomic {
    ($op:ident: $float:ident, $which:ident, |$value:ident| $placed:expr) => {
        pastey::paste! {
            impl CombineAtomic<$float> for $op {
                #[inline(always)]
                #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
                unsafe fn combine_device(cell: *mut $float, $value: $float) {
                    // SAFETY: the caller's contract is that of the function called.
                    unsafe { $float::[<$which _device>](cell, $placed) }
                }

                #[inline(always)]
                #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
                unsafe fn combine_block(cell: *mut $float, $value: $float) {
                    // SAFETY: the caller's contract is that of the function called.
                    unsafe { $float::[<$which _block>](cell, $placed) }
                }
            }
        }
    };
}

float_extremum!(f32 f64);
