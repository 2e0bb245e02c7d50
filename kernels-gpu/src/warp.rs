//! The cooperative steps of a warp: 32 lanes that exchange registers.
//!
//! Every function here states which lanes must arrive and which of them hold the result. The
//! member mask is always the full one: all 32 lanes of the warp take part, none has exited.

use crate::element::{Element, Shuffle};
use crate::items::Items;
use crate::op::{Op, ReduxOp};
use cuda_std::warp::warp_reduce;

/// The member mask of a whole warp.
pub const FULL_MASK: u32 = u32::MAX;

/// Lanes in a warp.
pub const WARP_SIZE: u32 = 32;

/// The warp's values as one. **Lane 0 holds the result**; what the other lanes get is a
/// combination of some of the values and of no use.
///
/// Five steps of `shfl.sync.down` (PTX ISA, data movement instructions). In each, a lane combines
/// its value with that of the lane `offset` above, and `offset` halves:
///
/// ```text
/// lane         0   1   2   3   4   5   6   7        (eight lanes drawn; a warp has 32)
/// offset 4     0+4 1+5 2+6 3+7 .   .   .   .
/// offset 2     0246 1357 .   .
/// offset 1     01234567
/// ```
///
/// No memory and no barrier: the shuffle itself makes the lanes meet.
///
/// # Safety
///
/// All 32 lanes of the warp arrive here.
#[inline(always)]
pub unsafe fn reduce_down<I: Items, O: Op<I>>(op: O, mut value: O::Acc) -> O::Acc {
    let mut offset = WARP_SIZE / 2;
    while offset > 0 {
        // SAFETY: the caller brings all lanes that the full mask names.
        let above = unsafe { value.shuffle(FULL_MASK, Shuffle::Down(offset)) };
        value = op.combine(value, above);
        offset /= 2;
    }
    value
}

/// The warp's values as one, in the order of the lanes: for operators that are not commutative. **Lane 0
/// holds the result**; what the other lanes get is of no use.
///
/// As [`reduce_down`], but the offset doubles, so that a lane always combines two neighbouring runs:
///
/// ```text
/// lane         0   1   2   3   4   5   6   7        (eight lanes drawn; a warp has 32)
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
        // SAFETY: the caller brings all lanes that the full mask names.
        let above = unsafe { value.shuffle(FULL_MASK, Shuffle::Down(offset)) };
        value = op.combine(value, above);
        offset *= 2;
    }
    value
}

/// The warp's values as one, by [`reduce_down`], or by [`reduce_in_order`] where the operator asks for it.
/// **Lane 0 holds the result.**
///
/// # Safety
///
/// All 32 lanes of the warp arrive here.
#[inline(always)]
pub unsafe fn reduce_to_first<I: Items, O: Op<I>>(op: O, value: O::Acc) -> O::Acc {
    // SAFETY: the caller brings all lanes.
    unsafe {
        if O::COMMUTATIVE {
            reduce_down::<I, O>(op, value)
        } else {
            reduce_in_order::<I, O>(op, value)
        }
    }
}

/// The warp's values as one. **Every lane holds the result**, the same bits in each, because the
/// operator is commutative.
///
/// Five steps of `shfl.sync.bfly`, a butterfly: in each, two lanes whose numbers differ in one bit
/// exchange their values, and both combine them. As many shuffles as [`reduce_down`]:
///
/// ```text
/// lane     0    1    2    3        (four lanes drawn; a warp has 32)
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
        // SAFETY: the caller brings all lanes that the full mask names.
        let other = unsafe { value.shuffle(FULL_MASK, Shuffle::Xor(mask)) };
        value = op.combine(value, other);
        mask /= 2;
    }
    value
}

/// The warp's values as one, by the instruction made for it. **Every lane holds the result.**
///
/// `redux.sync` (PTX ISA, parallel synchronization and communication instructions), 32-bit
/// integers only. It needs sm_80; below, `cuda_std` builds it from shuffles.
///
/// # Safety
///
/// All 32 lanes of the warp arrive here.
#[inline(always)]
pub unsafe fn reduce_redux<I: Items, O: ReduxOp<I>>(value: O::Acc) -> O::Acc {
    // SAFETY: the caller brings all lanes that the full mask names.
    unsafe { warp_reduce(FULL_MASK, value, O::REDUX) }
}
