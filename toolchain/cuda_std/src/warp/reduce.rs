use crate::arch;

use super::{warp_shuffle_idx, warp_shuffle_xor};

/// Combines `value` of all lanes in `mask`; each of them gets the result.
///
/// From compute capability 8.0 on, one instruction, `redux.sync`. On 7.5, shuffles: five for a full warp, one
/// for each member for other masks. Addition wraps. The result is the same on all devices.
///
/// # Safety
///
/// The member mask contract of [`warp`](crate::warp), and all members pass the same `op`.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub unsafe fn warp_reduce<T: WarpReduceValue>(mask: u32, value: T, op: WarpReductionOp) -> T {
    // SAFETY: the caller's contract.
    unsafe { T::reduce(mask, value, op) }
}

/// The operators of [`warp_reduce`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum WarpReductionOp {
    /// The wrapping sum.
    Add,
    /// The minimum.
    Min,
    /// The maximum.
    Max,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
}

/// A type whose values a warp can reduce.
pub trait WarpReduceValue: Sized {
    /// Implements [`warp_reduce`]. `op` should be a constant, because it selects the instruction.
    ///
    /// # Safety
    ///
    /// The contract of [`warp_reduce`].
    unsafe fn reduce(mask: u32, value: Self, op: WarpReductionOp) -> Self;
}

macro_rules! reduce_value {
    ($($ty:ty, $min:ident, $max:ident;)*) => { $(
        impl WarpReduceValue for $ty {
            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            unsafe fn reduce(mask: u32, value: Self, op: WarpReductionOp) -> Self {
                if !arch::has_redux() {
                    // SAFETY: the caller's contract.
                    return unsafe { by_shuffles(mask, value, |a, b| op.combine(a, b)) };
                }
                let bits = value as u32;
                // SAFETY: the caller's contract.
                unsafe {
                    match op {
                        WarpReductionOp::Add => arch::redux_add(bits, mask) as Self,
                        WarpReductionOp::Min => arch::$min(value, mask),
                        WarpReductionOp::Max => arch::$max(value, mask),
                        WarpReductionOp::And => arch::redux_and(bits, mask) as Self,
                        WarpReductionOp::Or => arch::redux_or(bits, mask) as Self,
                        WarpReductionOp::Xor => arch::redux_xor(bits, mask) as Self,
                    }
                }
            }
        }

        impl Combine<$ty> for WarpReductionOp {
            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            fn combine(self, a: $ty, b: $ty) -> $ty {
                match self {
                    WarpReductionOp::Add => a.wrapping_add(b),
                    WarpReductionOp::Min => a.min(b),
                    WarpReductionOp::Max => a.max(b),
                    WarpReductionOp::And => a & b,
                    WarpReductionOp::Or => a | b,
                    WarpReductionOp::Xor => a ^ b,
                }
            }
        }
    )* };
}

trait Combine<T> {
    fn combine(self, a: T, b: T) -> T;
}

reduce_value! {
    i32, redux_min_i32, redux_max_i32;
    u32, redux_min_u32, redux_max_u32;
}

/// # Safety
///
/// The member mask contract of [`warp`](crate::warp). `mask` is the same in all members, so they take the
/// same branch and execute the same shuffles.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
unsafe fn by_shuffles<T: super::WarpShuffleValue + Copy>(
    mask: u32,
    value: T,
    combine: impl Fn(T, T) -> T,
) -> T {
    let mut result = value;
    if mask == u32::MAX {
        for distance in [16, 8, 4, 2, 1] {
            // SAFETY: the caller's contract.
            let (other, _) = unsafe { warp_shuffle_xor(mask, result, distance, 32) };
            result = combine(result, other);
        }
    } else {
        // Loads from members only: other lanes return unspecified values.
        let first = mask.trailing_zeros();
        // SAFETY: the caller's contract.
        (result, _) = unsafe { warp_shuffle_idx(mask, value, first, 32) };
        let mut rest = mask & (mask - 1);
        while rest != 0 {
            // SAFETY: the caller's contract.
            let (other, _) = unsafe { warp_shuffle_idx(mask, value, rest.trailing_zeros(), 32) };
            result = combine(result, other);
            rest &= rest - 1;
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_combine_as_their_names_say() {
        let all = [
            (WarpReductionOp::Add, i32::MIN),
            (WarpReductionOp::Min, 1),
            (WarpReductionOp::Max, i32::MAX),
            (WarpReductionOp::And, 1),
            (WarpReductionOp::Or, i32::MAX),
            (WarpReductionOp::Xor, i32::MAX - 1),
        ];
        for (op, expected) in all {
            assert_eq!(op.combine(i32::MAX, 1), expected, "{op:?}");
        }
        assert_eq!(WarpReductionOp::Min.combine(u32::MAX, 1), 1);
        assert_eq!(WarpReductionOp::Min.combine(-1, 1), -1);
    }
}
