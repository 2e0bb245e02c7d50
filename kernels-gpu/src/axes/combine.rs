//! Combines the partials of a column's tiles, as a binary tree of adjacent tiles.
//!
//! Partial `t` of column `c` is at `t * columns + c`. A *run* is up to [`RUN`] adjacent partials of a column, from a multiple of
//! that number on; a warp combines it and leaves the result in the place of the first. In the next round, a launch of its
//! own, the partials are as many times farther apart. The last round ends with the results.

use super::{Dim, Shape};
use crate::items::Items;
use crate::mem::Global;
use crate::op::Op;
use crate::warp::{WARP_SIZE, reduce_in_order};
use cuda_std::thread::{block_dim_x, block_idx_x, grid_dim_x, thread_idx_x};

/// The partials that a thread combines by itself.
const OF_LANE: usize = 4;

/// The most partials of a run.
pub const RUN: usize = OF_LANE * WARP_SIZE as usize;

/// The number of rounds for columns of `tiles` tiles; 0 if there is one.
pub const fn rounds(tiles: u64) -> u64 {
    let (mut rounds, mut left) = (0, tiles);
    while left > 1 {
        left = left.div_ceil(RUN as u64);
        rounds += 1;
    }
    rounds
}

/// Does a round.
///
/// # Safety
///
/// The launch meets the [requirements](super), with any number of blocks.
#[inline(always)]
pub unsafe fn combine<I: Items, O: Op<I>>(
    op: O,
    shape: Shape,
    output: Global<O::Acc>,
    partials: Global<O::Acc>,
) {
    let (mut step, mut left, mut round) = (1, shape.tiles as usize, 0);
    while round < shape.round {
        step *= RUN;
        left = left.div_ceil(RUN);
        round += 1;
    }
    let columns = shape.columns as usize;
    let runs = left.div_ceil(RUN) * columns;
    let warps = block_dim_x() / WARP_SIZE;
    let lane = thread_idx_x() % WARP_SIZE;
    let mut number =
        block_idx_x() as usize * warps as usize + (thread_idx_x() / WARP_SIZE) as usize;
    while number < runs {
        let run = Dim::divide(number as u64, shape.columns, shape.columns_multiplier) as usize;
        let column = number - run * columns;
        let first = run * RUN;
        let load = |i: usize| {
            let partial = first + lane as usize * OF_LANE + i;
            match partial < left {
                true => partials.get(partial * step * columns + column),
                false => op.identity(),
            }
        };
        let [a, b, c, d] = [load(0), load(1), load(2), load(3)];
        let own = op.combine(op.combine(a, b), op.combine(c, d));
        // SAFETY: all lanes of the warp arrive here, with the same run.
        let value = unsafe { reduce_in_order::<I, O>(op, own) };
        if lane == 0 {
            if shape.is_last > 0 {
                output.set(column, value);
            } else {
                partials.set(first * step * columns + column, value);
            }
        }
        number += grid_dim_x() as usize * warps as usize;
    }
}
