//! The families of reductions in several launches or by atomics.
//!
//! `ladder` is the Harris ladder and the Kepler families, `ladder_redux` adds the rung with `redux.sync`, and
//! `ceiling` is the read ceiling. An entry point is `<kernel>_<operator>_<element>`, such as
//! `reduce_2_sum_i32`. Its parameters are
//!
//! ```text
//! input: *const T, input_len: u64, op: O, output: *mut T, output_len: u64
//! ```
//!
//! The operator is a parameter only if it has fields.

/// The family `ladder`; see [`kernels!`](crate::kernels).
#[doc(hidden)]
#[macro_export]
macro_rules! family_ladder {
    ($($given:tt)*) => { $crate::ladder_and! { [$($given)*] |op, input, output, scratch| } };
}

/// The family `ladder_redux`, for operators and elements that have a `redux.sync` instruction.
#[doc(hidden)]
#[macro_export]
macro_rules! family_ladder_redux {
    ($($given:tt)*) => { $crate::ladder_and! { [$($given)*] |op, input, output, scratch|
        reduce_4_redux [Needs::tree(2)] = reduce_4::reduce_4_redux::<T, O>(op, input, output, scratch);
    } };
}

/// The family `ceiling`.
#[doc(hidden)]
#[macro_export]
macro_rules! family_ceiling {
    ($($given:tt)*) => { $crate::reductions! { Ceiling $($given)* {
        |op, input, output, scratch|
        read_ceiling [Needs::any_grid(Scratch::PerWarp, Load::Bytes(ceiling::LOAD_BYTES))] =
            ceiling::read_ceiling::<T, O, { ceiling::LOAD_BYTES / size_of::<T>() }>(op, input, output, scratch);
    } } };
}

/// All rungs, and the given ones.
#[doc(hidden)]
#[macro_export]
macro_rules! ladder_and {
    ([$($given:tt)*] |$op:ident, $input:ident, $output:ident, $scratch:ident| $($others:tt)*) => {
        $crate::reductions! { Ladder $($given)* {
        |$op, $input, $output, $scratch|
        reduce_naive [Needs::one_cell(Scratch::None)] = naive::reduce_naive::<T, O>($op, $input, $output);
        reduce_shared_memory [Needs::one_cell(Scratch::One)] = shared_memory::reduce_shared_memory::<T, O>($op, $input, $output, $scratch);
        reduce_0 [Needs::tree(1)] = reduce_0::reduce_0::<T, O>($op, $input, $output, $scratch);
        reduce_0_modulo [Needs::tree(1)] = reduce_0::reduce_0_modulo::<T, O>($op, $input, $output, $scratch);
        reduce_1 [Needs::tree(1)] = reduce_1::reduce_1::<T, O>($op, $input, $output, $scratch);
        reduce_2 [Needs::tree(1)] = reduce_2::reduce_2::<T, O>($op, $input, $output, $scratch);
        reduce_2_warp [Needs::tree(1)] = reduce_2_warp::reduce_2_warp::<T, O>($op, $input, $output, $scratch);
        reduce_3 [Needs::tree(2)] = reduce_3::reduce_3::<T, O>($op, $input, $output, $scratch);
        reduce_4 [Needs::tree(2)] = reduce_4::reduce_4::<T, O>($op, $input, $output, $scratch);
        reduce_5 [Needs::any_grid(Scratch::PerThread, Load::Element)] = reduce_5::reduce_5::<T, O>($op, $input, $output, $scratch);
        reduce_5_x1 [Needs::tree(1)] = reduce_5::reduce_5_unrolled::<T, O, 1>($op, $input, $output, $scratch);
        reduce_5_x2 [Needs::tree(2)] = reduce_5::reduce_5_unrolled::<T, O, 2>($op, $input, $output, $scratch);
        reduce_5_x4 [Needs::tree(4)] = reduce_5::reduce_5_unrolled::<T, O, 4>($op, $input, $output, $scratch);
        reduce_5_x8 [Needs::tree(8)] = reduce_5::reduce_5_unrolled::<T, O, 8>($op, $input, $output, $scratch);
        reduce_5_x16 [Needs::tree(16)] = reduce_5::reduce_5_unrolled::<T, O, 16>($op, $input, $output, $scratch);
        stable [Needs::by_vectors(Scratch::PerWarp, 1)] = stable::stable::<T, O, 1>($op, $input, $output, $scratch);
        stable_vec2 [Needs::by_vectors(Scratch::PerWarp, 2)] = stable::stable::<T, O, 2>($op, $input, $output, $scratch);
        stable_vec4 [Needs::by_vectors(Scratch::PerWarp, 4)] = stable::stable::<T, O, 4>($op, $input, $output, $scratch);
        stable_all [Needs::by_vectors(Scratch::PerWarp, 1)] = stable::stable_all::<T, O>($op, $input, $output, $scratch);
        warp_atomic [Needs::by_vectors(Scratch::None, 1).into_cell()] = warp_atomic::warp_atomic::<T, O, 1>($op, $input, $output);
        warp_atomic_vec2 [Needs::by_vectors(Scratch::None, 2).into_cell()] = warp_atomic::warp_atomic::<T, O, 2>($op, $input, $output);
        warp_atomic_vec4 [Needs::by_vectors(Scratch::None, 4).into_cell()] = warp_atomic::warp_atomic::<T, O, 4>($op, $input, $output);
        block_atomic [Needs::by_vectors(Scratch::PerWarp, 1).into_cell()] = block_atomic::block_atomic::<T, O, 1>($op, $input, $output, $scratch);
        block_atomic_vec2 [Needs::by_vectors(Scratch::PerWarp, 2).into_cell()] = block_atomic::block_atomic::<T, O, 2>($op, $input, $output, $scratch);
        block_atomic_vec4 [Needs::by_vectors(Scratch::PerWarp, 4).into_cell()] = block_atomic::block_atomic::<T, O, 4>($op, $input, $output, $scratch);
        $($others)*
    } } };
}

