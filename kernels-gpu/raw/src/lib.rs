//! The ladder on raw pointers: what its handles are measured against.
//!
//! Every kernel of `kernels-gpu` once more, word for word, except that memory is a pointer where
//! the original has a [`Global`](kernels_gpu::mem::Global) or a
//! [`Shared`](kernels_gpu::mem::Shared). A law of `xtask` compares the two instruction by
//! instruction, for one operator and an element of each kind: a handle must not cost a single
//! access to memory. Nobody launches these.
//!
//! | module | holds |
//! |---|---|
//! | `queue` | `reduce_naive`, `reduce_shared_memory`: atomics |
//! | `tree` | `reduce_0` to `reduce_3`: a tree in shared memory |
//! | `shuffle` | `reduce_4`, `reduce_5`: the last warp by shuffles |
//! | `ceiling` | `read_ceiling` |
//!
//! The entries are called `raw_<name of the original>`, since the originals come along with the
//! operators that both share.

#![no_std]

mod ceiling;
mod queue;
mod shuffle;
mod tree;

use cuda_std::kernel;
use cuda_std::shared::dynamic_shared_mem;
use kernels_gpu::op::Sum;

/// Entry points with the parameters of the originals. Inside a row, `T` and `O` are the element
/// and the operator.
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
            pub unsafe fn [<raw_ $kernel _sum_ $element>](
                input: &[$element],
                $output: *mut $element,
                _output_len: usize,
            ) {
                type T = $element;
                type O = Sum;
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
    reduce_naive = queue::reduce_naive::<T, O>(input, len, output);
    reduce_shared_memory = queue::reduce_shared_memory::<T, O>(input, len, output, scratch);
    reduce_0 = tree::reduce_0::<T, O>(input, len, output, scratch);
    reduce_0_modulo = tree::reduce_0_modulo::<T, O>(input, len, output, scratch);
    reduce_1 = tree::reduce_1::<T, O>(input, len, output, scratch);
    reduce_2 = tree::reduce_2::<T, O>(input, len, output, scratch);
    reduce_3 = tree::reduce_3::<T, O>(input, len, output, scratch);
    reduce_4 = shuffle::reduce_4::<T, O>(input, len, output, scratch);
    reduce_5 = shuffle::reduce_5::<T, O>(input, len, output, scratch);
    reduce_5_x1 = shuffle::reduce_5_unrolled::<T, O, 1>(input, len, output, scratch);
    reduce_5_x2 = shuffle::reduce_5_unrolled::<T, O, 2>(input, len, output, scratch);
    reduce_5_x4 = shuffle::reduce_5_unrolled::<T, O, 4>(input, len, output, scratch);
    reduce_5_x8 = shuffle::reduce_5_unrolled::<T, O, 8>(input, len, output, scratch);
    reduce_5_x16 = shuffle::reduce_5_unrolled::<T, O, 16>(input, len, output, scratch);
    read_ceiling = ceiling::read_ceiling::<T, O, { 16 / size_of::<T>() }>(input, len, output, scratch);
});

entries!([i32] x {
    |input, len, output, scratch|
    reduce_4_redux = shuffle::reduce_4_redux::<T, O>(input, len, output, scratch);
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
