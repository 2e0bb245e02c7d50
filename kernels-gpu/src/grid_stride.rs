//! How a grid reads an array: each thread its share, in steps as long as the grid is wide.
//!
//! ```text
//! input   h h | v v v v | v v v v | v v v v | t         N = 4, the start two elements before
//! thread  0 1   0         1         2         2         a multiple of 16 bytes
//! ```
//!
//! Vectors of `N` elements are dealt out to the threads of the grid in turn, so that neighbouring
//! lanes read neighbouring addresses, and each thread comes back a grid's width further on. The
//! elements around them, fewer than `2 * N`, are left: one for each of the grid's first threads.
//!
//! All loads of a step are begun before the first value is used, also those of the last step, which is
//! short for most arrays: one after the other they would take as long as a step each. The compiler is held
//! to it: where an operator asks before it looks (is this a NaN?), LLVM would move loads into the
//! branches, and a vector would come in pieces.
//!
//! Any grid is right for any array, if it has at least `2 * N` threads: a warp has, for any `N` up to
//! 16.

use crate::element::Element;
use crate::mem::{Global, Vectors, hold_accesses, opaque};
use crate::op::Op;
use core::marker::PhantomData;
use cuda_std::thread::{block_dim_x, block_idx_x, grid_dim_x, thread_idx_x};

/// Loads under way at once, per thread.
const IN_FLIGHT: usize = 4;

const _: () = assert!(
    IN_FLIGHT == 4,
    "a last step has a case for three, for two and for one"
);

/// The same where two arrays are read side by side: as many loads in all.
const PAIRS_IN_FLIGHT: usize = IN_FLIGHT / 2;

/// What a thread does with the elements that it loads.
pub trait Absorb<T>: Copy {
    /// What it makes of them.
    type Acc;

    /// `acc` and all of `rows` as one. Row `k` holds the elements of the array from `first[k]` on.
    fn absorb<const N: usize, const K: usize>(
        self,
        acc: Self::Acc,
        rows: [[T; N]; K],
        first: [usize; K],
    ) -> Self::Acc;
}

/// Combines them by an operator.
#[derive(Clone, Copy, Debug)]
struct By<O>(PhantomData<O>);

impl<T: Element, O: Op<T>> Absorb<T> for By<O> {
    type Acc = O::Acc;

    #[inline(always)]
    fn absorb<const N: usize, const K: usize>(
        self,
        acc: O::Acc,
        rows: [[T; N]; K],
        first: [usize; K],
    ) -> O::Acc {
        O::absorb(acc, rows, first)
    }
}

/// The thread's share of `input` as one, by an operator.
#[inline(always)]
pub fn grid_stride<T: Element, O: Op<T>, const N: usize>(input: Global<T>) -> O::Acc {
    grid_stride_by::<T, _, N>(input, O::IDENTITY, By::<O>(PhantomData))
}

/// The thread's share of `input` as one, by whatever absorbs it.
#[inline(always)]
pub fn grid_stride_by<T: Element, B: Absorb<T>, const N: usize>(
    input: Global<T>,
    identity: B::Acc,
    by: B,
) -> B::Acc {
    let (thread, stride) = thread_and_stride();
    let (head, vectors) = input.vectors_at::<N>();

    let mut value = identity;
    let mut v = thread;
    while vectors.has(v + (IN_FLIGHT - 1) * stride) {
        value = step::<T, B, N, IN_FLIGHT>(vectors, head, v, stride, value, by);
        v = opaque(v + IN_FLIGHT * stride);
    }
    if vectors.has(v + 2 * stride) {
        value = step::<T, B, N, 3>(vectors, head, v, stride, value, by);
    } else if vectors.has(v + stride) {
        value = step::<T, B, N, 2>(vectors, head, v, stride, value, by);
    } else if vectors.has(v) {
        value = step::<T, B, N, 1>(vectors, head, v, stride, value, by);
    }

    if N > 1 && !input.is_all_vectors::<N>() {
        let i = around(thread, head, vectors);
        if i < input.len() {
            value = by.absorb(value, [[input.get(i)]], [i]);
        }
    }
    value
}

