//! Element types: the values that can be reduced.

mod extrema;
mod indexed;
mod moments;
mod padding;
#[cfg(not(target_arch = "nvptx64"))]
mod parts;
#[cfg(not(feature = "simulator"))]
mod plain;
mod scaled_squares;

pub use extrema::Extrema;
pub use half::{bf16, f16};
pub use indexed::Indexed;
pub use moments::Moments;
#[doc(hidden)]
pub use padding::assert_no_padding;
#[cfg(not(target_arch = "nvptx64"))]
pub use parts::NumberMut;
pub use scaled_squares::ScaledSquares;

use crate::device::Float16;
#[cfg(not(target_arch = "nvptx64"))]
use crate::exact::Accumulator;
use crate::warp::WARP_SIZE;
use core::fmt::Debug;
use cuda_std::warp::{warp_shuffle_down, warp_shuffle_idx, warp_shuffle_up, warp_shuffle_xor};

#[cfg(feature = "simulator")]
pub use cuda_sim::Plain;
#[cfg(not(feature = "simulator"))]
pub use plain::Plain;

/// A value that can be stored in arrays on the GPU and exchanged between lanes by shuffles.
///
/// Numbers are elements, and so are arrays of elements and structures of elements:
///
/// ```
/// use kernels_gpu::prelude::*;
///
/// #[derive(Clone, Copy, Debug, PartialEq, Element)]
/// #[repr(C)]
/// struct Point {
///     position: [f32; 3],
///     weight: f32,
/// }
/// ```
///
/// The derive macro checks that the structure has no padding and that every field is an element. So an element
/// contains no pointers.
///
/// ```compile_fail
/// # use kernels_gpu::prelude::*;
/// #[derive(Clone, Copy, Debug, PartialEq, Element)]
/// #[repr(C)]
/// struct Padded {
///     small: u8, // three bytes of padding follow
///     large: u32,
/// }
/// ```
///
/// ```compile_fail
/// # use kernels_gpu::prelude::*;
/// #[derive(Clone, Copy, Debug, PartialEq, Element)]
/// #[repr(C)]
/// struct Pointer {
///     to: *const f32, // not an element
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an element of an array on a device",
    label = "not an element",
    note = "elements are numbers, arrays of elements, and `#[repr(C)]` structures with `#[derive(Element)]`",
    note = "if `{Self}` is a structure of yours, mark it `#[derive(Clone, Copy, Debug, PartialEq, Element)]` and `#[repr(C)]`"
)]
pub trait Element: Plain + Debug + PartialEq + Send + Sync {
    /// The value of another lane of the warp, chosen by `from`; the lane's own value if there is no such lane.
    ///
    /// One `shfl.sync` for each 32 bits of a number (PTX ISA, data movement instructions).
    ///
    /// # Safety
    ///
    /// All lanes in the member mask `mask`, the calling lane among them, arrive here with the same mask and the
    /// same kind of shuffle. The source lane is one of them.
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    unsafe fn shuffle(self, mask: u32, from: Shuffle) -> Self;

    /// Calls `each` with every number of the element, in the order of the fields. Tests compare and construct
    /// elements with it.
    #[cfg(not(target_arch = "nvptx64"))]
    fn numbers(&mut self, each: &mut dyn FnMut(NumberMut<'_>));
}

/// The source lane of a shuffle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shuffle {
    /// The lane this many above: `shfl.sync.down`.
    Down(u32),
    /// The lane this many below: `shfl.sync.up`.
    Up(u32),
    /// The lane with this number: `shfl.sync.idx`.
    Idx(u32),
    /// The lane whose number differs in these bits: `shfl.sync.bfly`.
    Xor(u32),
}

impl<T: Element, const N: usize> Element for [T; N] {
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    unsafe fn shuffle(mut self, mask: u32, from: Shuffle) -> Self {
        let mut i = 0;
        while i < N {
            // SAFETY: the caller's contract, for every element: all lanes shuffle every element.
            self[i] = unsafe { self[i].shuffle(mask, from) };
            i += 1;
        }
        self
    }

