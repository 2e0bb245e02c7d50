//! The family `single_pass`: [`single_pass`](crate::single_pass) of an operator over items. The parameters are
//! the arrays, the operator, and the [`TempStorage`]:
//!
//! ```text
//! input: *const T, input_len: u64                                 one array
//! a: *const T, a_len: u64, b: *const U, b_len: u64                a pair
//!
//! op: O                                                           only if it has fields
//! partials: *mut u64, partials_len: u64, arrivals: *mut u32, arrivals_len: u64, result: *mut Acc
//! ```

#[cfg(any(feature = "simulator", target_arch = "nvptx64"))]
use crate::{
    element::Element,
    grid::TempStorage,
    mem::{Global, Partials, Shared},
    shared_array,
};
#[cfg(not(target_arch = "nvptx64"))]
use crate::{items::Items, mem::MOST_BYTES, needs::Needs, op::Op, tile::takes_several};

/// The number of blocks of [`most_threads`](crate::single_pass::most_threads) that a multiprocessor holds at the same time, so that it always has loads in flight. It
/// limits the registers of a thread:
///
/// | accumulator | registers |
/// |---|---|
/// | up to 8 bytes, vectors of 16 bytes of 16 items, which have fewer loads in flight | 40 |
/// | up to 16 bytes | 64 |
/// | up to 32 bytes | 96 |
/// | up to 64 bytes | 128 |
/// | longer | 255 |
#[cfg(any(feature = "simulator", target_arch = "nvptx64"))]
pub const fn blocks_of<A>(vector: usize, bytes: usize) -> u32 {
    match size_of::<A>() {
        0..=8 if vector == 16 && bytes == 16 => 3,
        0..=16 => 2,
        17..=32 => 5,
        33..=64 => 4,
        _ => 2,
    }
}

/// The sizes of items and accumulator for a row.
#[cfg(not(target_arch = "nvptx64"))]
pub struct Sizes {
    /// The bytes of an accumulator.
    pub acc_bytes: usize,
    /// What a launch needs, which depends on the items of a vector.
    pub needs: Needs,
}

/// The only part of a row that requires [`Items`] and [`Op`], so that a type without them is one error.
#[cfg(not(target_arch = "nvptx64"))]
pub const fn sizes<I: Items, O: Op<I>>() -> Sizes {
    let acc_bytes = size_of::<O::Acc>();
    assert!(
        acc_bytes <= MOST_BYTES,
        "an accumulator must have at most 128 bytes"
    );
    Sizes {
        acc_bytes,
        needs: match takes_several::<I, O>() {
            true => Needs::several_tiles(I::VECTOR),
            false => Needs::tiles(I::VECTOR),
        },
    }
}

/// The temporary storage from an entry point's parameters.
///
/// # Safety
///
/// The parameters are as [`TempStorage`] requires.
#[cfg(any(feature = "simulator", target_arch = "nvptx64"))]
#[inline(always)]
pub unsafe fn storage<A: Element>(
    partials: *mut u64,
    partials_len: usize,
    arrivals: *mut u32,
    arrivals_len: usize,
    result: *mut A,
) -> TempStorage<A> {
    // SAFETY: the caller's contract.
    unsafe {
        TempStorage {
            partials: Partials::new(partials, partials_len),
            arrivals: Global::new(arrivals, arrivals_len),
            result: Global::new(result, 1),
            scratch: Shared::dynamic(),
            arrival: Shared::new(shared_array![u32; 1]),
        }
    }
}

/// The family `single_pass`; see [`kernels!`](crate::kernels).
#[doc(hidden)]
#[macro_export]
macro_rules! family_single_pass {
    (
        $suffix:ident $module:ident [$op_name:literal $items_name:literal $key_name:literal]
        [$rows:ident $number:literal] [$op:ty] [$items:ty] [$($array:ident: $element:ty),+]
    ) => { $crate::pastey::paste! {
        $crate::compiled! {
            #[$crate::entry::parts::kernel]
            pub unsafe fn [<single_pass_ $suffix>](
                $($array: &[$element],)+
                op: $op,
                partials: *mut u64,
                partials_len: usize,
                arrivals: *mut u32,
                arrivals_len: usize,
                result: *mut <$op as $crate::entry::parts::Op<$items>>::Acc,
            ) {
                use $crate::entry::parts::*;
                // SAFETY: the caller of the entry point guarantees its arguments and the contract of the
                // generic body.
                unsafe {
                    single_pass::<
                        $items,
                        $op,
                        { <$items as Items>::VECTOR },
                        { <$items as Items>::IN_FLIGHT },
                    >(
                        op,
                        ($(Global::from_slice($array)),+),
                        storage(partials, partials_len, arrivals, arrivals_len, result),
                    )
                }
            }
        }

        $crate::note!(
            [<single_pass_ $suffix>] in $module,
            $crate::entry::parts::most_threads(size_of::<
                <$op as $crate::entry::parts::Op<$items>>::Acc,
            >()),
            $crate::entry::parts::blocks_of::<<$op as $crate::entry::parts::Op<$items>>::Acc>(
                <$items as $crate::entry::parts::Items>::VECTOR,
                <$items as $crate::entry::parts::Items>::VECTOR
                    * <$items as $crate::entry::parts::Items>::BYTES
            )
        );

        #[cfg(not(target_arch = "nvptx64"))]
        const $rows: &[$crate::entry::Entry] = {
            use $crate::entry::{Entry, Parameter, parts::*};
            const SIZES: Sizes = sizes::<$items, $op>();
            const ACC_BYTES: usize = SIZES.acc_bytes;
            &[Entry {
                name: stringify!([<single_pass_ $suffix>]),
                module: stringify!($module),
                kernel: "single_pass",
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
                needs: SIZES.needs,
                parameters: &[
                    $(Parameter::Input(stringify!($array), size_of::<$element>()),)+
                    Parameter::Value(size_of::<$op>()),
                    Parameter::Output("partials", 2 * ACC_BYTES.next_multiple_of(4)),
                    Parameter::Output("arrivals", size_of::<u32>()),
                    Parameter::Cell("result", ACC_BYTES),
                ],
                function: $crate::function!(|values| [<single_pass_ $suffix>](
                    $(values.slice::<$element>(),)+
                    values.operator::<$op>(),
                    values.take(),
                    values.take(),
                    values.take(),
                    values.take(),
                    values.take(),
                )),
                ..Entry::EMPTY
            }]
        };

        // SAFETY: the row above is that of the entry point for these types.
        #[cfg(not(target_arch = "nvptx64"))]
        unsafe impl $crate::entry::SinglePass<$items> for $op
        where
            // Checked by `sizes`, with an error at the row; here there would be a second one.
            for<'checked> $items: $crate::entry::parts::Items,
        {
            const ENTRY: &'static $crate::entry::Entry = &ENTRIES[$crate::entry::start(TABLES, $number)];
        }
    }};
}
