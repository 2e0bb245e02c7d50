//! The smallest and the largest value.

use super::CombineAtomic;
use super::by_sign::BySign;
use super::one_instruction::OneInstruction;
use cuda_std::atomic::mid;

/// The smaller of the two. Floats: NaN if either is NaN, and `-0.0 < +0.0`. `None` for empty input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Min;

/// The larger of the two. Floats: NaN if either is NaN, and `-0.0 < +0.0`. `None` for empty input.
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
                // Selections instead of branches: lanes differ, and this is done for each element.
                // Equal values have the same bits, or are two zeros, of which -0.0 is the smaller.
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
                // Selections instead of branches: lanes differ, and this is done for each element.
                // Equal values have the same bits, or are two zeros, of which +0.0 is the larger.
                let equal = $float::from_bits(a.to_bits() & b.to_bits());
                let other = if a == b { equal } else { b };
                if (a > b) | a.is_nan() { a } else { other }
            };
        }

        // A NaN must win. With the sign bit set it is below all other values in the order of the
        // atomics, and without it above them, so that no later update can remove it.
        float_atomic!(Min: $float, min, |value| if value.is_nan() { -$float::NAN.abs() } else { value });
        float_atomic!(Max: $float, max, |value| if value.is_nan() { $float::NAN.abs() } else { value });
    )* };
}

/// The atomic form of floats, once NaN has been given its place in the order of [`BySign`].
macro_rules! float_atomic {
    ($op:ident: $float:ident, $which:ident, |$value:ident| $placed:expr) => {
        pastey::paste! {
            impl CombineAtomic<$float> for $op {
                #[inline(always)]
                #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
                unsafe fn combine_device(cell: *mut $float, $value: $float) {
                    // SAFETY: the caller's contract is the callee's.
                    unsafe { $float::[<$which _device>](cell, $placed) }
                }

                #[inline(always)]
                #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
                unsafe fn combine_block(cell: *mut $float, $value: $float) {
                    // SAFETY: the caller's contract is the callee's.
                    unsafe { $float::[<$which _block>](cell, $placed) }
                }
            }
        }
    };
}

float_extremum!(f32 f64);
