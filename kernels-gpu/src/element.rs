//! What can be reduced: the element types.

mod extrema;
mod indexed;
mod moments;
mod scaled_squares;

pub use extrema::Extrema;
pub use half::{bf16, f16};
pub use indexed::{
    Indexed, indexed_f32, indexed_f64, indexed_i32, indexed_i64, indexed_u32, indexed_u64,
};
pub use moments::Moments;
pub use scaled_squares::ScaledSquares;

use crate::device::Float16;
use core::fmt::Debug;
use cuda_std::warp::WarpShuffleValue;

/// A structure of numbers of one type, as an element: its fields are shuffled one after the other.
macro_rules! structure {
    ($structure:ty, $name:expr, of $number:ty: $($field:ident),*) => {
        impl ::cuda_std::warp::WarpShuffleValue for $structure {
            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            unsafe fn shuffle(
                mode: ::cuda_std::warp::WarpShuffleMode,
                mask: u32,
                value: Self,
                b: u32,
                width: u32,
            ) -> (Self, bool) {
                // SAFETY: the caller's contract, for every field: all members shuffle them all.
                let fields = unsafe {
                    [$(<$number>::shuffle(mode, mask, value.$field, b, width)),*]
                };
                let [$($field),*] = fields.map(|(field, _)| field);
                (Self { $($field),* }, fields[0].1)
            }
        }

        impl $crate::element::Element for $structure {
            const NAME: &'static str = $name;
        }

        // SAFETY: numbers of one type, and so no padding between them or behind.
        #[cfg(all(feature = "simulator", not(target_arch = "nvptx64")))]
        unsafe impl cuda_sim::Plain for $structure {}
    };
}

use structure;

/// A value that lives in arrays on the GPU and travels between lanes by shuffle.
///
/// Plain data: every bit pattern is a valid value, there is no padding, and copying the bits copies the
/// value.
pub trait Element: Copy + Debug + PartialEq + Send + Sync + WarpShuffleValue + 'static {
    /// The type's name as it stands in the names of entry points: `"i32"`.
    const NAME: &'static str;
}

/// A number, and the type that numbers of its kind are combined in.
///
/// Narrow integers are combined in 32 bits and 16-bit floats in `f32`, since the hardware computes
/// in those; all others in their own type.
pub trait Number: Element {
    /// What such numbers are combined in.
    type Acc: Number<Acc = Self::Acc> + PartialOrd;

    /// The same value; exact.
    fn widen(self) -> Self::Acc;

    /// The value back: an integer modulo the type's range, a float rounded to nearest.
    fn wrap(acc: Self::Acc) -> Self;

    /// The nearest value of the type.
    fn saturate(acc: Self::Acc) -> Self;

    /// The nearest value of 64 bits: the same, except for integers beyond 2^53.
    fn to_f64(self) -> f64;
}

macro_rules! numbers {
    ($($number:ident in $acc:ident |$from:ident| $widen:expr, $wrap:expr, $saturate:expr;)*) => { $(
        impl Element for $number {
            const NAME: &'static str = stringify!($number);
        }

        impl Number for $number {
            type Acc = $acc;

            #[inline(always)]
            fn widen(self) -> $acc {
                let $from = self;
                $widen
            }

            #[inline(always)]
            fn wrap($from: $acc) -> Self {
                $wrap
            }

            #[inline(always)]
            fn saturate($from: $acc) -> Self {
                $saturate
            }

            #[inline(always)]
            fn to_f64(self) -> f64 {
                Number::widen(self) as f64
            }
        }
    )* };
}

numbers! {
    i8 in i32 |x| x.into(), x as i8, x.clamp(i8::MIN.into(), i8::MAX.into()) as i8;
    i16 in i32 |x| x.into(), x as i16, x.clamp(i16::MIN.into(), i16::MAX.into()) as i16;
    u8 in u32 |x| x.into(), x as u8, x.min(u8::MAX.into()) as u8;
    u16 in u32 |x| x.into(), x as u16, x.min(u16::MAX.into()) as u16;
    f16 in f32 |x| Float16::widen(x), Float16::narrow(x), Float16::narrow(x);
    bf16 in f32 |x| Float16::widen(x), Float16::narrow(x), Float16::narrow(x);
    i32 in i32 |x| x, x, x;
    u32 in u32 |x| x, x, x;
    i64 in i64 |x| x, x, x;
    u64 in u64 |x| x, x, x;
    f32 in f32 |x| x, x, x;
    f64 in f64 |x| x, x, x;
}
