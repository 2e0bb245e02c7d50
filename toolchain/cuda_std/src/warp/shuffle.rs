use half::{bf16, f16};

use crate::arch;

/// Reads the value of the lane `delta` above: lane `i` gets the value of lane `i + delta`. `shfl.sync.down`.
///
/// `width` divides the warp into segments of 1, 2, 4, 8, 16 or 32 lanes. The flag is true if lane `i + delta`
/// is in the segment of lane `i`; otherwise the result is the caller's own value. A source in the segment but
/// not in `mask` gives an unspecified value. Only the five low bits of `delta` are used: 32 is the same as 0.
///
/// Takes one instruction for each 32 bits of `T`, rounded up.
///
/// # Panics
///
/// If `width` is not a power of two from 1 to 32.
///
/// # Safety
///
/// The member mask contract of [`warp`](crate::warp).
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub unsafe fn warp_shuffle_down<T: WarpShuffleValue>(
    mask: u32,
    value: T,
    delta: u32,
    width: u32,
) -> (T, bool) {
    // SAFETY: the caller's contract.
    unsafe { T::shuffle(WarpShuffleMode::Down, mask, value, delta, width) }
}

/// Reads the value of the lane `delta` below: lane `i` gets the value of lane `i - delta`. `shfl.sync.up`.
///
/// The flag, the bits of `delta`, `width`, panics and cost are those of [`warp_shuffle_down`].
///
/// # Safety
///
/// The member mask contract of [`warp`](crate::warp).
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub unsafe fn warp_shuffle_up<T: WarpShuffleValue>(
    mask: u32,
    value: T,
    delta: u32,
    width: u32,
) -> (T, bool) {
    // SAFETY: the caller's contract.
    unsafe { T::shuffle(WarpShuffleMode::Up, mask, value, delta, width) }
}

/// Reads the value of lane `idx` modulo `width` of the caller's segment; the flag is always true.
/// `shfl.sync.idx`.
///
/// `width`, panics and cost are those of [`warp_shuffle_down`].
///
/// # Safety
///
/// The member mask contract of [`warp`](crate::warp).
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub unsafe fn warp_shuffle_idx<T: WarpShuffleValue>(
    mask: u32,
    value: T,
    idx: u32,
    width: u32,
) -> (T, bool) {
    // SAFETY: the caller's contract.
    unsafe { T::shuffle(WarpShuffleMode::Idx, mask, value, idx, width) }
}

/// Reads the value of lane `i ^ lane_mask`, the butterfly pattern. `shfl.sync.bfly`.
///
/// The flag is true if that lane is in the caller's segment or in an earlier one; otherwise the result is the
/// caller's own value. The bits of `lane_mask`, `width`, panics and cost are those of [`warp_shuffle_down`].
///
/// # Safety
///
/// The member mask contract of [`warp`](crate::warp).
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub unsafe fn warp_shuffle_xor<T: WarpShuffleValue>(
    mask: u32,
    value: T,
    lane_mask: u32,
    width: u32,
) -> (T, bool) {
    // SAFETY: the caller's contract.
    unsafe { T::shuffle(WarpShuffleMode::Xor, mask, value, lane_mask, width) }
}

/// The mode of a shuffle, which the functions' names describe.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WarpShuffleMode {
    Up,
    Down,
    Idx,
    Xor,
}

/// A type whose values a warp can shuffle.
pub trait WarpShuffleValue: Sized {
    /// Implements the `warp_shuffle_*` functions. `mode` should be a constant, because it selects the
    /// instruction.
    ///
    /// # Safety
    ///
    /// The member mask contract of [`warp`](crate::warp).
    unsafe fn shuffle(
        mode: WarpShuffleMode,
        mask: u32,
        value: Self,
        b: u32,
        width: u32,
    ) -> (Self, bool);
}

/// The last operand of `shfl`. Bits 8 to 12 mask the bits of a lane that select its segment. Bits 0 to 4
/// bound the other bits of the source: from below for `up`, from above for the other modes.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
fn clamp(mode: WarpShuffleMode, width: u32) -> u32 {
    assert!(
        width.is_power_of_two() && width <= 32,
        "the width of a shuffle must be a power of two from 1 to 32"
    );
    let bound = if mode == WarpShuffleMode::Up { 0 } else { 31 };
    (32 - width) << 8 | bound
}

/// # Safety
///
/// The member mask contract of [`warp`](crate::warp).
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
unsafe fn shuffle_32(
    mode: WarpShuffleMode,
    mask: u32,
    value: u32,
    b: u32,
    width: u32,
) -> (u32, bool) {
    // SAFETY: the caller's contract.
    unsafe { arch::shuffle(mode, mask, value, b, clamp(mode, width)) }
}

