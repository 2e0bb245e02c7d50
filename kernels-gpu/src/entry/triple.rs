//! The entries of [`triple`](crate::kepler::triple): `<kernel>_<operator>_<element>`, as
//! `triple_interleaved_sum_i32`. The parameters are those of reductions; the input holds the fields
//! of each triple side by side, and the output three cells:
//!
//! ```text
//! input: *const T, input_len: u64, output: *mut T, output_len: u64
//! ```

use crate::kepler::triple::{triple_in_turn, triple_interleaved};
use crate::mem::Global;
use crate::op::Sum;
use cuda_std::kernel;

/// One entry point that reduces triples.
#[derive(Clone, Copy, Debug)]
pub struct TripleEntry {
    /// The symbol in the module: `"triple_interleaved_sum_i32"`.
    pub name: &'static str,
    /// The module of PTX that has it: `"triple"`.
    pub module: &'static str,
    /// The kernel: `"triple_interleaved"`.
    pub kernel: &'static str,
    /// The element type: `"i32"`.
    pub element: &'static str,
    /// The very function that the module's entry was made from, for simulators.
    #[cfg(feature = "simulator")]
    pub function: super::Function,
}

/// The product of two lists: every kernel for every element, as entry points and as rows.
macro_rules! triples {
    ($kernels:tt of [$($element:ident),*]) => {
        $(triples!(@functions $element $kernels);)*

        const TRIPLES: &[&[TripleEntry]] = &[$(triples!(@rows $element $kernels)),*];
    };

    (@functions $element:ident { $($kernel:ident;)* }) => { pastey::paste! {
        $(
            #[doc = concat!("The entry `", stringify!($kernel), "` of sums of `", stringify!($element), "`.")]
            ///
            /// # Safety
            ///
            /// The launch is as the kernel's generic body asks.
            #[cfg(any(feature = "simulator", target_arch = "nvptx64"))]
            #[kernel(module = triple)]
            pub unsafe fn [<$kernel _sum_ $element>](
                input: &[$element],
                output: *mut $element,
                output_len: usize,
            ) {
                // SAFETY: whoever launches the entry vouches for its arguments and for what the
                // body, documented where it stands, does with them.
                unsafe {
                    $kernel::<$element, Sum>(
                        Global::from_slice(input),
                        Global::new(output, output_len),
                    )
                }
            }
        )*
    }};

    (@rows $element:ident { $($kernel:ident;)* }) => { pastey::paste! {
        &[$(TripleEntry {
            name: stringify!([<$kernel _sum_ $element>]),
            module: "triple",
            kernel: stringify!($kernel),
            element: stringify!($element),
            #[cfg(feature = "simulator")]
            function: |input, input_len, output, output_len| {
                // SAFETY: `Function`'s contract.
                unsafe {
                    let input = core::slice::from_raw_parts(input.cast::<$element>(), input_len);
                    [<$kernel _sum_ $element>](input, output.cast(), output_len)
                }
            },
        }),*]
    }};
}

triples!({
    triple_interleaved;
    triple_in_turn;
} of [i32, f32, f64]);

/// All reductions of triples.
pub const ENTRIES: &[TripleEntry] = flat!(TRIPLES);
