//! The family `axes`: [reductions along axes](crate::axes) of an operator over items. The entry points are
//! `axes_<operator>_<items>` and `axes_combine_<operator>_<items>`. The parameters are
//!
//! ```text
//! input: *const T, input_len: u64                                 one array; not of `axes_combine`
//! a: *const T, a_len: u64, b: *const U, b_len: u64                a pair
//!
//! op: O                                                           only if it has fields
//! shape: Shape
//! output: *mut Acc, output_len: u64, partials: *mut Acc, partials_len: u64
//! ```

/// The family `axes`; see [`kernels!`](crate::kernels).
#[doc(hidden)]
#[macro_export]
macro_rules! family_axes {
    (
        $suffix:ident $module:ident [$op_name:literal $items_name:literal $key_name:literal]
        [$rows:ident $number:literal] [$op:ty] [$items:ty] [$($array:ident: $element:ty),+]
    ) => { $crate::pastey::paste! {
        $crate::compiled! {
            #[$crate::entry::parts::kernel]
            pub unsafe fn [<axes_ $suffix>](
                $($array: &[$element],)+
                op: $op,
                shape: $crate::axes::Shape,
                output: *mut <$op as $crate::entry::parts::Op<$items>>::Acc,
                output_len: usize,
                partials: *mut <$op as $crate::entry::parts::Op<$items>>::Acc,
                partials_len: usize,
            ) {
                use $crate::entry::axes_parts::*;
                // SAFETY: the caller of the entry point guarantees its arguments and the contract of the
                // generic body.
                unsafe {
                    columns::<
                        $items,
                        $op,
                        { <$items as Items>::VECTOR },
                        { <$items as Items>::IN_FLIGHT },
                        { width_of::<$items, $op>() },
                    >(
                        op,
                        ($(Global::from_slice($array)),+),
                        shape,
                        Global::new(output, output_len),
                        Global::new(partials, partials_len),
                    )
                }
            }

            #[$crate::entry::parts::kernel]
            pub unsafe fn [<axes_combine_ $suffix>](
                op: $op,
                shape: $crate::axes::Shape,
                output: *mut <$op as $crate::entry::parts::Op<$items>>::Acc,
                output_len: usize,
                partials: *mut <$op as $crate::entry::parts::Op<$items>>::Acc,
                partials_len: usize,
            ) {
                use $crate::entry::axes_parts::*;
                // SAFETY: as above.
                unsafe {
                    combine::<$items, $op>(
                        op,
                        shape,
                        Global::new(output, output_len),
                        Global::new(partials, partials_len),
                    )
                }
            }
        }

        $crate::note!(
            [<axes_ $suffix>] in $module,
            $crate::axes::THREADS,
            $crate::axes::blocks_of::<$items, $op>()
        );
        $crate::note!([<axes_combine_ $suffix>] in $module, $crate::axes::THREADS, 2);

        #[cfg(not(target_arch = "nvptx64"))]
        const $rows: &[$crate::entry::Entry] = {
            use $crate::entry::{Entry, Parameter, axes_parts::*};
            const SIZES: Sizes = sizes::<$items, $op>();
            const ACC_BYTES: usize = SIZES.acc_bytes;
            const COLUMNS: Entry = Entry {
                name: stringify!([<axes_ $suffix>]),
                module: stringify!($module),
                kernel: "axes",
                op: $op_name,
                items: $items_name,
                read_bytes: {
                    let mut bytes = [0; 3];
                    let sizes: &[usize] = &[$(size_of::<$element>()),+];
                    let mut i = 0;
                    while i < sizes.len() {
                        bytes[i] = sizes[i];
                        i += 1;
                    }
                    bytes
                },
                acc_bytes: ACC_BYTES,
                needs: Needs {
                    per_thread: None,
                    scratch: Scratch::Bytes(shared_bytes::<$items, $op>()),
                    result: ResultIn::Cells,
                    ..SIZES.needs
                },
                parameters: &[
                    $(Parameter::Input(stringify!($array), size_of::<$element>()),)+
                    Parameter::Value(size_of::<$op>()),
                    Parameter::Plain("shape", size_of::<Shape>()),
                    Parameter::Output("output", ACC_BYTES),
                    Parameter::Output("partials", ACC_BYTES),
                ],
                function: $crate::function!(|values| [<axes_ $suffix>](
                    $(values.slice::<$element>(),)+
                    values.operator::<$op>(),
                    values.take(),
                    values.take(),
                    values.take(),
                    values.take(),
                    values.take(),
                )),
                ..Entry::EMPTY
            };
            &[
                COLUMNS,
                Entry {
                    name: stringify!([<axes_combine_ $suffix>]),
                    kernel: "axes_combine",
                    read_bytes: [0; 3],
                    needs: Needs {
                        result: ResultIn::Cells,
                        ..Needs::any_grid(Scratch::PerWarp, Load::Element)
                    },
                    parameters: &[
                        Parameter::Value(size_of::<$op>()),
                        Parameter::Plain("shape", size_of::<Shape>()),
                        Parameter::Output("output", ACC_BYTES),
                        Parameter::Output("partials", ACC_BYTES),
                    ],
                    function: $crate::function!(|values| [<axes_combine_ $suffix>](
                        values.operator::<$op>(),
                        values.take(),
                        values.take(),
                        values.take(),
                        values.take(),
                        values.take(),
                    )),
                    ..COLUMNS
                },
            ]
        };

        // SAFETY: the rows above are those of the entry points for these types.
        #[cfg(not(target_arch = "nvptx64"))]
        unsafe impl $crate::entry::Axes<$items> for $op
        where
            // Checked by `sizes`, with an error at the row; here there would be a second one.
            for<'checked> $items: $crate::entry::parts::Items,
        {
            const ENTRIES: &'static [$crate::entry::Entry] =
                $crate::entry::part(&ENTRIES, TABLES, $number);
        }
    }};
}