    #[cfg(not(target_arch = "nvptx64"))]
    fn numbers(&mut self, each: &mut dyn FnMut(NumberMut<'_>)) {
        for element in self {
            element.numbers(each);
        }
    }
}

/// The name of a type without its path: `Complex`, `Indexed<f32>`.
pub fn name_of<T>() -> &'static str {
    let name = core::any::type_name::<T>();
    let path = &name[..name.find(['<', '[', '(']).unwrap_or(name.len())];
    &name[path.rfind("::").map_or(0, |end| end + 2)..]
}

/// Implements `Element` for a structure of numbers of one type, by a shuffle for each field. Does what
/// `#[derive(Element)]` does, for one instance of a generic structure.
macro_rules! structure {
    ($structure:ty: $($field:ident),*) => {
        // SAFETY: the assertion below excludes padding. All fields are plain.
        unsafe impl $crate::element::Plain for $structure {}

        const _: () = {
            const fn sizes(value: &$structure) -> usize {
                0 $(+ size_of_val(&value.$field))*
            }
            let value = ::core::mem::MaybeUninit::<$structure>::zeroed();
            // SAFETY: all fields are plain: every bit pattern is a value.
            let sizes = sizes(unsafe { value.assume_init_ref() });
            assert!(sizes == size_of::<$structure>(), "the structure has padding between or after its fields");
        };

        impl $crate::element::Element for $structure {
            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            unsafe fn shuffle(self, mask: u32, from: $crate::element::Shuffle) -> Self {
                // SAFETY: the caller's contract, for every field: all lanes shuffle every field.
                unsafe { Self { $($field: self.$field.shuffle(mask, from)),* } }
            }

            #[cfg(not(target_arch = "nvptx64"))]
            fn numbers(&mut self, each: &mut dyn FnMut($crate::element::NumberMut<'_>)) {
                $(self.$field.numbers(each);)*
            }
        }
    };
}

use structure;

/// A number, and the type in which such numbers are accumulated.
///
/// Narrow integers accumulate in 32 bits and 16-bit floats in `f32`, because the hardware computes in these
/// types. All others accumulate in their own type.
pub trait Number: Element {
    /// The type's name: `"i32"`.
    const NAME: &'static str;

    /// The type in which such numbers accumulate.
    type Acc: Number<Acc = Self::Acc> + PartialOrd;

    /// The same value; exact.
    fn widen(self) -> Self::Acc;

    /// Converts back: an integer modulo the type's range, a float rounded to nearest.
    fn wrap(acc: Self::Acc) -> Self;

    /// The nearest value of the type.
    fn saturate(acc: Self::Acc) -> Self;

    /// The nearest `f64`: exact, except for integers beyond 2^53.
    fn to_f64(self) -> f64;

    /// The nearest value to an exact sum; `None` for integers.
    #[doc(hidden)]
    #[cfg(not(target_arch = "nvptx64"))]
    fn of_exact(sum: &Accumulator) -> Option<Self>;
}

macro_rules! numbers {
    ($($number:ident in $acc:ident |$from:ident| $widen:expr, $wrap:expr, $saturate:expr, $exact:expr;)*) => { $(
        impl Element for $number {
            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            unsafe fn shuffle(self, mask: u32, from: Shuffle) -> Self {
                // SAFETY: the caller's contract.
                let (value, _) = unsafe {
                    match from {
                        Shuffle::Down(delta) => warp_shuffle_down(mask, self, delta, WARP_SIZE),
                        Shuffle::Up(delta) => warp_shuffle_up(mask, self, delta, WARP_SIZE),
                        Shuffle::Idx(lane) => warp_shuffle_idx(mask, self, lane, WARP_SIZE),
                        Shuffle::Xor(bits) => warp_shuffle_xor(mask, self, bits, WARP_SIZE),
                    }
                };
                value
            }

            #[cfg(not(target_arch = "nvptx64"))]
            fn numbers(&mut self, each: &mut dyn FnMut(NumberMut<'_>)) {
                each(self.into());
            }
        }

        impl Number for $number {
            const NAME: &'static str = stringify!($number);
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

            #[cfg(not(target_arch = "nvptx64"))]
            fn of_exact(sum: &Accumulator) -> Option<Self> {
                let exact: fn(&Accumulator) -> Option<Self> = $exact;
                exact(sum)
            }
        }
    )* };
}

numbers! {
    i8 in i32 |x| x.into(), x as i8, x.clamp(i8::MIN.into(), i8::MAX.into()) as i8, |_| None;
    i16 in i32 |x| x.into(), x as i16, x.clamp(i16::MIN.into(), i16::MAX.into()) as i16, |_| None;
    u8 in u32 |x| x.into(), x as u8, x.min(u8::MAX.into()) as u8, |_| None;
    u16 in u32 |x| x.into(), x as u16, x.min(u16::MAX.into()) as u16, |_| None;
    f16 in f32 |x| Float16::widen(x), Float16::narrow(x), Float16::narrow(x), |sum| Some(sum.sum());
    bf16 in f32 |x| Float16::widen(x), Float16::narrow(x), Float16::narrow(x), |sum| Some(sum.sum());
    i32 in i32 |x| x, x, x, |_| None;
    u32 in u32 |x| x, x, x, |_| None;
    i64 in i64 |x| x, x, x, |_| None;
    u64 in u64 |x| x, x, x, |_| None;
    f32 in f32 |x| x, x, x, |sum| Some(sum.sum());
    f64 in f64 |x| x, x, x, |sum| Some(sum.sum());
}
