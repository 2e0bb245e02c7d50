//! Reduction by key.
//!
//! An entry is named `<kernel>_<operator>_<element>_by_<key>`, `keyed_match_sum_f64_by_u32`, and
//! has the parameters
//!
//! ```text
//! keys: *const K, keys_len: u64, values: *const T, values_len: u64,
//! cells: *mut T, cells_len: u64, rejected: *mut u64, rejected_len: u64
//! ```

use crate::device::shared_array;
use crate::keyed::Task;
use crate::keyed::atomic::keyed_atomic;
use crate::keyed::bins::{self, BINS, keyed_bins};
use crate::keyed::peers::{Ballot, Match};
use crate::keyed::runs::{self, keyed_runs};
use crate::keyed::warp::keyed_warp;

use crate::mem::{Global, Shared};
use crate::op::{ByCas, Max, Min, Sum};
use cuda_std::kernel;

/// An entry point on the host, whatever its types: keys, values, cells and the count of rejected
/// elements, each by its address and its number of elements.
///
/// # Safety
///
/// All of them are aligned and as long as they say, of the entry's types; the rest is as the kernel's
/// generic body asks.
#[cfg(feature = "simulator")]
pub type Function =
    unsafe fn((*const (), usize), (*const (), usize), (*mut (), usize), (*mut u64, usize));

/// One entry point of the family.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The symbol in the module: `"keyed_match_sum_f64_by_u32"`.
    pub name: &'static str,
    /// The module of PTX that has it: `"keyed_f64"`.
    pub module: &'static str,
    /// The kernel: `"keyed_match"`.
    pub kernel: &'static str,
    /// The operator: `"sum"`.
    pub op: &'static str,
    /// The type of the values and of the cells: `"f64"`.
    pub element: &'static str,
    /// The type of the keys: `"u32"`.
    pub key: &'static str,
    /// How many arrays of values it takes.
    pub arrays: usize,
    /// Elements that a thread brings: a grid has at least one thread for so many.
    pub per_thread: usize,
    /// The very function that the module's entry was made from, for simulators.
    #[cfg(feature = "simulator")]
    pub function: Function,
}

/// Every row of kernels for every `operator element by key`, as entry points and as rows of a
/// table. In brackets stand the number of arrays of values and the elements that a thread brings
/// at a time. Inside a row, `K`, `T` and `O` are the key, the element and the operator.
macro_rules! keyed {
    ($table:ident: [$($op:ident $element:ident by $key:ident),* $(,)?] x $kernels:tt) => {
        $(keyed!(@functions $op $element $key $kernels);)*

        const $table: &[&[Entry]] = &[$(keyed!(@rows $op $element $key $kernels)),*];
    };

    (@functions $op:ident $element:ident $key:ident {
        |$task:ident|
        $($kernel:ident [$arrays:expr, $per_thread:expr] = $body:expr;)*
    }) => { pastey::paste! {
        $(
            #[doc = concat!("The entry `", stringify!($kernel), "` of `", stringify!($element), "` by [`", stringify!($op), "`] and by keys of `", stringify!($key), "`.")]
            ///
            /// # Safety
            ///
            /// The launch is as the kernel's generic body asks.
            #[cfg(any(feature = "simulator", target_arch = "nvptx64"))]
            #[kernel(module = [<keyed_ $element>])]
            pub unsafe fn [<$kernel _ $op:lower _ $element _by_ $key>](
                keys: &[$key],
                values: &[$element],
                cells: *mut $element,
                cells_len: usize,
                rejected: *mut u64,
                rejected_len: usize,
            ) {
                type K = $key;
                type T = $element;
                type O = $op;
                // SAFETY: whoever launches the entry vouches for its arguments and for what the
                // body, documented where it stands, does with them.
                unsafe {
                    let $task = Task::<K, T> {
                        keys: Global::from_slice(keys),
                        values: Global::from_slice(values),
                        cells: Global::new(cells, cells_len),
                        rejected: Global::new(rejected, rejected_len),
                    };
                    $body
                }
            }
        )*
    }};

    (@rows $op:ident $element:ident $key:ident {
        |$task:ident|
        $($kernel:ident [$arrays:expr, $per_thread:expr] = $body:expr;)*
    }) => { pastey::paste! {
        &[$(Entry {
            name: stringify!([<$kernel _ $op:lower _ $element _by_ $key>]),
            module: stringify!([<keyed_ $element>]),
            kernel: stringify!($kernel),
            op: stringify!([<$op:lower>]),
            element: stringify!($element),
            key: stringify!($key),
            arrays: $arrays,
            per_thread: $per_thread,
            #[cfg(feature = "simulator")]
            function: |keys, values, cells, rejected| {
                // SAFETY: `Function`'s contract.
                unsafe {
                    [<$kernel _ $op:lower _ $element _by_ $key>](
                        core::slice::from_raw_parts(keys.0.cast::<$key>(), keys.1),
                        core::slice::from_raw_parts(values.0.cast::<$element>(), values.1),
                        cells.0.cast(),
                        cells.1,
                        rejected.0,
                        rejected.1,
                    )
                }
            },
        }),*]
    }};
}

