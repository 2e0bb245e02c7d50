//! Columns of two, three or four items.

use super::share::absorb_each;
use crate::axes::{DIM_BYTES, Shape, THREADS};
use crate::element::Element;
use crate::items::Items;
use crate::mem::{Global, Shared, compiler_barrier};
use crate::op::{Op, unrolled};
use crate::tile::{LANES, Lane, zero};
use crate::warp::FULL_MASK;
use cuda_std::thread::{block_idx_x, grid_dim_x, thread_idx_x};
use cuda_std::warp::sync_warp;

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
    let (vectors, threads) = (
        shape.vectors as usize,
        grid_dim_x() as usize * THREADS as usize,
    );
    let lane = thread_idx_x() as usize % LANES;
    // The warp's first vector.
    let mut first = block_idx_x() as usize * THREADS as usize + thread_idx_x() as usize - lane;
    while first < vectors {
        if first + (V - 1) * threads + LANES <= vectors {
            let mut items = [[[zero::<I>(); W]; C]; V];
            unrolled!(|v < V| items[v] = load(first + lane + v * threads));
            compiler_barrier();
            unrolled!(|v < V| {
                let first = first + v * threads;
                // SAFETY: all lanes of the warp arrive here, with the same numbers; the launch provides the memory.
                unsafe { set_of_warp(output, first * W, combined(items[v])) };
            });
            first += V * threads;
        } else {
            if first + lane < vectors {
                set(output, (first + lane) * W, combined(load(first + lane)), W);
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

/// Stores the results of a warp's columns, `W` adjacent ones for each lane, from `first` on. If those of a lane are longer than
/// a store, the lanes exchange them first, so that adjacent lanes store adjacent results.
///
/// # Safety
///
/// All lanes of the warp arrive here, with the same `first`; a block has memory for `W` results of each thread behind the
/// dimensions.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
unsafe fn set_of_warp<A: Element, const W: usize>(
    results: Global<A>,
    first: usize,
    values: [A; W],
) {
    let (tid, lane) = (thread_idx_x(), thread_idx_x() as usize % LANES);
    if W * size_of::<A>() <= 16 {
        return set(results, first + lane * W, values, W);
    }
    // SAFETY: the caller provides the memory; the words are before.
    let staged: Shared<A> = unsafe { Shared::dynamic_at(DIM_BYTES) };
    let of_warp = (tid - lane as u32) * W as u32;
    unrolled!(|w < W| staged.set(tid * W as u32 + w as u32, values[w]));
    // SAFETY: all lanes of the warp arrive here.
    unsafe { sync_warp(FULL_MASK) };
    unrolled!(|w < W| {
        let place = w * LANES + lane;
        results.set(first + place, staged.get(of_warp + place as u32));
    });
    // The lanes have read the values before they store the next ones.
    // SAFETY: as above.
    unsafe { sync_warp(FULL_MASK) };
}

/// Stores the results of `width` adjacent columns, `W` or fewer, from `first` on.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub(super) fn set<A: Element, const W: usize>(
    results: Global<A>,
    first: usize,
    values: [A; W],
    width: usize,
) {
    if W > 1 && width == W && results.skew::<W>() == Some(0) {
        results.set_vector(first, values);
        // LLVM would share stores with the other branch, single ones.
        compiler_barrier();
    } else {
        unrolled!(|w < W| if w < width {
            results.set(first + w, values[w]);
        });
    }
}
