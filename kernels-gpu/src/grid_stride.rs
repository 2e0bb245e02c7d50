//! How a grid reads its input: each thread its share, in steps as long as the grid is wide.
//!
//! ```text
//! input   h h | v v v v | v v v v | v v v v | t         N = 4, the start two items before
//! thread  0 1   0         1         2         2         a multiple of 16 bytes
//! ```
//!
//! Vectors of `N` items are dealt out to the threads of the grid in turn, so that neighbouring lanes read
//! neighbouring addresses, and each thread comes back a grid's width further on. The items around them,
//! fewer than `2 * N`, are left: one for each of the grid's first threads. Where the input has no vectors,
//! because several arrays lie differently, each item is loaded by itself.
//!
//! All loads of a step are in flight before the first value is used, also those of the last step, which is
//! short for most inputs: one after the other they would take as long as a step each. The compiler is held
//! to it: where an operator asks before it looks (is this a NaN?), LLVM would move loads into the
//! branches, and a vector would come in pieces.
//!
//! Any grid is right for any input, if it has at least `2 * N` threads: a warp has, for any `N` up to 16.

use crate::items::Items;
use crate::mem::{hold_accesses, opaque};
use crate::op::Op;
use cuda_std::thread::{block_dim_x, block_idx_x, grid_dim_x, thread_idx_x};

/// Items in flight at once, per thread, where each is loaded by itself.
const ITEMS_IN_FLIGHT: usize = 4;

/// The thread's share of the input as one: by vectors of `N` items, `K` of them in flight.
#[inline(always)]
pub fn grid_stride<I: Items, O: Op<I>, const N: usize, const K: usize>(
    op: O,
    arrays: I::Arrays,
) -> O::Acc {
    let (thread, stride) = thread_and_stride();
    let Some((head, vectors)) = I::vectors::<N>(arrays) else {
        let items = Steps {
            has: |i| i < I::len(arrays),
            load: |i| [I::get(arrays, i)],
            first: |i| i as u64,
        };
        return items.take::<I, O, 1, ITEMS_IN_FLIGHT>(op, thread, stride);
    };
    let steps = Steps {
        has: |v| I::has_vector(vectors, v),
        load: |v| I::get_vector(vectors, v),
        first: |v| (head + v * N) as u64,
    };
    let mut value = steps.take::<I, O, N, K>(op, thread, stride);
    if N > 1 && !I::is_all_vectors::<N>(arrays) {
        // The item around the vectors that is the thread's: before them, or behind.
        let behind = I::vectors_len(vectors) * N;
        let i = if thread < head {
            thread
        } else {
            thread + behind
        };
        if i < I::len(arrays) {
            value = op.absorb(value, [[I::get(arrays, i)]], [i as u64]);
        }
    }
    value
}

/// What a thread loads at once, by its number: whether it is there, its items, and the index of the first.
struct Steps<H, L, F> {
    has: H,
    load: L,
    first: F,
}

impl<H: Fn(usize) -> bool, L, F: Fn(usize) -> u64> Steps<H, L, F> {
    /// All that is the thread's, as one: `K` loads in each step, fewer in the last.
    #[inline(always)]
    fn take<I, O, const N: usize, const K: usize>(
        &self,
        op: O,
        thread: usize,
        stride: usize,
    ) -> O::Acc
    where
        I: Items,
        O: Op<I>,
        L: Fn(usize) -> [I; N],
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
            value = self.step::<I, O, N, K>(op, value, v, stride);
            v = opaque(v + K * stride);
        }
        if K > 2 && (self.has)(v + 2 * stride) {
            value = self.step::<I, O, N, 3>(op, value, v, stride);
        } else if K > 2 && (self.has)(v + stride) {
            value = self.step::<I, O, N, 2>(op, value, v, stride);
        } else if K > 1 && (self.has)(v) {
            value = self.step::<I, O, N, 1>(op, value, v, stride);
        }
        value
    }

    /// What there is so far and `K` loads as one, a stride apart from number `v` on. All of them are in
    /// flight before the first is used.
    #[inline(always)]
    fn step<I, O, const N: usize, const K: usize>(
        &self,
        op: O,
        value: O::Acc,
        v: usize,
        stride: usize,
    ) -> O::Acc
    where
        I: Items,
        O: Op<I>,
        L: Fn(usize) -> [I; N],
    {
        let mut loaded = [(self.load)(v); K];
        let mut first = [(self.first)(v); K];
        for k in 1..K {
            loaded[k] = (self.load)(v + k * stride);
            first[k] = (self.first)(v + k * stride);
        }
        hold_accesses();
        op.absorb(value, loaded, first)
    }
}

/// The number of the thread in its grid, and how many there are.
#[inline(always)]
fn thread_and_stride() -> (usize, usize) {
    let threads = block_dim_x() as usize;
    let thread = block_idx_x() as usize * threads + thread_idx_x() as usize;
    (thread, grid_dim_x() as usize * threads)
}
