//! The one table from which generic bodies become named entry points.
//!
//! An entry is named `<kernel>_<operator>_<element>`: `reduce_2_sum_i32`. The host launches by
//! these names and takes them from [`ENTRIES`], so a name cannot drift; a test holds the table
//! against the PTX.
//!
//! Every entry has the same four parameters, the scalars that Rust-CUDA's `#[kernel]` makes of a
//! slice and of a pointer with its length:
//!
//! ```text
//! input: *const T, input_len: u64, output: *mut T, output_len: u64
//! ```

use crate::ceiling::{LOAD_BYTES, read_ceiling};
use crate::harris::{
    naive::reduce_naive,
    reduce_0::{reduce_0, reduce_0_modulo},
    reduce_1::reduce_1,
    reduce_2::reduce_2,
    reduce_3::reduce_3,
    reduce_4::{reduce_4, reduce_4_redux},
    reduce_5::{reduce_5, reduce_5_unrolled},
    shared_memory::reduce_shared_memory,
};
use crate::mem::{Global, Shared};
use crate::needs::{Needs, Scratch};
use crate::op::{Max, Min, Sum};
use cuda_std::kernel;

/// An entry point on the host, whatever its element type: the input and the output, each by its
/// address and its number of elements.
///
/// # Safety
///
/// Both are aligned and as long as they say, of the entry's element type; the rest is as the
/// kernel's generic body asks.
#[cfg(not(target_arch = "nvptx64"))]
pub type Function = unsafe fn(*const (), usize, *mut (), usize);

/// One entry point of the PTX modules.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The symbol in the module: `"reduce_2_sum_i32"`.
    pub name: &'static str,
    /// The kernel: `"reduce_2"`.
    pub kernel: &'static str,
    /// The operator: `"sum"`; [`Op::NAME`](crate::op::Op::NAME).
    pub op: &'static str,
    /// The element type: `"i32"`; [`Element::NAME`](crate::element::Element::NAME).
    pub element: &'static str,
    /// How many bytes an element has.
    pub element_bytes: usize,
    /// What the kernel needs of its launch.
    pub needs: Needs,
    /// The very function that the module's entry was made from, for simulators.
    #[cfg(not(target_arch = "nvptx64"))]
    pub function: Function,
}

impl Entry {
    /// How many elements a load brings.
    pub fn load_elements(&self) -> usize {
        let bytes = self.needs.load_bytes;
        bytes.map_or(1, |bytes| bytes / self.element_bytes)
    }
}

/// The product of two lists: every row of kernels for every `operator element`, as entry points
/// and as rows of a table. In brackets stands what the kernel needs of its launch. Inside a row,
/// `T` and `O` are the element and the operator.
macro_rules! entries {
    ($table:ident: [$($op:ident $element:ident),*] x $kernels:tt) => {
        $(entries!(@functions $op $element $kernels);)*

        const $table: &[&[Entry]] = &[$(entries!(@rows $op $element $kernels)),*];
    };

    (@functions $op:ident $element:ident {
        |$input:ident, $output:ident, $scratch:ident|
        $($kernel:ident [$needs:expr] = $body:expr;)*
    }) => { pastey::paste! {
        $(
            #[doc = concat!("The entry `", stringify!($kernel), "` of `", stringify!($element), "` by [`", stringify!($op), "`].")]
            ///
            /// # Safety
            ///
            /// The launch is as the kernel's generic body asks.
            #[kernel]
            pub unsafe fn [<$kernel _ $op:lower _ $element>](
                input: &[$element],
                output: *mut $element,
                output_len: usize,
            ) {
                type T = $element;
                type O = $op;
                // SAFETY: whoever launches the entry vouches for its arguments and for what the
                // body, documented where it stands, does with them.
                unsafe {
                    let $input = Global::<T>::from_slice(input);
                    let $output = Global::<T>::new(output, output_len);
                    #[allow(unused_variables, reason = "not every kernel needs scratch")]
                    let $scratch = Shared::<T>::dynamic();
                    $body
                }
            }
        )*
    }};

    (@rows $op:ident $element:ident {
        |$input:ident, $output:ident, $scratch:ident|
        $($kernel:ident [$needs:expr] = $body:expr;)*
    }) => { pastey::paste! {
        &[$(Entry {
            name: stringify!([<$kernel _ $op:lower _ $element>]),
            kernel: stringify!($kernel),
            op: stringify!([<$op:lower>]),
            element: stringify!($element),
            element_bytes: size_of::<$element>(),
            needs: $needs,
            #[cfg(not(target_arch = "nvptx64"))]
            function: |input, input_len, output, output_len| {
                // SAFETY: `Function`'s contract.
                unsafe {
                    let input = core::slice::from_raw_parts(input.cast::<$element>(), input_len);
                    [<$kernel _ $op:lower _ $element>](input, output.cast(), output_len)
                }
            },
        }),*]
    }};
}

