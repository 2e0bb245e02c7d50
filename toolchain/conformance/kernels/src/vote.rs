//! `warp_vote_*`, `warp_match_*` and `warp_reduce` inside member masks.
//!
//! All have the same form: each lane passes a value, the lanes of a mask decide together, and each gets one
//! word.

use core::marker::PhantomData;

use crate::arm;
use crate::io::{Io, global_thread};
use crate::value::Value;
use cuda_std::warp::{
    WarpMatchValue, WarpReduceValue, WarpReductionOp, warp_match_all, warp_match_any, warp_reduce,
    warp_vote_all, warp_vote_any, warp_vote_ballot,
};

/// Words of a thread's record in the input: value, member mask, arm.
pub const INPUT: usize = 3;

/// Bit of the output of `match_all` which says that there was a match.
pub const MATCHED: u64 = 1 << 32;

/// An operation of the lanes of a mask.
pub trait Decision {
    /// The result for a lane with the operand `word`.
    ///
    /// # Safety
    /// All lanes of `mask`, and no others, call it with this mask.
    unsafe fn decide(mask: u32, word: u64) -> u64;
}

/// `warp_vote_all` of whether the word is odd.
pub struct All;

/// `warp_vote_any` of whether the word is odd.
pub struct Any;

/// `warp_vote_ballot` of whether the word is odd.
pub struct Ballot;

/// `warp_match_any`.
pub struct MatchAny<T>(PhantomData<T>);

/// `warp_match_all`: the mask and [`MATCHED`], or 0.
pub struct MatchAll<T>(PhantomData<T>);

/// `warp_reduce` by an operation.
pub struct Reduce<O, T>(PhantomData<(O, T)>);

impl Decision for All {
    #[inline(always)]
    unsafe fn decide(mask: u32, word: u64) -> u64 {
        // SAFETY: the caller promises what the vote asks.
        unsafe { warp_vote_all(mask, word & 1 == 1) }.into()
    }
}

impl Decision for Any {
    #[inline(always)]
    unsafe fn decide(mask: u32, word: u64) -> u64 {
        // SAFETY: the caller promises what the vote asks.
        unsafe { warp_vote_any(mask, word & 1 == 1) }.into()
    }
}

impl Decision for Ballot {
    #[inline(always)]
    unsafe fn decide(mask: u32, word: u64) -> u64 {
        // SAFETY: the caller promises what the vote asks.
        unsafe { warp_vote_ballot(mask, word & 1 == 1) }.into()
    }
}

impl<T: Value + WarpMatchValue> Decision for MatchAny<T> {
    #[inline(always)]
    unsafe fn decide(mask: u32, word: u64) -> u64 {
        // SAFETY: the caller promises what the match asks.
        unsafe { warp_match_any(mask, T::from_word(word)) }.into()
    }
}

impl<T: Value + WarpMatchValue> Decision for MatchAll<T> {
    #[inline(always)]
    unsafe fn decide(mask: u32, word: u64) -> u64 {
        // SAFETY: the caller promises what the match asks.
        match unsafe { warp_match_all(mask, T::from_word(word)) } {
            Some(lanes) => MATCHED | u64::from(lanes),
            None => 0,
        }
    }
}

/// An operation of `warp_reduce`, as a type.
pub trait Operation {
    /// Its name in `cuda_std`.
    const OPERATION: WarpReductionOp;
}

macro_rules! operations {
    ($($operation:ident)*) => {
        $(
            #[doc = concat!("`WarpReductionOp::", stringify!($operation), "`.")]
            pub struct $operation;

            impl Operation for $operation {
                const OPERATION: WarpReductionOp = WarpReductionOp::$operation;
            }
        )*
    };
}

operations! { Add Min Max And Or Xor }

impl<O: Operation, T: Value + WarpReduceValue> Decision for Reduce<O, T> {
    #[inline(always)]
    unsafe fn decide(mask: u32, word: u64) -> u64 {
        // SAFETY: the caller promises what the reduction asks.
        unsafe { warp_reduce(mask, T::from_word(word), O::OPERATION) }.to_word()
    }
}

/// Each lane decides within its arm's member mask; the second arm uses the value with its lowest bit flipped.
///
/// # Safety
/// Whole warps; the lanes of a mask have the same arm and mask, and the mask names no
/// others.
#[inline(always)]
pub unsafe fn arms<D: Decision>(io: Io) {
    let thread = global_thread();
    let record = thread * INPUT;
    let word = io.read(record);
    let mask = io.read_u32(record + 1);
    let decision = match io.read(record + 2) {
        // SAFETY: the lanes of `mask` are those of this arm.
        arm::FIRST => unsafe { D::decide(mask, word) },
        // SAFETY: the lanes of `mask` are those of this arm.
        arm::SECOND => unsafe { D::decide(mask, word ^ 1) },
        _ => arm::busy(word),
    };
    io.write(thread, decision);
}
