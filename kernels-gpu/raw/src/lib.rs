//! The kernels on raw pointers: what their handles are measured against.
//!
//! Every kernel of `kernels-gpu` once more, expression for expression, except that memory is a
//! pointer where the original has a `Global` or a `Shared`. A law of `xtask` compares the
//! instructions of the two, for sums of a few elements and, by key, for keys of `u32`: a handle must
//! not cost a single access to memory. Nobody launches these.
//!
//! | module | holds |
//! |---|---|
//! | `sum` | the elements and what a warp does with them |
//! | `queue` | `reduce_naive`, `reduce_shared_memory`: atomics |
//! | `tree` | `reduce_0` to `reduce_3`: a tree in shared memory |
//! | `shuffle` | `reduce_4`, `reduce_5`: the last warp by shuffles |
//! | `kepler` | `stable`, `warp_atomic`, `block_atomic` |
//! | `single_pass` | `single_pass` |
//! | `vector` | neighbours that travel together |
//! | `triple` | `triple_interleaved`, `triple_in_turn` |
//! | `keyed` | reduction by key, for keys of `u32` |
//! | `copy` | the copies |
//! | `ceiling` | `read_ceiling` |
//!
//! The crate takes nothing from `kernels-gpu`, not even operators, so that nothing of what is
//! measured stands on both sides. The entries have the names of the originals.

#![no_std]

mod ceiling;
mod copy;
mod kepler;
mod keyed;
mod queue;
mod shuffle;
mod single_pass;
mod sum;
mod tree;
mod triple;
mod vector;

use cuda_std::shared::dynamic_shared_mem;
use cuda_std::{kernel, launch_bounds, shared_array};
use keyed::{Ballot, Match};

/// Entry points of reductions, with the parameters of the originals. Inside a row, `T` is the
/// element.
macro_rules! entries {
    ([$($element:ident),*] x $kernels:tt) => {
        $(entries!(@functions $element $kernels);)*
    };

    (@functions $element:ident {
        |$input:ident, $len:ident, $output:ident, $scratch:ident|
        $($kernel:ident = $body:expr;)*
    }) => { pastey::paste! {
        $(
            #[doc = concat!("`", stringify!($kernel), "` of `", stringify!($element), "` by its sum.")]
            ///
            /// # Safety
            ///
            /// The launch is as the original's body asks.
            #[kernel]
            pub unsafe fn [<$kernel _sum_ $element>](
                input: &[$element],
                $output: *mut $element,
                _output_len: usize,
            ) {
                type T = $element;
                let ($input, $len) = (input.as_ptr(), input.len());
                #[allow(unused_variables, reason = "not every kernel needs scratch")]
                let $scratch = dynamic_shared_mem::<T>();
                // SAFETY: whoever launches the entry vouches for its arguments and for what the
                // body does with them.
                unsafe { $body }
            }
        )*
    }};
}

entries!([i32, f32, f64] x {
    |input, len, output, scratch|
    reduce_naive = queue::reduce_naive::<T>(input, len, output);
    reduce_shared_memory = queue::reduce_shared_memory::<T>(input, len, output, scratch);
    reduce_0 = tree::reduce_0::<T>(input, len, output, scratch);
    reduce_0_modulo = tree::reduce_0_modulo::<T>(input, len, output, scratch);
    reduce_1 = tree::reduce_1::<T>(input, len, output, scratch);
    reduce_2 = tree::reduce_2::<T>(input, len, output, scratch);
    reduce_3 = tree::reduce_3::<T>(input, len, output, scratch);
    reduce_4 = shuffle::reduce_4::<T>(input, len, output, scratch);
    reduce_5 = shuffle::reduce_5::<T>(input, len, output, scratch);
    reduce_5_x1 = shuffle::reduce_5_unrolled::<T, 1>(input, len, output, scratch);
    reduce_5_x2 = shuffle::reduce_5_unrolled::<T, 2>(input, len, output, scratch);
    reduce_5_x4 = shuffle::reduce_5_unrolled::<T, 4>(input, len, output, scratch);
    reduce_5_x8 = shuffle::reduce_5_unrolled::<T, 8>(input, len, output, scratch);
    reduce_5_x16 = shuffle::reduce_5_unrolled::<T, 16>(input, len, output, scratch);
    stable = kepler::stable::<T, 1>(input, len, output, scratch);
    stable_vec2 = kepler::stable::<T, 2>(input, len, output, scratch);
    stable_vec4 = kepler::stable::<T, 4>(input, len, output, scratch);
    warp_atomic = kepler::warp_atomic::<T, 1>(input, len, output);
    warp_atomic_vec2 = kepler::warp_atomic::<T, 2>(input, len, output);
    warp_atomic_vec4 = kepler::warp_atomic::<T, 4>(input, len, output);
    block_atomic = kepler::block_atomic::<T, 1>(input, len, output, scratch);
    block_atomic_vec2 = kepler::block_atomic::<T, 2>(input, len, output, scratch);
    block_atomic_vec4 = kepler::block_atomic::<T, 4>(input, len, output, scratch);
    read_ceiling = ceiling::read_ceiling::<T, { 16 / size_of::<T>() }>(input, len, output, scratch);
});