entries!(LADDER: [
    Sum i32, Sum u32, Sum i64, Sum u64, Sum f32, Sum f64,
    Min i32, Min f32,
    Max i32, Max f32
] x {
    |input, output, scratch|
    reduce_naive [Needs::one_cell(Scratch::None)] = reduce_naive::<T, O>(input, output);
    reduce_shared_memory [Needs::one_cell(Scratch::One)] = reduce_shared_memory::<T, O>(input, output, scratch);
    reduce_0 [Needs::tree(1)] = reduce_0::<T, O>(input, output, scratch);
    reduce_0_modulo [Needs::tree(1)] = reduce_0_modulo::<T, O>(input, output, scratch);
    reduce_1 [Needs::tree(1)] = reduce_1::<T, O>(input, output, scratch);
    reduce_2 [Needs::tree(1)] = reduce_2::<T, O>(input, output, scratch);
    reduce_3 [Needs::tree(2)] = reduce_3::<T, O>(input, output, scratch);
    reduce_4 [Needs::tree(2)] = reduce_4::<T, O>(input, output, scratch);
    reduce_5 [Needs::any_grid(Scratch::PerThread, None)] = reduce_5::<T, O>(input, output, scratch);
    reduce_5_x1 [Needs::tree(1)] = reduce_5_unrolled::<T, O, 1>(input, output, scratch);
    reduce_5_x2 [Needs::tree(2)] = reduce_5_unrolled::<T, O, 2>(input, output, scratch);
    reduce_5_x4 [Needs::tree(4)] = reduce_5_unrolled::<T, O, 4>(input, output, scratch);
    reduce_5_x8 [Needs::tree(8)] = reduce_5_unrolled::<T, O, 8>(input, output, scratch);
    reduce_5_x16 [Needs::tree(16)] = reduce_5_unrolled::<T, O, 16>(input, output, scratch);
});

// The warp's own instruction exists for 32-bit integers.
entries!(LADDER_REDUX: [Sum i32, Sum u32, Min i32, Max i32] x {
    |input, output, scratch|
    reduce_4_redux [Needs::tree(2)] = reduce_4_redux::<T, O>(input, output, scratch);
});

entries!(CEILING: [Sum i32, Sum i64, Sum f32, Sum f64] x {
    |input, output, scratch|
    read_ceiling [Needs::any_grid(Scratch::PerWarp, Some(LOAD_BYTES))] =
        read_ceiling::<T, O, { LOAD_BYTES / size_of::<T>() }>(input, output, scratch);
});

/// All entry points.
pub const ENTRIES: &[Entry] = {
    const LEN: usize = count(LADDER) + count(LADDER_REDUX) + count(CEILING);
    &flatten::<LEN>(&[LADDER, LADDER_REDUX, CEILING])
};

/// What a kernel needs of its launch, whatever the operator and the element.
pub fn needs(kernel: &str) -> Option<Needs> {
    let entry = ENTRIES.iter().find(|entry| entry.kernel == kernel)?;
    Some(entry.needs)
}

const fn count(groups: &[&[Entry]]) -> usize {
    let (mut total, mut g) = (0, 0);
    while g < groups.len() {
        total += groups[g].len();
        g += 1;
    }
    total
}

const fn flatten<const LEN: usize>(tables: &[&[&[Entry]]]) -> [Entry; LEN] {
    let mut all = [LADDER[0][0]; LEN];
    let (mut len, mut t) = (0, 0);
    while t < tables.len() {
        let mut g = 0;
        while g < tables[t].len() {
            let mut e = 0;
            while e < tables[t][g].len() {
                all[len] = tables[t][g][e];
                len += 1;
                e += 1;
            }
            g += 1;
        }
        t += 1;
    }
    all
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::{ENTRIES, Entry};
    use std::collections::BTreeSet;
    use std::format;

    #[test]
    fn names_are_made_of_their_parts_and_differ() {
        let mut seen = BTreeSet::new();
        for Entry {
            name,
            kernel,
            op,
            element,
            needs,
            ..
        } in ENTRIES
        {
            assert_eq!(super::needs(kernel), Some(*needs), "two of {kernel}");
            assert_eq!(*name, format!("{kernel}_{op}_{element}"));
            assert!(seen.insert(name), "{name} stands twice in the table");
        }
    }
}