/// All entry points of the family.
pub const ENTRIES: &[Entry] = flat!(KEYED, CAS, SEVERAL, SIGNED);

keyed!(KEYED: [
    Sum f32 by u32, Sum f64 by u32, Sum i32 by u32, Sum i64 by u32, Sum u64 by u32,
    Min f32 by u32, Min f64 by u32, Min i32 by u32, Min i64 by u32, Min u64 by u32,
    Max f32 by u32, Max f64 by u32, Max i32 by u32, Max i64 by u32, Max u64 by u32,
    Sum f32 by u64, Sum f64 by u64, Sum i32 by u64, Sum i64 by u64, Sum u64 by u64,
    Min f32 by u64, Min f64 by u64, Min i32 by u64, Min i64 by u64, Min u64 by u64,
    Max f32 by u64, Max f64 by u64, Max i32 by u64, Max i64 by u64, Max u64 by u64,
] x {
    |task|
    keyed_atomic [1, 1] = keyed_atomic::<K, T, O>(task);
    keyed_ballot [1, 1] = keyed_warp::<K, T, O, Ballot, 1>(task);
    keyed_match [1, 1] = keyed_warp::<K, T, O, Match, 1>(task);
    keyed_bins [1, bins::PER_THREAD] = keyed_bins::<K, T, O>(
        task,
        Shared::new(shared_array![K; BINS]),
        Shared::new(shared_array![T; BINS]),
    );
    keyed_runs [1, runs::PER_THREAD] = keyed_runs::<K, T, O>(task);
});

// What hardware without a better atomic does.
keyed!(CAS: [Sum f32 by u32, Sum f64 by u32, Sum f64 by u64] x {
    |task|
    keyed_cas [1, 1] = keyed_atomic::<K, T, ByCas<O>>(task);
});

// The peers found once for several arrays of values.
keyed!(SEVERAL: [Sum f32 by u32, Sum f64 by u32, Sum i32 by u32] x {
    |task|
    keyed_match_x2 [2, 1] = keyed_warp::<K, T, O, Match, 2>(task);
    keyed_match_x3 [3, 1] = keyed_warp::<K, T, O, Match, 3>(task);
    keyed_ballot_x3 [3, 1] = keyed_warp::<K, T, O, Ballot, 3>(task);
});

// Keys that can be negative.
keyed!(SIGNED: [Sum f64 by i32, Sum f64 by i64] x {
    |task|
    keyed_ballot [1, 1] = keyed_warp::<K, T, O, Ballot, 1>(task);
    keyed_match [1, 1] = keyed_warp::<K, T, O, Match, 1>(task);
    keyed_runs [1, runs::PER_THREAD] = keyed_runs::<K, T, O>(task);
});

#[cfg(test)]
mod tests {
    extern crate std;
    use super::{ENTRIES, Entry};
    use std::format;

    #[test]
    fn names_are_made_of_their_parts() {
        for Entry {
            name,
            kernel,
            op,
            element,
            key,
            ..
        } in ENTRIES
        {
            assert_eq!(*name, format!("{kernel}_{op}_{element}_by_{key}"));
        }
    }
}