entries!([i32] x {
    |input, len, output, scratch|
    reduce_4_redux = shuffle::reduce_4_redux::<T>(input, len, output, scratch);
});

entries!([i32, f32, f64] x {
    |input, len, output, scratch|
    triple_interleaved = triple::triple_interleaved::<T>(input, len, output);
    triple_in_turn = triple::triple_in_turn::<T>(input, len, output);
});

/// Entry points of single passes, with the parameters of the originals.
macro_rules! single_passes {
    ($($element:ident),*) => { pastey::paste! {
        $(
            #[doc = concat!("`single_pass` of `", stringify!($element), "` by its sum.")]
            ///
            /// # Safety
            ///
            /// The launch is as the original's body asks.
            #[kernel]
            #[launch_bounds(max_threads = 1024, min_blocks = 1)]
            pub unsafe fn [<single_pass_sum_ $element>](
                input: &[$element],
                partials: *mut u64,
                _partials_len: usize,
                arrivals: *mut u32,
                result: *mut $element,
            ) {
                let (input, len) = (input.as_ptr(), input.len());
                let scratch = dynamic_shared_mem::<$element>();
                // SAFETY: whoever launches the entry vouches for its arguments and for what the
                // body does with them.
                unsafe {
                    single_pass::single_pass::<$element, { 16 / size_of::<$element>() }>(
                        input, len, partials, arrivals, result, scratch,
                    )
                }
            }
        )*
    }};
}

single_passes!(i32, f32, f64);

/// Entry points that copy, with the parameters of the originals.
macro_rules! copies {
    ([$($element:ident $size:ident),*] x $kernels:tt) => {
        $(copies!(@functions $element $size $kernels);)*
    };

    (@functions $element:ident $size:ident { $($kernel:ident;)* }) => { pastey::paste! {
        $(
            #[doc = concat!("`", stringify!($kernel), "` of elements of the size of `", stringify!($element), "`.")]
            ///
            /// # Safety
            ///
            /// The launch is as the original's body asks.
            #[kernel]
            pub unsafe fn [<$kernel _ $size>](
                input: &[$element],
                output: *mut $element,
                _output_len: usize,
            ) {
                // SAFETY: whoever launches the entry vouches for its arguments and for what the
                // body does with them.
                unsafe { copy::$kernel(input.as_ptr(), input.len(), output) }
            }
        )*
    }};
}

copies!([u8 b8, u16 b16, u32 b32, u64 b64] x { copy_scalar; copy_vec2; copy_vec4; });

/// Entry points of reduction by key, with the parameters of the originals. Inside a row, `T` is
/// the element.
macro_rules! keyed {
    ([$($element:ident),*] x $kernels:tt) => {
        $(keyed!(@functions $element $kernels);)*
    };

    (@functions $element:ident { |$task:ident| $($kernel:ident = $body:expr;)* }) => { pastey::paste! {
        $(
            #[doc = concat!("`", stringify!($kernel), "` of `", stringify!($element), "` by its sum.")]
            ///
            /// # Safety
            ///
            /// The launch is as the original's body asks.
            #[kernel]
            pub unsafe fn [<$kernel _sum_ $element _by_u32>](
                keys: &[u32],
                values: &[$element],
                cells: *mut $element,
                cells_len: usize,
                rejected: *mut u64,
                _rejected_len: usize,
            ) {
                type T = $element;
                let $task = keyed::Task::<T> {
                    keys: keys.as_ptr(),
                    keys_len: keys.len(),
                    values: values.as_ptr(),
                    values_len: values.len(),
                    cells,
                    cells_len,
                    rejected,
                };
                // SAFETY: whoever launches the entry vouches for its arguments and for what the
                // body does with them.
                unsafe { $body }
            }
        )*
    }};
}

keyed!([i32, f32, f64] x {
    |task|
    keyed_atomic = keyed::keyed_atomic::<T>(task);
    keyed_ballot = keyed::keyed_warp::<T, Ballot, 1>(task);
    keyed_match = keyed::keyed_warp::<T, Match, 1>(task);
    keyed_bins = keyed::keyed_bins::<T>(
        task,
        shared_array![u32; keyed::BINS],
        shared_array![T; keyed::BINS],
    );
    keyed_runs = keyed::keyed_runs::<T>(task);
    keyed_match_x2 = keyed::keyed_warp::<T, Match, 2>(task);
    keyed_match_x3 = keyed::keyed_warp::<T, Match, 3>(task);
    keyed_ballot_x3 = keyed::keyed_warp::<T, Ballot, 3>(task);
    keyed_cas = keyed::keyed_cas::<T>(task);
});

/// The threads of the block, with the same promise to the compiler as the originals'.
///
/// # Safety
///
/// From 32 to 1024 threads a block.
#[inline(always)]
unsafe fn block_threads() -> u32 {
    let threads = cuda_std::thread::block_dim_x();
    // SAFETY: the caller's promise.
    unsafe { core::hint::assert_unchecked((32..=1024).contains(&threads)) };
    threads
}
