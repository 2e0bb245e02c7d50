//! The family `segments`: [segmented reductions](crate::segments) of an operator over items. The entry points are
//! `segments_<operator>_<items>`, `segments_combine_<operator>_<items>` and `segments_by_part_<operator>_<items>`, and [`PARTITION`] for
//! all of them. The parameters are
//!
//! ```text
//! input: *const T, input_len: u64                                 one array; not of `segments_combine`
//! a: *const T, a_len: u64, b: *const U, b_len: u64                a pair
//!
//! op: O                                                           only if it has fields
//! shape: Shape, narrow: *const u32, narrow_len: u64, wide: *const u64, wide_len: u64
//! output: *mut Acc, output_len: u64, partials: *mut Acc, partials_len: u64
//! work: *mut u64, work_len: u64
//! counts: *mut u32, counts_len: u64                              not of `segments_by_part`
//! arrivals: *mut u64, arrivals_len: u64                           only of `segments_by_part`
//! ```

#[cfg(any(feature = "simulator", target_arch = "nvptx64"))]
use crate::{
    mem::Global,
    segments::{Offsets, Shape, Storage, Work},
};

/// The storage from an entry point's parameters.
///
/// # Safety
///
/// The parameters are as [`Storage`] requires.
#[cfg(any(feature = "simulator", target_arch = "nvptx64"))]
#[inline(always)]
#[allow(clippy::too_many_arguments, reason = "those of the entry point")]
pub unsafe fn storage_of<A: crate::element::Element>(
    shape: Shape,
    output: *mut A,
    output_len: usize,
    partials: *mut A,
    partials_len: usize,
    work: *mut u64,
    work_len: usize,
    counts: *mut u32,
    counts_len: usize,
) -> Storage<A> {
    // SAFETY: the caller's contract.
    unsafe {
        Storage {
            output: Global::new(output, output_len),
            partials: Global::new(partials, partials_len),
            work: Work::new(
                Global::new(work, work_len),
                Global::new(counts, counts_len),
                shape,
            ),
        }
    }
}

/// The offsets from an entry point's parameters.
///
/// # Safety
///
/// The parameters are as [`Offsets`] requires.
#[cfg(any(feature = "simulator", target_arch = "nvptx64"))]
#[inline(always)]
pub unsafe fn offsets_of(shape: Shape, narrow: &[u32], wide: &[u64]) -> Offsets {
    // SAFETY: the caller's contract.
    unsafe { Offsets::new(shape, Global::from_slice(narrow), Global::from_slice(wide)) }
}

/// The blocks that a multiprocessor holds at the same time, which limits the registers of a thread: to 64, or 72, 96 or 128
/// where that is too few.
#[cfg(any(feature = "simulator", target_arch = "nvptx64"))]
pub const fn most_blocks_of<A>(
    bytes: usize,
    vector: usize,
    is_commutative: bool,
    is_any_order: bool,
    selects: bool,
) -> u32 {
    match size_of::<A>() {
        _ if !is_commutative => 4,
        // Threads compare items, not accumulators.
        _ if selects && bytes == 4 => 8,
        _ if selects => 7,
        17.. => 4,
        9.. => 5,
        // 16 items, and an accumulator of two registers.
        5.. if vector > 8 => 4,
        _ if bytes > 8 || vector > 8 => 5,
        // Minima of floats test for NaN.
        ..=4 if bytes == 4 && is_any_order => 6,
        ..=4 if bytes == 4 => 8,
        _ => 7,
    }
}

/// The same for `segments_by_part`, whose warps have more loads in flight, and need more registers.
#[cfg(any(feature = "simulator", target_arch = "nvptx64"))]
pub const fn by_part_blocks_of<A>(
    bytes: usize,
    vector: usize,
    is_commutative: bool,
    selects: bool,
    suffix: &str,
) -> u32 {
    match most_blocks_of::<A>(bytes, vector, is_commutative, false, selects) {
        _ if selects => 4,
        // Of this kernel alone, ptxas would spill a register.
        8 if matches!(suffix.as_bytes(), b"max_f32") => 5,
        8 => 6,
        5.. => 5,
        blocks => blocks,
    }
}

