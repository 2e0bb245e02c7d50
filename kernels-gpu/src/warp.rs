//! Warp-level reductions: 32 lanes that exchange registers.
//!
//! Every function here documents which lanes must arrive and which of them hold the result. The member mask is
//! always the full one: all 32 lanes of the warp take part, and none has exited.
//!
//! Source: the post "Faster Parallel Reductions on Kepler" (Justin Luitjens, NVIDIA, 2014).

use crate::element::{Element, Shuffle};
use crate::items::Items;
use crate::op::{Op, ReduxOp};
use cuda_std::thread::thread_idx_x;
use cuda_std::warp::warp_reduce;

/// The member mask of a whole warp.
pub const FULL_MASK: u32 = u32::MAX;

/// The number of lanes of a warp.
pub const WARP_SIZE: u32 = 32;

/// Combines the values of the warp. **Lane 0 holds the result**; the other lanes hold combinations of some of
/// the values, which are unspecified.
///
/// There are five steps of `shfl.sync.down` (PTX ISA, data movement instructions). In each step a lane combines
/// its value with that of the lane `offset` above, and `offset` is halved:
///
/// ```text
/// lane         0   1   2   3   4   5   6   7        (eight lanes shown; a warp has 32)
/// offset 4     0+4 1+5 2+6 3+7 .   .   .   .
/// offset 2     0246 1357 .   .
/// offset 1     01234567
/// ```
///
/// It uses no memory and no barrier, because the shuffle itself synchronises the lanes.
///
/// # Safety
///
/// All 32 lanes of the warp arrive here.
#[inline(always)]
pub unsafe fn reduce_down<I: Items, O: Op<I>>(op: O, mut value: O::Acc) -> O::Acc {
    let mut offset = WARP_SIZE / 2;
    while offset > 0 {
        // SAFETY: the caller guarantees that all lanes of the full mask arrive.
        let above = unsafe { value.shuffle(FULL_MASK, Shuffle::Down(offset)) };
        value = op.combine(value, above);
        offset /= 2;
    }
    value
}

/// Combines the values of the warp in the order of the lanes, for operators that are not commutative. **Lane 0
/// holds the result**; the values of the other lanes are unspecified.
///
/// Like [`reduce_down`], but the offset doubles, so that a lane always combines two adjacent runs:
///
/// ```text
/// lane         0   1   2   3   4   5   6   7        (eight lanes shown; a warp has 32)
/// offset 1     01  .   23  .   45  .   67  .
/// offset 2     0123    .   .   4567    .   .
/// offset 4     01234567
/// ```
///
/// # Safety
///
/// All 32 lanes of the warp arrive here.
#[inline(always)]
pub unsafe fn reduce_in_order<I: Items, O: Op<I>>(op: O, mut value: O::Acc) -> O::Acc {
    let mut offset = 1;
    while offset < WARP_SIZE {
        // SAFETY: the caller guarantees that all lanes of the full mask arrive.
        let above = unsafe { value.shuffle(FULL_MASK, Shuffle::Down(offset)) };
        value = op.combine(value, above);
        offset *= 2;
    }
    value
}

/// Combines the values of the warp by [`reduce_down`], or by [`reduce_in_order`] if the operator is not
/// commutative. **Lane 0 holds the result.**
///
/// # Safety
///
/// All 32 lanes of the warp arrive here.
#[inline(always)]
pub unsafe fn reduce_to_first<I: Items, O: Op<I>>(op: O, value: O::Acc) -> O::Acc {
    // SAFETY: the caller guarantees that all lanes arrive.
    unsafe {
        if O::COMMUTATIVE {
            reduce_down::<I, O>(op, value)
        } else {
            reduce_in_order::<I, O>(op, value)
        }
    }
}

/// Combines the values of the warp. **Every lane holds the result**, the same bits in each, because the
/// operator is commutative.
///
/// There are five steps of `shfl.sync.bfly`, a butterfly: in each step, two lanes whose numbers differ in one
/// bit exchange their values, and both combine them. It takes as many shuffles as [`reduce_down`]:
///
/// ```text
/// lane     0    1    2    3        (four lanes shown; a warp has 32)
/// mask 2   0+2  1+3  2+0  3+1
/// mask 1   all  all  all  all
/// ```
///
/// # Safety
///
/// All 32 lanes of the warp arrive here.
#[inline(always)]
pub unsafe fn all_reduce<I: Items, O: Op<I>>(op: O, mut value: O::Acc) -> O::Acc {
    let mut mask = WARP_SIZE / 2;
    while mask > 0 {
        // SAFETY: the caller guarantees that all lanes of the full mask arrive.
        let other = unsafe { value.shuffle(FULL_MASK, Shuffle::Xor(mask)) };
        value = op.combine(value, other);
        mask /= 2;
    }
    value
}

/// The sum of the numbers of this lane and of all lanes below it.
///
/// There are five steps of `shfl.sync.up`; in each step, every lane's sum is of twice as many lanes.
///
/// # Safety
///
/// All 32 lanes of the warp arrive here.
#[inline(always)]
pub unsafe fn inclusive_sum(number: u32) -> u32 {
    let lane = thread_idx_x() % WARP_SIZE;
    let (mut sum, mut distance) = (number, 1);
    while distance < WARP_SIZE {
        // SAFETY: the caller guarantees that all lanes of the full mask arrive.
        let below = unsafe { sum.shuffle(FULL_MASK, Shuffle::Up(distance)) };
        sum += if lane >= distance { below } else { 0 };
        distance *= 2;
    }
    sum
}

/// Combines the values of the warp by one instruction. **Every lane holds the result.**
///
/// The instruction is `redux.sync` (PTX ISA, parallel synchronization and communication instructions), for
/// 32-bit integers. It requires sm_80; before, `cuda_std` uses shuffles.
///
/// # Safety
///
/// All 32 lanes of the warp arrive here.
#[inline(always)]
pub unsafe fn reduce_redux<I: Items, O: ReduxOp<I>>(value: O::Acc) -> O::Acc {
    // SAFETY: the caller guarantees that all lanes of the full mask arrive.
    unsafe { warp_reduce(FULL_MASK, value, O::REDUX) }
}