/// What there is so far and `K` vectors as one, a stride apart from vector `v` on. All of them are under way
/// before the first is used.
#[inline(always)]
fn step<T: Element, B: Absorb<T>, const N: usize, const K: usize>(
    vectors: Vectors<T, N>,
    head: usize,
    v: usize,
    stride: usize,
    value: B::Acc,
    by: B,
) -> B::Acc {
    let mut loaded = [vectors.get(v); K];
    let mut first = [head + v * N; K];
    for k in 1..K {
        loaded[k] = vectors.get(v + k * stride);
        first[k] = head + (v + k * stride) * N;
    }
    hold_accesses();
    by.absorb(value, loaded, first)
}

/// The thread's share of `a` and `b`, which are as long as one another, element by element: `pair`
/// combines what there is so far with an element of each.
///
/// Both come as vectors where they lie alike: where their first whole vectors begin at the same
/// element. Otherwise each element is a load.
#[inline(always)]
#[expect(
    clippy::needless_range_loop,
    reason = "iterators over the arrays make LLVM keep them in local memory"
)]
pub fn grid_stride_pairs<T: Element, A: Copy, const N: usize>(
    a: Global<T>,
    b: Global<T>,
    identity: A,
    pair: impl Fn(A, T, T) -> A,
) -> A {
    let (thread, stride) = thread_and_stride();
    let (head, vectors) = a.vectors_at::<N>();
    let (head_of_b, vectors_of_b) = b.vectors_at::<N>();

    let mut value = identity;
    if N == 1 || head != head_of_b {
        let mut i = thread;
        while i + (PAIRS_IN_FLIGHT - 1) * stride < a.len() {
            let mut loaded = [(a.get(i), b.get(i)); PAIRS_IN_FLIGHT];
            for k in 1..PAIRS_IN_FLIGHT {
                loaded[k] = (a.get(i + k * stride), b.get(i + k * stride));
            }
            for k in 0..PAIRS_IN_FLIGHT {
                value = pair(value, loaded[k].0, loaded[k].1);
            }
            i += PAIRS_IN_FLIGHT * stride;
        }
        while i < a.len() {
            value = pair(value, a.get(i), b.get(i));
            i += stride;
        }
        return value;
    }

    let mut v = thread;
    while v + (PAIRS_IN_FLIGHT - 1) * stride < vectors.len() {
        let mut loaded = [(vectors.get(v), vectors_of_b.get(v)); PAIRS_IN_FLIGHT];
        for k in 1..PAIRS_IN_FLIGHT {
            loaded[k] = (
                vectors.get(v + k * stride),
                vectors_of_b.get(v + k * stride),
            );
        }
        hold_accesses();
        for k in 0..PAIRS_IN_FLIGHT {
            for e in 0..N {
                value = pair(value, loaded[k].0[e], loaded[k].1[e]);
            }
        }
        v += PAIRS_IN_FLIGHT * stride;
    }
    while v < vectors.len() {
        let (of_a, of_b) = (vectors.get(v), vectors_of_b.get(v));
        for e in 0..N {
            value = pair(value, of_a[e], of_b[e]);
        }
        v += stride;
    }
    let i = around(thread, head, vectors);
    if i < a.len() {
        value = pair(value, a.get(i), b.get(i));
    }
    value
}

/// The element around the vectors that is the thread's, if the array has it: before the vectors, or behind.
#[inline(always)]
fn around<T: Element, const N: usize>(thread: usize, head: usize, vectors: Vectors<T, N>) -> usize {
    if thread < head {
        thread
    } else {
        thread + vectors.len() * N
    }
}

/// The number of the thread in its grid, and how many there are.
#[inline(always)]
fn thread_and_stride() -> (usize, usize) {
    let threads = block_dim_x() as usize;
    let thread = block_idx_x() as usize * threads + thread_idx_x() as usize;
    (thread, grid_dim_x() as usize * threads)
}