/// The family `segments`; see [`kernels!`](crate::kernels).
#[doc(hidden)]
#[macro_export]
macro_rules! family_segments {
    (
        $suffix:ident $module:ident [$op_name:literal $items_name:literal $key_name:literal]
        [$rows:ident $number:literal] [$op:ty] [$items:ty] [$($array:ident: $element:ty),+]
    ) => { $crate::pastey::paste! {
        $crate::compiled! {
            #[$crate::entry::parts::kernel]
            pub unsafe fn [<segments_ $suffix>](
                $($array: &[$element],)+
                op: $op,
                shape: $crate::segments::Shape,
                narrow: &[u32],
                wide: &[u64],
                output: *mut <$op as $crate::entry::parts::Op<$items>>::Acc,
                output_len: usize,
                partials: *mut <$op as $crate::entry::parts::Op<$items>>::Acc,
                partials_len: usize,
                work: *mut u64,
                work_len: usize,
                counts: *mut u32,
                counts_len: usize,
            ) {
                use $crate::entry::segments_parts::*;
                // SAFETY: the caller of the entry point guarantees its arguments and the contract of the
                // generic body.
                unsafe {
                    window::<
                        $items,
                        $op,
                        { <$items as Items>::VECTOR },
                        { <$items as Items>::IN_FLIGHT },
                    >(
                        op,
                        ($(Global::from_slice($array)),+),
                        offsets_of(shape, narrow, wide),
                        storage_of(
                            shape, output, output_len, partials, partials_len, work, work_len, counts, counts_len,
                        ),
                    )
                }
            }

            #[$crate::entry::parts::kernel]
            pub unsafe fn [<segments_combine_ $suffix>](
                op: $op,
                shape: $crate::segments::Shape,
                narrow: &[u32],
                wide: &[u64],
                output: *mut <$op as $crate::entry::parts::Op<$items>>::Acc,
                output_len: usize,
                partials: *mut <$op as $crate::entry::parts::Op<$items>>::Acc,
                partials_len: usize,
                work: *mut u64,
                work_len: usize,
                counts: *mut u32,
                counts_len: usize,
            ) {
                use $crate::entry::segments_parts::*;
                // SAFETY: as above.
                unsafe {
                    combine::<$items, $op>(
                        op,
                        offsets_of(shape, narrow, wide),
                        storage_of(
                            shape, output, output_len, partials, partials_len, work, work_len, counts, counts_len,
                        ),
                    )
                }
            }

            #[$crate::entry::parts::kernel]
            pub unsafe fn [<segments_by_part_ $suffix>](
                $($array: &[$element],)+
                op: $op,
                shape: $crate::segments::Shape,
                narrow: &[u32],
                wide: &[u64],
                output: *mut <$op as $crate::entry::parts::Op<$items>>::Acc,
                output_len: usize,
                partials: *mut <$op as $crate::entry::parts::Op<$items>>::Acc,
                partials_len: usize,
                work: *mut u64,
                work_len: usize,
                arrivals: *mut u64,
                arrivals_len: usize,
            ) {
                use $crate::entry::segments_parts::*;
                // SAFETY: as above.
                unsafe {
                    by_part::<
                        $items,
                        $op,
                        { <$items as Items>::VECTOR },
                        { <$items as Items>::IN_FLIGHT },
                    >(
                        op,
                        ($(Global::from_slice($array)),+),
                        offsets_of(shape, narrow, wide),
                        Storage {
                            output: Global::new(output, output_len),
                            partials: Global::new(partials, partials_len),
                            arrivals: Global::new(arrivals, arrivals_len),
                            reports: Reports::new(Global::new(work, work_len)),
                        },
                    )
                }
            }
        }

        $crate::note!(
            [<segments_ $suffix>] in $module,
            $crate::segments::THREADS,
            $crate::entry::segments_parts::most_blocks_of::<<$op as $crate::entry::parts::Op<$items>>::Acc>(
                <$items as $crate::entry::parts::Items>::BYTES,
                <$items as $crate::entry::parts::Items>::VECTOR,
                <$op as $crate::entry::parts::Op<$items>>::COMMUTATIVE,
                <$op as $crate::entry::parts::Op<$items>>::ANY_ORDER,
                <$op as $crate::entry::parts::Op<$items>>::SELECTS
            )
        );
        $crate::note!(
            [<segments_by_part_ $suffix>] in $module,
            $crate::segments::THREADS,
            $crate::entry::segments_parts::by_part_blocks_of::<<$op as $crate::entry::parts::Op<$items>>::Acc>(
                <$items as $crate::entry::parts::Items>::BYTES,
                <$items as $crate::entry::parts::Items>::VECTOR,
                <$op as $crate::entry::parts::Op<$items>>::COMMUTATIVE,
                <$op as $crate::entry::parts::Op<$items>>::SELECTS,
                stringify!($suffix)
            )
        );
        $crate::note!(
            [<segments_combine_ $suffix>] in $module,
            $crate::segments::THREADS,
            match size_of::<<$op as $crate::entry::parts::Op<$items>>::Acc>() {
                ..=8 => 8,
                9..=16 => 6,
                17.. => 4,
            }
        );

        #[cfg(not(target_arch = "nvptx64"))]
        const $rows: &[$crate::entry::Entry] = {
            use $crate::entry::{Entry, Parameter, segments_parts::*};
            const SIZES: Sizes = sizes::<$items, $op>();
            const ACC_BYTES: usize = SIZES.acc_bytes;
            const WINDOW: Entry = Entry {
                name: stringify!([<segments_ $suffix>]),
                module: stringify!($module),
                kernel: "segments",
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
                    scratch: Scratch::Bytes(shared_bytes::<$items>() as u32),
                    result: ResultIn::Cells,
                    ..SIZES.needs
                },
                parameters: &[
                    $(Parameter::Input(stringify!($array), size_of::<$element>()),)+
                    Parameter::Value(size_of::<$op>()),
                    Parameter::Plain("shape", size_of::<Shape>()),
                    Parameter::Input("narrow", size_of::<u32>()),
                    Parameter::Input("wide", size_of::<u64>()),
                    Parameter::Output("output", ACC_BYTES),
                    Parameter::Output("partials", ACC_BYTES),
                    Parameter::Output("work", size_of::<u64>()),
                    Parameter::Output("counts", size_of::<u32>()),
                ],
                function: $crate::function!(|values| [<segments_ $suffix>](
                    $(values.slice::<$element>(),)+
                    values.operator::<$op>(),
                    values.take(),
                    values.slice::<u32>(),
                    values.slice::<u64>(),
                    values.take(),
                    values.take(),
                    values.take(),
                    values.take(),
                    values.take(),
                    values.take(),
                    values.take(),
                    values.take(),
                )),
                ..Entry::EMPTY
            };
            &[
                WINDOW,
                Entry {
                    name: stringify!([<segments_combine_ $suffix>]),
                    kernel: "segments_combine",
                    read_bytes: [0; 3],
                    needs: Needs {
                        result: ResultIn::Cells,
                        ..Needs::any_grid(Scratch::None, Load::Element)
                    },
                    parameters: &[
                        Parameter::Value(size_of::<$op>()),
                        Parameter::Plain("shape", size_of::<Shape>()),
                        Parameter::Input("narrow", size_of::<u32>()),
                        Parameter::Input("wide", size_of::<u64>()),
                        Parameter::Output("output", ACC_BYTES),
                        Parameter::Output("partials", ACC_BYTES),
                        Parameter::Output("work", size_of::<u64>()),
                        Parameter::Output("counts", size_of::<u32>()),
                    ],
                    function: $crate::function!(|values| [<segments_combine_ $suffix>](
                        values.operator::<$op>(),
                        values.take(),
                        values.slice::<u32>(),
                        values.slice::<u64>(),
                        values.take(),
                        values.take(),
                        values.take(),
                        values.take(),
                        values.take(),
                        values.take(),
                        values.take(),
                        values.take(),
                    )),
                    ..WINDOW
                },
                Entry {
                    name: stringify!([<segments_by_part_ $suffix>]),
                    kernel: "segments_by_part",
                    needs: Needs {
                        result: ResultIn::Cells,
                        ..Needs::any_grid(Scratch::Bytes(by_part::shared_bytes(ACC_BYTES) as u32), Load::Element)
                    },
                    parameters: &[
                        $(Parameter::Input(stringify!($array), size_of::<$element>()),)+
                        Parameter::Value(size_of::<$op>()),
                        Parameter::Plain("shape", size_of::<Shape>()),
                        Parameter::Input("narrow", size_of::<u32>()),
                        Parameter::Input("wide", size_of::<u64>()),
                        Parameter::Output("output", ACC_BYTES),
                        Parameter::Output("partials", ACC_BYTES),
                        Parameter::Output("work", size_of::<u64>()),
                        Parameter::Output("arrivals", size_of::<u64>()),
                    ],
                    function: $crate::function!(|values| [<segments_by_part_ $suffix>](
                        $(values.slice::<$element>(),)+
                        values.operator::<$op>(),
                        values.take(),
                        values.slice::<u32>(),
                        values.slice::<u64>(),
                        values.take(),
                        values.take(),
                        values.take(),
                        values.take(),
                        values.take(),
                        values.take(),
                        values.take(),
                        values.take(),
                    )),
                    ..WINDOW
                },
            ]
        };

        // SAFETY: the rows above are those of the entry points for these types.
        #[cfg(not(target_arch = "nvptx64"))]
        unsafe impl $crate::entry::Segments<$items> for $op
        where
            // Checked by `sizes`, with an error at the row; here there would be a second one.
            for<'checked> $items: $crate::entry::parts::Items,
        {
            const ENTRIES: &'static [$crate::entry::Entry] =
                $crate::entry::part(&ENTRIES, TABLES, $number);
        }
    }};
}

