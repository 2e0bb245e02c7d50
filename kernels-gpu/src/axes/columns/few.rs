//! Columns of two, three or four items.

use super::share::absorb_each;
use crate::axes::{DIM_BYTES, Shape, THREADS, VECTORS_OF_FEW};
use crate::items::Items;
use crate::mem::{Global, Shared, compiler_barrier};
use crate::op::{Op, unrolled};
use crate::store::{set_adjacent, set_of_warp};
use crate::tile::{LANES, Lane, zero};
use cuda_std::thread::{block_idx_x, grid_dim_x, thread_idx_x};

/// The number of vectors that a thread takes at a time: the items of one are too few in flight.
const V: usize = VECTORS_OF_FEW;

/// The distance of these vectors: those of a block are adjacent.
const APART: usize = THREADS as usize;

/// Reduces the columns in vectors of `W`, if they have `C` items, at one stride.
///
/// # Safety
///
/// As for [`columns`](super::columns).
#[inline(always)]
pub(super) unsafe fn few<I: Items, O: Op<I>, const N: usize, const W: usize, const C: usize>(
    op: O,
    arrays: I::Arrays,
    shape: Shape,
    output: Global<O::Acc>,
) {
    // SAFETY: the caller's contract.
    let (kept, _) = unsafe { shape.dims_of_kept() };
    let load = |vector: usize| {
        let first = (shape.first as usize).wrapping_add(kept.offset(vector));
        let mut items = [[zero::<I>(); W]; C];
        unrolled!(|i < C| {
            let offset = (shape.reduced_stride as usize).wrapping_mul(i);
            items[i] = I::vector(arrays, first.wrapping_add(offset));
        });
        items
    };
    let combined = |items: [[I; W]; C]| {
        if O::SELECTS {
            return selected(&op, items);
        }
        let mut lanes = [Lane::<I, O, N>::new(op); W];
        unrolled!(|i < C| absorb_each::<I, O, N, W, false>(&mut lanes, i, items[i], i as u64));
        let mut values = [op.identity(); W];
        unrolled!(|w < W| values[w] = lanes[w].combined());
        values
    };
    // SAFETY: a block has memory for `W` results of each thread behind the dimensions.
    let staged: Shared<O::Acc> = unsafe { Shared::dynamic_at(DIM_BYTES) };
    let (vectors, lane) = (shape.vectors as usize, thread_idx_x() as usize % LANES);
    // The warp's first vector.
    let mut first = block_idx_x() as usize * V * APART + thread_idx_x() as usize - lane;
    while first < vectors {
        if first + (V - 1) * APART + LANES <= vectors {
            let mut items = [[[zero::<I>(); W]; C]; V];
            unrolled!(|v < V| items[v] = load(first + lane + v * APART));
            compiler_barrier();
            unrolled!(|v < V| {
                let first = (first + v * APART) * W;
                // SAFETY: all lanes of the warp arrive here, with the same numbers.
                unsafe { set_of_warp(output, staged, first, combined(items[v])) };
            });
        } else {
            let (mut vector, end) = (first + lane, first + V * APART);
            while vector < vectors && vector < end {
                set_adjacent(output, vector * W, combined(load(vector)), W);
                vector += APART;
            }
        }
        first += grid_dim_x() as usize * V * APART;
    }
}

/// Of each column, the first item that no other precedes.
#[inline(always)]
fn selected<I: Items, O: Op<I>, const W: usize, const C: usize>(
    op: &O,
    items: [[I; W]; C],
) -> [O::Acc; W] {
    let mut values = [op.identity(); W];
    unrolled!(|w < W| {
        let (mut best, mut at) = (items[0][w], 0);
        unrolled!(|i < C| if op.precedes(items[i][w], best) {
            (best, at) = (items[i][w], i);
        });
        values[w] = op.lift(best, at as u64);
    });
    values
}
