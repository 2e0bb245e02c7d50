//! The entries of [`copy`](crate::copy): `copy_<width>_<size of an element>`, as `copy_vec4_b32`.
//!
//! Copies depend on the size of an element alone: the entry for `b32` copies `i32`, `u32` and
//! `f32` alike. The parameters are those of reductions; `output_len` is `input_len`:
//!
//! ```text
//! input: *const T, input_len: u64, output: *mut T, output_len: u64
//! ```

use crate::copy::{VEC2_BYTES, VEC4_BYTES, copy_scalar, copy_vec2, copy_vec4};
use crate::mem::Global;
use cuda_std::kernel;

/// One entry point that copies.
#[derive(Clone, Copy, Debug)]
pub struct CopyEntry {
    /// The symbol in the module: `"copy_vec4_b32"`.
    pub name: &'static str,
    /// The module of PTX that has it: `"copy"`.
    pub module: &'static str,
    /// The kernel: `"copy_vec4"`.
    pub kernel: &'static str,
    /// How many bytes an element has.
    pub element_bytes: usize,
    /// How many bytes a load brings and a store takes away, between arrays that lie alike, before
    /// sm_100.
    pub access_bytes: usize,
    /// The very function that the module's entry was made from, for simulators.
    #[cfg(feature = "simulator")]
    pub function: super::Function,
}

/// The product of two lists: every row of kernels for every size of elements, as entry points and
/// as rows of a table. In brackets stands how many bytes an access moves; `T` is the element.
macro_rules! copies {
    ($kernels:tt of [$($element:ident $size:ident),*]) => {
        $(copies!(@functions $element $size $kernels);)*

        const COPIES: &[&[CopyEntry]] = &[$(copies!(@rows $element $size $kernels)),*];
    };

    (@functions $element:ident $size:ident { $($kernel:ident [$bytes:expr];)* }) => { pastey::paste! {
        $(
            #[doc = concat!("The entry `", stringify!($kernel), "` of elements of the size of `", stringify!($element), "`.")]
            ///
            /// # Safety
            ///
            /// The launch is as the kernel's generic body asks, and `output_len` is the length of
            /// `input`.
            #[cfg(any(feature = "simulator", target_arch = "nvptx64"))]
            #[kernel(module = copy)]
            pub unsafe fn [<$kernel _ $size>](
                input: &[$element],
                output: *mut $element,
                output_len: usize,
            ) {
                // SAFETY: whoever launches the entry vouches for its arguments and for what the
                // body, documented where it stands, does with them.
                unsafe { $kernel(Global::from_slice(input), Global::new(output, output_len)) }
            }
        )*
    }};

    (@rows $element:ident $size:ident { $($kernel:ident [$bytes:expr];)* }) => { pastey::paste! {
        &[$(CopyEntry {
            name: stringify!([<$kernel _ $size>]),
            module: "copy",
            kernel: stringify!($kernel),
            element_bytes: size_of::<$element>(),
            access_bytes: {
                #[allow(dead_code, reason = "most kernels have a width of their own")]
                type T = $element;
                $bytes
            },
            #[cfg(feature = "simulator")]
            function: |input, input_len, output, output_len| {
                // SAFETY: `Function`'s contract.
                unsafe {
                    let input = core::slice::from_raw_parts(input.cast::<$element>(), input_len);
                    [<$kernel _ $size>](input, output.cast(), output_len)
                }
            },
        }),*]
    }};
}

copies!({
    copy_scalar [size_of::<T>()];
    copy_vec2 [VEC2_BYTES];
    copy_vec4 [VEC4_BYTES];
} of [u8 b8, u16 b16, u32 b32, u64 b64]);

/// All copies.
pub const ENTRIES: &[CopyEntry] = flat!(COPIES);