/// Makes entry points of reductions and their rows, for one operator and element. The brackets contain the
/// kernel's requirements on its launch. Inside a row, `T` and `O` are the element and the operator.
#[doc(hidden)]
#[macro_export]
macro_rules! reductions {
    (
        $family:ident
        $suffix:ident $module:ident [$op_name:literal $items_name:literal $key_name:literal]
        [$rows:ident $number:literal] [$op_type:ty] [$element:ty] [$($arrays:tt)*]
        {
            |$op:ident, $input:ident, $output:ident, $scratch:ident|
            $($kernel:ident [$needs:expr] = $body:expr;)*
        }
    ) => { $crate::pastey::paste! {
        $(
            $crate::compiled! {
                #[$crate::entry::parts::kernel]
                pub unsafe fn [<$kernel _ $suffix>](
                    input: &[$element],
                    $op: $op_type,
                    output: *mut $element,
                    output_len: usize,
                ) {
                    use $crate::entry::ladder_parts::*;
                    type T = $element;
                    type O = $op_type;
                    const {
                        assert!(<O as Op<T>>::COMMUTATIVE, "the ladder reorders: the operator must commute");
                    }
                    // SAFETY: the caller of the entry point guarantees its arguments and the contract of the
                    // generic body.
                    unsafe {
                        let $input = Global::<T>::from_slice(input);
                        let $output = Global::<T>::new(output, output_len);
                        #[allow(unused_variables, reason = "not every kernel needs scratch")]
                        let $scratch = Shared::<T>::dynamic();
                        $body
                    }
                }
            }

            $crate::note!([<$kernel _ $suffix>] in $module);
        )*

        #[cfg(not(target_arch = "nvptx64"))]
        const $rows: &[$crate::entry::Entry] = {
            use $crate::entry::{Entry, Parameter, ladder_parts::*};
            type T = $element;
            type O = $op_type;
            assert!(
                <O as Op<T>>::COMMUTATIVE,
                "the ladder changes the order of the elements: its operators must be commutative"
            );
            &[$(Entry {
                name: stringify!([<$kernel _ $suffix>]),
                module: stringify!($module),
                kernel: stringify!($kernel),
                op: $op_name,
                items: $items_name,
                read_bytes: [size_of::<T>(), 0, 0],
                acc_bytes: size_of::<T>(),
                needs: $needs,
                parameters: &[
                    Parameter::Input("input", size_of::<T>()),
                    Parameter::Value(size_of::<O>()),
                    Parameter::Output("output", size_of::<T>()),
                ],
                function: $crate::function!(|values| [<$kernel _ $suffix>](
                    values.slice::<T>(),
                    values.operator::<O>(),
                    values.take(),
                    values.take(),
                )),
                ..Entry::EMPTY
            }),*]
        };

        // SAFETY: the rows above are those of the entry points for these types.
        #[cfg(not(target_arch = "nvptx64"))]
        unsafe impl $crate::entry::$family<$element> for $op_type {
            const ENTRIES: &'static [$crate::entry::Entry] =
                $crate::entry::part(&ENTRIES, TABLES, $number);
        }
    }};
}