#[cfg(feature = "library")]
crate::compiled! {
    /// `partition` of all segmented reductions.
    ///
    /// # Safety
    ///
    /// The launch is as the kernel's generic body asks.
    #[::cuda_std::kernel]
    pub unsafe fn segments_partition(
        shape: crate::segments::Shape,
        narrow: &[u32],
        wide: &[u64],
        work: *mut u64,
        work_len: usize,
        counts: *mut u32,
        counts_len: usize,
    ) {
        // SAFETY: the caller of the entry point guarantees its arguments and the contract of the generic body.
        unsafe {
            let (work, counts) = (Global::new(work, work_len), Global::new(counts, counts_len));
            crate::segments::partition::partition(
                offsets_of(shape, narrow, wide),
                Work::new(work, counts, shape),
            )
        }
    }
}

#[cfg(feature = "library")]
crate::note!(segments_partition in segments, crate::segments::THREADS, 8);

/// The list of the kernel that all segmented reductions launch first.
#[cfg(all(feature = "library", not(target_arch = "nvptx64")))]
pub static PARTITION: super::Kernels = super::Kernels {
    name: "partition",
    entries: &PARTITION_ENTRIES,
};

#[cfg(all(feature = "library", not(target_arch = "nvptx64")))]
static PARTITION_ENTRIES: [super::Entry; 1] = {
    use super::{Entry, Parameter};
    use crate::needs::{Load, Needs, Scratch};
    const ROW: &[Entry] = &[Entry {
        name: "segments_partition",
        module: "segments",
        kernel: "segments_partition",
        needs: Needs::any_grid(Scratch::None, Load::Element),
        parameters: &[
            Parameter::Plain("shape", size_of::<crate::segments::Shape>()),
            Parameter::Input("narrow", size_of::<u32>()),
            Parameter::Input("wide", size_of::<u64>()),
            Parameter::Output("work", size_of::<u64>()),
            Parameter::Output("counts", size_of::<u32>()),
        ],
        function: crate::function!(|values| segments_partition(
            values.take(),
            values.slice::<u32>(),
            values.slice::<u64>(),
            values.take(),
            values.take(),
            values.take(),
            values.take(),
        )),
        ..Entry::EMPTY
    }];
    super::numbered(&[ROW], &PARTITION)
};
