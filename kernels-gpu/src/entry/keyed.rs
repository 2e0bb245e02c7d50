//! The families of reductions by key.
//!
//! An entry point is `<kernel>_<operator>_<element>_by_<key>`, such as `keyed_match_sum_f64_by_u32`. Its
//! parameters are
//! ```text
//! keys: *const u8, keys_bytes: u64, values: *const T, values_len: u64, op: O,
//! cells: *mut T, cells_len: u64, rejected: *mut u64, rejected_len: u64, key_bytes: u64, below: u64
//! ```
//!
//! The operator is a parameter only if it has fields.
//!
//! | family | kernels |
//! |---|---|
//! | `keyed` | one array of values, with each way to combine them |
//! | `keyed_all` | the same, and by compare-and-swap, and for two and three arrays of values |
//!
//! The entry points by `u32` accept keys of 8, 16 and 32 bits; `key_bytes` says which. Those by `u64` accept keys of
//! 64 bits. Signed keys are read as unsigned ones. Keys from `below` on have no cell.

/// The family `keyed`; see [`kernels!`](crate::kernels).
#[doc(hidden)]
#[macro_export]
macro_rules! family_keyed {
    ($($given:tt)*) => { $crate::keyed_and! { [$($given)*] |op, task| } };
}

/// The family `keyed_all`: `keyed`, by compare-and-swap, and for several arrays of values.
#[doc(hidden)]
#[macro_export]
macro_rules! family_keyed_all {
    ($($given:tt)*) => { $crate::keyed_and! { [$($given)*] |op, task|
        keyed_cas [1, 1] = keyed_atomic::<K, T, ByCas<O>>(ByCas(op), task);
        keyed_match_x2 [2, 1] = keyed_warp::<K, T, O, Match, 2>(op, task);
        keyed_match_x3 [3, 1] = keyed_warp::<K, T, O, Match, 3>(op, task);
        keyed_ballot_x3 [3, 1] = keyed_warp::<K, T, O, Ballot, 3>(op, task);
    } };
}

/// All kernels for one array of values, and the given ones.
#[doc(hidden)]
#[macro_export]
macro_rules! keyed_and {
    ([$($given:tt)*] |$op:ident, $task:ident| $($others:tt)*) => { $crate::keyed_entries! { $($given)* {
        |$op, $task|
        keyed_atomic [1, 1] = keyed_atomic::<K, T, O>($op, $task);
        keyed_ballot [1, 1] = keyed_warp::<K, T, O, Ballot, 1>($op, $task);
        keyed_match [1, 1] = keyed_warp::<K, T, O, Match, 1>($op, $task);
        keyed_bins [1, bins::PER_THREAD] = keyed_bins::<K, T, O>(
            $op,
            $task,
            Shared::new(shared_array![K; BINS]),
            Shared::new(shared_array![T; BINS]),
        );
        keyed_runs [1, runs::PER_THREAD] = keyed_runs::<K, T, O>($op, $task);
        $($others)*
    } } };
}

/// Makes entry points by key and their rows, for one operator, element and key. The brackets contain the number
/// of arrays of values and the elements per thread. Inside a row, `K`, `T` and `O` are the key, the element and
/// the operator.
#[doc(hidden)]
#[macro_export]
macro_rules! keyed_entries {
    (
        $suffix:ident $module:ident [$op_name:literal $items_name:literal $key_name:literal]
        [$rows:ident $number:literal] [$op_type:ty] [$element:ty] [$($arrays:tt)*] [$key:ty]
        { |$op:ident, $task:ident| $($kernel:ident [$arrays_of:expr, $per_thread:expr] = $body:expr;)* }
    ) => { $crate::pastey::paste! {
        $(
            $crate::compiled! {
                #[$crate::entry::parts::kernel]
                pub unsafe fn [<$kernel _ $suffix>](
                    keys: &[u8],
                    values: &[$element],
                    $op: $op_type,
                    cells: *mut $element,
                    cells_len: usize,
                    rejected: *mut u64,
                    rejected_len: usize,
                    key_bytes: u64,
                    below: u64,
                ) {
                    use $crate::entry::keyed_parts::*;
                    type K = $key;
                    type T = $element;
                    type O = $op_type;
                    // SAFETY: the caller of the entry point guarantees its arguments and the contract of the
                    // generic body.
                    unsafe {
                        let $task = Task::<K, T> {
                            keys: Keys::new(keys, key_bytes),
                            values: Global::from_slice(values),
                            cells: Global::new(cells, cells_len),
                            rejected: Rejected(Global::new(rejected, rejected_len)),
                            below: below as usize,
                        };
                        $body
                    }
                }
            }

            $crate::note!([<$kernel _ $suffix>] in $module);
        )*

        #[cfg(not(target_arch = "nvptx64"))]
        const $rows: &[$crate::entry::Entry] = {
            use $crate::entry::{Entry, Parameter, keyed_parts::*};
            type K = $key;
            type T = $element;
            type O = $op_type;
            &[$(Entry {
                name: stringify!([<$kernel _ $suffix>]),
                module: stringify!($module),
                kernel: stringify!($kernel),
                op: $op_name,
                items: $items_name,
                key: $key_name,
                read_bytes: [size_of::<K>(), size_of::<T>(), 0],
                acc_bytes: size_of::<T>(),
                arrays: $arrays_of,
                needs: Needs::keyed($per_thread as u32),
                parameters: &[
                    Parameter::Input("keys", size_of::<u8>()),
                    Parameter::Input("values", size_of::<T>()),
                    Parameter::Value(size_of::<O>()),
                    Parameter::Output("cells", size_of::<T>()),
                    Parameter::Output("rejected", size_of::<u64>()),
                    Parameter::Number("key_bytes"),
                    Parameter::Number("below"),
                ],
                function: $crate::function!(|values| [<$kernel _ $suffix>](
                    values.slice::<u8>(),
                    values.slice::<T>(),
                    values.operator::<O>(),
                    values.take(),
                    values.take(),
                    values.take(),
                    values.take(),
                    values.take(),
                    values.take(),
                )),
                ..Entry::EMPTY
            }),*]
        };

        // SAFETY: the rows above are those of the entry points for these types.
        #[cfg(not(target_arch = "nvptx64"))]
        unsafe impl $crate::entry::Keyed<$key, $element> for $op_type {
            const ENTRIES: &'static [$crate::entry::Entry] =
                $crate::entry::part(&ENTRIES, TABLES, $number);
        }
    }};
}
