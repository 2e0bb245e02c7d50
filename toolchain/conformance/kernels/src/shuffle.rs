//! `warp_shuffle_*`: one shuffle by every lane, in a whole warp and in parts of one.

use crate::arm;
use crate::io::{Io, global_thread};
use crate::value::Value;
use cuda_std::warp::{
    WarpShuffleValue, warp_shuffle_down, warp_shuffle_idx, warp_shuffle_up, warp_shuffle_xor,
};

/// Words of a thread's record in the input of [`lanes`]: value, operand, width.
pub const LANES_INPUT: usize = 3;

/// Words of a thread's record in the input of [`arms`]: value, operand, width, member
/// mask, arm.
pub const ARMS_INPUT: usize = 5;

/// Words of a thread's record in the output: value, predicate.
pub const OUTPUT: usize = 2;

/// The predicate of an idle lane.
pub const IDLE_PREDICATE: u64 = 2;

/// How a lane selects its source.
pub trait Mode {
    /// The shuffle of this mode.
    ///
    /// # Safety
    /// The contract of the function in `cuda_std`: all lanes of `mask`, and no others, call it with this
    /// mask; `width` is a power of two from 1 to 32.
    unsafe fn shuffle<T: WarpShuffleValue>(
        mask: u32,
        value: T,
        operand: u32,
        width: u32,
    ) -> (T, bool);
}

macro_rules! modes {
    ($($(#[$doc:meta])* $mode:ident = $function:ident;)*) => {
        $(
            $(#[$doc])*
            pub struct $mode;

            impl Mode for $mode {
                #[inline(always)]
                unsafe fn shuffle<T: WarpShuffleValue>(
                    mask: u32,
                    value: T,
                    operand: u32,
                    width: u32,
                ) -> (T, bool) {
                    // SAFETY: the caller promises what the function asks.
                    unsafe { $function(mask, value, operand, width) }
                }
            }
        )*
    };
}

modes! {
    /// From a lane above.
    Down = warp_shuffle_down;
    /// From a lane below.
    Up = warp_shuffle_up;
    /// From the lane with some index bits flipped.
    Xor = warp_shuffle_xor;
    /// From the lane with a given index.
    Idx = warp_shuffle_idx;
}

/// Every lane of every warp shuffles once, with its own operand.
///
/// # Safety
/// Whole warps; the width is the same in all lanes of a warp.
#[inline(always)]
pub unsafe fn lanes<M: Mode, T: Value + WarpShuffleValue>(io: Io) {
    let thread = global_thread();
    let record = thread * LANES_INPUT;
    let value = T::from_word(io.read(record));
    let operand = io.read_u32(record + 1);
    let width = io.read_u32(record + 2);
    // SAFETY: all lanes of the warp are here.
    let (got, in_range) = unsafe { M::shuffle(u32::MAX, value, operand, width) };
    io.write(thread * OUTPUT, got.to_word());
    io.write(thread * OUTPUT + 1, in_range.into());
}

/// Each lane shuffles within its arm's member mask. Lanes of the second arm shuffle the result again.
///
/// # Safety
/// Whole warps; the lanes of a mask have the same arm, mask and width, and the mask
/// names no others.
#[inline(always)]
pub unsafe fn arms<M: Mode, T: Value + WarpShuffleValue>(io: Io) {
    let thread = global_thread();
    let record = thread * ARMS_INPUT;
    let word = io.read(record);
    let value = T::from_word(word);
    let operand = io.read_u32(record + 1);
    let width = io.read_u32(record + 2);
    let mask = io.read_u32(record + 3);
    let (got, predicate) = match io.read(record + 4) {
        arm::FIRST => {
            // SAFETY: the lanes of `mask` are those of this arm.
            let (got, in_range) = unsafe { M::shuffle(mask, value, operand, width) };
            (got.to_word(), in_range.into())
        }
        arm::SECOND => {
            // SAFETY: as above, twice in a row.
            let (got, in_range) = unsafe {
                let (once, _) = M::shuffle(mask, value, operand, width);
                M::shuffle(mask, once, operand, width)
            };
            (got.to_word(), in_range.into())
        }
        _ => (arm::busy(word), IDLE_PREDICATE),
    };
    io.write(thread * OUTPUT, got);
    io.write(thread * OUTPUT + 1, predicate);
}
