//! Atomics by a compare-and-swap loop, for operators without an atomic instruction.
//!
//! If several threads update the same cell, one of them succeeds per round. The others find that the cell has
//! changed, and try again.

use super::{AtomicOp, Op, Value};
use crate::element::Element;
use core::sync::atomic::Ordering::Relaxed;
use cuda_std::atomic::mid;

/// An operator whose atomics are compare-and-swap loops. It shows the cost of atomic sums of doubles before
/// compute capability 6.0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct ByCas<O>(pub O);

// SAFETY: `repr(C)`, and its field is a value.
unsafe impl<O: Value> Value for ByCas<O> {}

impl<T: Element, O: Op<T>> Op<T> for ByCas<O> {
    type Acc = O::Acc;
    type Output = O::Output;
    const COMMUTATIVE: bool = O::COMMUTATIVE;

    #[inline(always)]
    fn identity(&self) -> O::Acc {
        self.0.identity()
    }

    #[inline(always)]
    fn lift(&self, value: T, index: u64) -> O::Acc {
        self.0.lift(value, index)
    }

    #[inline(always)]
    fn combine(&self, a: O::Acc, b: O::Acc) -> O::Acc {
        self.0.combine(a, b)
    }

    #[inline(always)]
    fn finish(&self, acc: O::Acc) -> O::Output {
        self.0.finish(acc)
    }

    #[inline(always)]
    fn initial(&self) -> O::Acc {
        self.0.initial()
    }

    #[inline(always)]
    fn empty(&self) -> O::Output {
        self.0.empty()
    }
}

impl<T: Element, O: Op<T, Acc: Replace>> AtomicOp<T> for ByCas<O> {
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    unsafe fn combine_atomic_device(&self, cell: *mut O::Acc, value: O::Acc) {
        // SAFETY: the caller's contract is that of the function called.
        unsafe { O::Acc::replace_device(cell, |old| self.0.combine(old, value)) }
    }

    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    unsafe fn combine_atomic_block(&self, cell: *mut O::Acc, value: O::Acc) {
        // SAFETY: the caller's contract is that of the function called.
        unsafe { O::Acc::replace_block(cell, |old| self.0.combine(old, value)) }
    }
}

/// A type that a compare-and-swap can exchange.
pub trait Replace: Element {
    /// Replaces the cell's value `old` by `new(old)`, atomically for all threads of the device.
    ///
    /// # Safety
    ///
    /// As [`AtomicOp::combine_atomic_device`].
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    unsafe fn replace_device(cell: *mut Self, new: impl Fn(Self) -> Self);

    /// Replaces the cell's value `old` by `new(old)`, atomically for all threads of the block.
    ///
    /// # Safety
    ///
    /// As [`AtomicOp::combine_atomic_block`].
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    unsafe fn replace_block(cell: *mut Self, new: impl Fn(Self) -> Self);
}

macro_rules! replace {
    ($($acc:ident: $width:literal $bits:ident |$value:ident| $to_bits:expr, $from_bits:expr;)*) => {
        $(impl Replace for $acc {
            replace!(@device $acc: $width $bits |$value| $to_bits, $from_bits);
            replace!(@block $acc: $width $bits |$value| $to_bits, $from_bits);
        })*
    };
    (@$scope:ident
        $acc:ident: $width:literal $bits:ident |$value:ident| $to_bits:expr, $from_bits:expr
    ) => { pastey::paste! {
        #[inline(always)]
        #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
        unsafe fn [<replace_ $scope>](cell: *mut $acc, new: impl Fn($acc) -> $acc) {
            // SAFETY: the caller's contract; the integer has the cell's size and alignment.
            unsafe {
                let mut seen = mid::[<atomic_load_ $width _ $scope>](cell.cast(), Relaxed);
                loop {
                    let $value: $bits = seen;
                    let $value: $acc = new($from_bits);
                    let bits: $bits = $to_bits;
                    let found = mid::[<atomic_compare_and_swap_ $bits _ $scope>](
                        cell.cast(),
                        seen,
                        bits,
                        Relaxed,
                    );
                    if found == seen {
                        break;
                    }
                    seen = found;
                }
            }
        }
    }};
}

replace! {
    i32: 32 u32 |x| x as u32, x as i32;
    u32: 32 u32 |x| x, x;
    i64: 64 u64 |x| x as u64, x as i64;
    u64: 64 u64 |x| x, x;
    f32: 32 u32 |x| x.to_bits(), f32::from_bits(x);
    f64: 64 u64 |x| x.to_bits(), f64::from_bits(x);
}
