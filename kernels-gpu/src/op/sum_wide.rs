//! The sum in 64 bits.

use super::{AtomicOp, Combine, CombineAtomic, Op, Sum};
use crate::element::Number;
#[cfg(not(target_arch = "nvptx64"))]
use crate::exact::Accumulator;

/// The sum as an `i64`, a `u64` or an `f64`: 2^32 elements of 32 bits do not wrap, and floats have twice the
/// digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SumWide;

/// A type that can be converted to 64 bits.
pub trait Wide {
    /// The 64-bit type.
    type Wide: Number;

    /// The same value in 64 bits; exact.
    fn wide(self) -> Self::Wide;

    /// The product in 64 bits; exact for floats of up to 32 bits. Integers of 64 bits wrap.
    fn product(a: Self, b: Self) -> Self::Wide;
}

macro_rules! wide {
    ($($acc:ident in $wide:ident, |$a:ident, $b:ident| $product:expr;)*) => { $(
        impl Wide for $acc {
            type Wide = $wide;

            #[inline(always)]
            fn wide(self) -> $wide {
                self.into()
            }

            #[inline(always)]
            fn product(a: Self, b: Self) -> $wide {
                let ($a, $b) = (a.wide(), b.wide());
                $product
            }
        }
    )* };
}

wide! {
    i32 in i64, |a, b| a * b;
    u32 in u64, |a, b| a * b;
    i64 in i64, |a, b| a.wrapping_mul(b);
    u64 in u64, |a, b| a.wrapping_mul(b);
    f32 in f64, |a, b| a * b;
    f64 in f64, |a, b| a * b;
}

impl<T, A, W> Op<T> for SumWide
where
    T: Number<Acc = A>,
    A: Wide<Wide = W>,
    W: Number,
    Sum: Combine<W>,
{
    type Acc = W;
    type Output = W;
    const ANY_ORDER: bool = <Sum as Combine<W>>::ANY_ORDER;

    #[inline(always)]
    fn identity(&self) -> W {
        <Sum as Combine<W>>::IDENTITY
    }

    #[inline(always)]
    fn lift(&self, value: T, _: u64) -> W {
        value.widen().wide()
    }

    #[inline(always)]
    fn combine(&self, a: W, b: W) -> W {
        <Sum as Combine<W>>::combine(a, b)
    }

    #[inline(always)]
    fn finish(&self, acc: W) -> W {
        acc
    }

    #[cfg(not(target_arch = "nvptx64"))]
    fn of_exact(&self, sum: &Accumulator) -> Option<W> {
        W::of_exact(sum)
    }

    #[inline(always)]
    fn initial(&self) -> W {
        <Sum as Combine<W>>::INITIAL
    }
}

impl<T, A, W> AtomicOp<T> for SumWide
where
    T: Number<Acc = A>,
    A: Wide<Wide = W>,
    W: Number,
    Sum: CombineAtomic<W>,
{
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    unsafe fn combine_atomic_device(&self, cell: *mut W, value: W) {
        // SAFETY: the caller's contract is that of the function called.
        unsafe { Sum::combine_device(cell, value) }
    }

    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    unsafe fn combine_atomic_block(&self, cell: *mut W, value: W) {
        // SAFETY: the caller's contract is that of the function called.
        unsafe { Sum::combine_block(cell, value) }
    }
}