/// # Safety
///
/// The member mask contract of [`warp`](crate::warp).
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
unsafe fn shuffle_64(
    mode: WarpShuffleMode,
    mask: u32,
    value: u64,
    b: u32,
    width: u32,
) -> (u64, bool) {
    // SAFETY: the caller's contract, for both calls: all members execute both.
    let ((low, in_segment), (high, _)) = unsafe {
        (
            shuffle_32(mode, mask, value as u32, b, width),
            shuffle_32(mode, mask, (value >> 32) as u32, b, width),
        )
    };
    ((high as u64) << 32 | low as u64, in_segment)
}

/// # Safety
///
/// The member mask contract of [`warp`](crate::warp).
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
unsafe fn shuffle_128(
    mode: WarpShuffleMode,
    mask: u32,
    value: u128,
    b: u32,
    width: u32,
) -> (u128, bool) {
    // SAFETY: the caller's contract, for both calls: all members execute both.
    let ((low, in_segment), (high, _)) = unsafe {
        (
            shuffle_64(mode, mask, value as u64, b, width),
            shuffle_64(mode, mask, (value >> 64) as u64, b, width),
        )
    };
    ((high as u128) << 64 | low as u128, in_segment)
}

macro_rules! shuffle_value {
    ($($ty:ty, $shuffle:ident,
       |$value:ident| $bits:expr, |$received:ident| $from_bits:expr;)*) => { $(
        impl WarpShuffleValue for $ty {
            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            unsafe fn shuffle(
                mode: WarpShuffleMode,
                mask: u32,
                $value: Self,
                b: u32,
                width: u32,
            ) -> (Self, bool) {
                // SAFETY: the caller's contract.
                let ($received, in_segment) = unsafe { $shuffle(mode, mask, $bits, b, width) };
                ($from_bits, in_segment)
            }
        }
    )* };
}

shuffle_value! {
    i8, shuffle_32, |value| value as u32, |bits| bits as i8;
    u8, shuffle_32, |value| value as u32, |bits| bits as u8;
    i16, shuffle_32, |value| value as u32, |bits| bits as i16;
    u16, shuffle_32, |value| value as u32, |bits| bits as u16;
    f16, shuffle_32, |value| value.to_bits() as u32, |bits| f16::from_bits(bits as u16);
    bf16, shuffle_32, |value| value.to_bits() as u32, |bits| bf16::from_bits(bits as u16);
    i32, shuffle_32, |value| value as u32, |bits| bits as i32;
    u32, shuffle_32, |value| value, |bits| bits;
    f32, shuffle_32, |value| value.to_bits(), |bits| f32::from_bits(bits);
    i64, shuffle_64, |value| value as u64, |bits| bits as i64;
    u64, shuffle_64, |value| value, |bits| bits;
    f64, shuffle_64, |value| value.to_bits(), |bits| f64::from_bits(bits);
    i128, shuffle_128, |value| value as u128, |bits| bits as i128;
    u128, shuffle_128, |value| value, |bits| bits;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One warp in which every lane executes every shuffle.
    #[cfg(feature = "simulator")]
    #[test]
    fn every_mode_stays_in_its_segment() {
        let every_shuffle = || {
            let lane = crate::warp::lane_id();
            for width in [1, 2, 4, 8, 16, 32] {
                let first = lane / width * width;
                for b in 0..32 {
                    // A lane without a source in its segment gets its own value.
                    let or_own = |source, there| if there { (source, true) } else { (lane, false) };
                    // SAFETY: all lanes get here.
                    let (down, up, idx, xor) = unsafe {
                        (
                            warp_shuffle_down(!0, lane, b, width),
                            warp_shuffle_up(!0, lane, b, width),
                            warp_shuffle_idx(!0, lane, b, width),
                            warp_shuffle_xor(!0, lane, b, width),
                        )
                    };
                    assert_eq!(down, or_own(lane + b, lane + b < first + width));
                    assert_eq!(up, or_own(lane.wrapping_sub(b), lane >= first + b));
                    assert_eq!(idx, (first + b % width, true));
                    assert_eq!(xor, or_own(lane ^ b, (lane ^ b) < first + width));
                }
            }
        };
        let simulator = cuda_sim::Simulator::new().block(32).check_all();
        if let Err(failure) = simulator.run(every_shuffle) {
            std::panic!("{failure}");
        }
    }

    #[test]
    fn other_widths_panic() {
        for width in [0, 3, 24, 33, 64, u32::MAX] {
            let caught = std::panic::catch_unwind(|| clamp(WarpShuffleMode::Down, width));
            assert!(caught.is_err(), "{width}");
        }
    }
}
