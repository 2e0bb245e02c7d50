//! The sum.

use super::{AtomicOp, Op, ReduxOp};
use core::sync::atomic::Ordering::Relaxed;
use cuda_std::atomic::mid;
use cuda_std::warp::WarpReductionOp;

/// `a + b`. Integers wrap in their own type; floats round to nearest, once per addition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sum;

macro_rules! sum {
    ($($element:ident, $identity:expr, |$a:ident, $b:ident| $add:expr);* $(;)?) => { pastey::paste! {
        $(impl Op<$element> for Sum {
            const NAME: &'static str = "sum";
            const IDENTITY: $element = $identity;

            #[inline(always)]
            fn combine($a: $element, $b: $element) -> $element {
                $add
            }
        }

        impl AtomicOp<$element> for Sum {
            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            unsafe fn combine_atomic_device(cell: *mut $element, value: $element) {
                // SAFETY: the caller's contract is the callee's.
                unsafe { mid::[<atomic_fetch_add_ $element _device>](cell, Relaxed, value) };
            }

            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            unsafe fn combine_atomic_block(cell: *mut $element, value: $element) {
                // SAFETY: the caller's contract is the callee's.
                unsafe { mid::[<atomic_fetch_add_ $element _block>](cell, Relaxed, value) };
            }
        })*
    }};
}

// -0.0 is the identity of float addition: (-0.0) + (-0.0) is -0.0, but 0.0 + (-0.0) is 0.0.
sum! {
    i32, 0, |a, b| a.wrapping_add(b);
    u32, 0, |a, b| a.wrapping_add(b);
    i64, 0, |a, b| a.wrapping_add(b);
    u64, 0, |a, b| a.wrapping_add(b);
    f32, -0.0, |a, b| a + b;
    f64, -0.0, |a, b| a + b;
}

impl ReduxOp<i32> for Sum {
    const REDUX: WarpReductionOp = WarpReductionOp::Add;
}

impl ReduxOp<u32> for Sum {
    const REDUX: WarpReductionOp = WarpReductionOp::Add;
}
