//! The family `exact`: [`exact_sum`](crate::exact_sum::exact_sum) of an operator over items. The parameters are the
//! arrays, the cells of this launch and of the next one, their copy, and a counter:
//!
//! ```text
//! input: *const T, input_len: u64                                 one array
//! a: *const T, a_len: u64, b: *const T, b_len: u64                a pair
//!
//! cells: *mut u64, cells_len: u64, next: *mut u64, next_len: u64
//! copy: *mut u64, copy_len: u64, arrivals: *mut u32, arrivals_len: u64
//! ```

/// The family `exact`; see [`kernels!`](crate::kernels).
#[doc(hidden)]
#[macro_export]
macro_rules! family_exact {
    (
        $suffix:ident $module:ident [$op_name:literal $items_name:literal $key_name:literal]
        [$rows:ident $number:literal] [$op:ty] [$items:ty] [$($array:ident: $element:ty),+]
    ) => { $crate::pastey::paste! {
        $crate::compiled! {
            #[$crate::entry::parts::kernel]
            pub unsafe fn [<exact_ $suffix>](
                $($array: &[$element],)+
                cells: *mut u64,
                cells_len: usize,
                next: *mut u64,
                next_len: usize,
                copy: *mut u64,
                copy_len: usize,
                arrivals: *mut u32,
                arrivals_len: usize,
            ) {
                use $crate::entry::parts::*;
                // SAFETY: the caller of the entry point guarantees its arguments and the contract of the
                // generic body.
                unsafe {
                    exact_sum::<
                        $items,
                        $op,
                        { <$items as Items>::VECTOR },
                        { rows_of([$(stringify!($array)),+].len()) },
                    >(
                        ($(Global::from_slice($array)),+),
                        Shared::dynamic(),
                        Global::new(cells, cells_len),
                        Global::new(next, next_len),
                        Global::new(copy, copy_len),
                        Global::new(arrivals, arrivals_len),
                    )
                }
            }
        }

        // With 256 threads, three blocks leave 80 registers for each.
        $crate::note!([<exact_ $suffix>] in $module, 256, 3);

        #[cfg(not(target_arch = "nvptx64"))]
        const $rows: &[$crate::entry::Entry] = {
            use $crate::entry::{Entry, Parameter, parts::*};
            &[Entry {
                name: stringify!([<exact_ $suffix>]),
                module: stringify!($module),
                kernel: "exact",
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
                acc_bytes: Layout::<$items, $op>::CELLS as usize * size_of::<i32>(),
                needs: Needs {
                    result: ResultIn::Cells,
                    ..Needs::by_vectors(Scratch::PerWarp, <$items as Items>::VECTOR)
                },
                parameters: &[
                    $(Parameter::Input(stringify!($array), size_of::<$element>()),)+
                    Parameter::Output("cells", size_of::<u64>()),
                    Parameter::Output("next", size_of::<u64>()),
                    Parameter::Output("copy", size_of::<u64>()),
                    Parameter::Output("arrivals", size_of::<u32>()),
                ],
                function: $crate::function!(|values| [<exact_ $suffix>](
                    $(values.slice::<$element>(),)+
                    values.take(),
                    values.take(),
                    values.take(),
                    values.take(),
                    values.take(),
                    values.take(),
                    values.take(),
                    values.take(),
                )),
                lowest: Layout::<$items, $op>::LOWEST,
                ..Entry::EMPTY
            }]
        };
    }};
}
