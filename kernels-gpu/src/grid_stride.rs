//! Grid-stride loop: each thread of the grid reads its share of the input, in steps of the grid's width.
//!
//! ```text
//! input   h h | v v v v | v v v v | v v v v | t         N = 4, the start two items before
//! thread  0 1   0         1         2         2         a multiple of 16 bytes
//! ```
//!
//! The vectors of `N` elements are assigned to the threads of the grid in turn. So adjacent lanes load adjacent
//! addresses, and a thread's next vector is a grid's width further on. The elements before the first and after the
//! last vector, fewer than `2 * N`, are loaded one each by the first threads of the grid. If no element is aligned for
//! a vector, each element is loaded separately.
//!
//! All loads of a step are in flight before the first value is used, also in the last, incomplete step; one
//! after another, each would take the latency of a whole step. A compiler barrier enforces this order: if an
//! operator tests a value (is it a NaN?), LLVM would move loads into the branches and split vectors.
//!
//! Any grid of at least `2 * N` threads is right for any input. One warp suffices for any `N` up to 16.
//!
//! Source: the post "Faster Parallel Reductions on Kepler" (Justin Luitjens, NVIDIA, 2014).

use crate::element::Element;
use crate::mem::{Global, compiler_barrier, opaque};
use crate::op::Op;
use cuda_std::thread::{block_dim_x, block_idx_x, grid_dim_x, thread_idx_x};

/// The elements that a thread has in flight, if each is loaded separately.
const ELEMENTS_IN_FLIGHT: usize = 4;

/// Combines the thread's share of the input: vectors of `N` elements, `K` of them in flight.
#[inline(always)]
pub fn grid_stride<T: Element, O: Op<T>, const N: usize, const K: usize>(
    op: O,
    input: Global<T>,
) -> O::Acc {
    let (thread, stride) = thread_and_stride();
    let Some((head, vectors)) = input.vectors_at::<N>() else {
        let elements = Steps {
            has: |i| i < input.len(),
            load: |i| [input.get(i)],
            first: |i| i as u64,
        };
        return elements.reduce::<T, O, 1, ELEMENTS_IN_FLIGHT>(op, thread, stride);
    };
    let steps = Steps {
        has: |v| vectors.has(v),
        load: |v| vectors.get(v),
        first: |v| (head + v * N) as u64,
    };
    let mut value = steps.reduce::<T, O, N, K>(op, thread, stride);
    if N > 1 && !input.is_all_vectors::<N>() {
        // The thread's element before the first or after the last vector.
        let behind = vectors.len() * N;
        let i = if thread < head {
            thread
        } else {
            thread + behind
        };
        if i < input.len() {
            value = op.absorb(value, [[input.get(i)]], [i as u64]);
        }
    }
    value
}

/// The loads of a thread, by number: whether there is such a load, its elements, and the index of its first element.
struct Steps<H, L, F> {
    has: H,
    load: L,
    first: F,
}

impl<H: Fn(usize) -> bool, L, F: Fn(usize) -> u64> Steps<H, L, F> {
    /// Combines the thread's whole share: `K` loads in each step, fewer in the last.
    #[inline(always)]
    fn reduce<T, O, const N: usize, const K: usize>(
        &self,
        op: O,
        thread: usize,
        stride: usize,
    ) -> O::Acc
    where
        T: Element,
        O: Op<T>,
        L: Fn(usize) -> [T; N],
    {
        const {
            assert!(
                K == 1 || K == 2 || K == 4,
                "the last step has a case for three, two and one"
            )
        };
        let mut value = op.identity();
        let mut v = thread;
        while (self.has)(v + (K - 1) * stride) {
            value = self.step::<T, O, N, K>(op, value, v, stride);
            v = opaque(v + K * stride);
        }
        if K > 2 && (self.has)(v + 2 * stride) {
            value = self.step::<T, O, N, 3>(op, value, v, stride);
        } else if K > 2 && (self.has)(v + stride) {
            value = self.step::<T, O, N, 2>(op, value, v, stride);
        } else if K > 1 && (self.has)(v) {
            value = self.step::<T, O, N, 1>(op, value, v, stride);
        }
        value
    }

    /// Combines `value` with `K` loads, from number `v` on and a stride apart. All of them are in flight before
    /// the first is used.
    #[inline(always)]
    fn step<T, O, const N: usize, const K: usize>(
        &self,
        op: O,
        value: O::Acc,
        v: usize,
        stride: usize,
    ) -> O::Acc
    where
        T: Element,
        O: Op<T>,
        L: Fn(usize) -> [T; N],
    {
        let mut loaded = [(self.load)(v); K];
        let mut first = [(self.first)(v); K];
        for k in 1..K {
            loaded[k] = (self.load)(v + k * stride);
            first[k] = (self.first)(v + k * stride);
        }
        compiler_barrier();
        op.absorb(value, loaded, first)
    }
}

/// The number of the thread in its grid, and the number of threads.
#[inline(always)]
fn thread_and_stride() -> (usize, usize) {
    let threads = block_dim_x() as usize;
    let thread = block_idx_x() as usize * threads + thread_idx_x() as usize;
    (thread, grid_dim_x() as usize * threads)
}
