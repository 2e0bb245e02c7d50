//! Columns of two, three or four items.

use super::share::absorb_each;
use crate::axes::{DIM_BYTES, Shape, THREADS};
use crate::items::Items;
use crate::mem::{Global, Shared, compiler_barrier};
use crate::op::{Op, unrolled};
use crate::store::{set_adjacent, set_of_warp};
use crate::tile::{LANES, Lane, zero};
use cuda_std::thread::{block_idx_x, grid_dim_x, thread_idx_x};

/// Reduces the columns in vectors of `W`, if they have `C` items, at one stride: each thread takes `V` vectors at a time,
/// because the items of one are too few in flight.
///
/// # Safety
///
/// As for [`columns`](super::columns).
#[inline(always)]
pub(super) unsafe fn few<
    I: Items,
    O: Op<I>,
    const N: usize,
    const W: usize,
    const C: usize,
    const V: usize,
>(
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
    let threads = grid_dim_x() as usize * THREADS as usize;
    // The warp's first vector.
    let mut first = block_idx_x() as usize * THREADS as usize + thread_idx_x() as usize - lane;
    while first < vectors {
        if first + (V - 1) * threads + LANES <= vectors {
            let mut items = [[[zero::<I>(); W]; C]; V];
            unrolled!(|v < V| items[v] = load(first + lane + v * threads));
            compiler_barrier();
            unrolled!(|v < V| {
                let first = (first + v * threads) * W;
                // SAFETY: all lanes of the warp arrive here, with the same numbers.
                unsafe { set_of_warp(output, staged, first, combined(items[v])) };
            });
            first += V * threads;
        } else {
            if first + lane < vectors {
                let values = combined(load(first + lane));
                set_adjacent(output, (first + lane) * W, values, W);
            }
            first += threads;
        }
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
