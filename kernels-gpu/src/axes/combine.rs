//! Combines the partials of a column, as a binary tree of adjacent ones.
//!
//! Partial `t` of column `c` is at `t * columns + c`. A *run* is up to [`RUN`] adjacent partials of a column, from a multiple of
//! that number on. Some lanes of a warp combine a run, or a block if a warp has too few; the result takes the place of the
//! first partial. In the next round, a launch of its own, the partials are as many times farther apart. The last round ends
//! with the results.
//!
//! If a run needs few lanes, a warp has several adjacent columns: adjacent lanes load adjacent partials.

use super::{Dim, Shape, THREADS};
use crate::element::{Element, Shuffle};
use crate::items::Items;
use crate::mem::{Global, Shared};
use crate::op::{Op, unrolled};
use crate::warp::{FULL_MASK, WARP_SIZE};
use cuda_std::thread::{block_idx_x, grid_dim_x, sync_threads, thread_idx_x};

/// The partials that a thread combines by itself.
const OF_LANE: usize = 8;

/// The most partials of a warp.
const OF_WARP: usize = OF_LANE * WARP_SIZE as usize;

/// The warps of a block.
const WARPS: usize = (THREADS / WARP_SIZE) as usize;

/// The steps from the values of a thread, or from those of a block's warps, to one.
const LEVELS: usize = OF_LANE.ilog2() as usize;
const _: () = assert!(OF_LANE == WARPS);

/// The most partials of a run.
pub const RUN: usize = OF_WARP * WARPS;

/// How the threads share the partials of a round.
#[derive(Clone, Copy)]
struct Plan {
    /// The distance of adjacent partials of a column, in partials of the first round.
    step: usize,
    /// The partials of each column.
    left: usize,
    /// Whether a block combines a run.
    is_of_block: bool,
    /// The logarithm of the number of columns of a warp.
    log_columns: u32,
}

impl Shape {
    /// The number of rounds that combine the partials; 0 if there are none.
    pub const fn rounds(&self) -> u64 {
        let (mut rounds, mut left) = (0, self.partials_of_column());
        while left > 1 {
            left = left.div_ceil(RUN as u64);
            rounds += 1;
        }
        rounds
    }

    /// The plan of this round.
    const fn plan(&self) -> Plan {
        let (mut step, mut left, mut round) = (1, self.partials_of_column() as usize, 0);
        while round < self.round {
            step *= RUN;
            left = left.div_ceil(RUN);
            round += 1;
        }
        let is_of_block = left > OF_WARP;
        let lanes = left.div_ceil(OF_LANE).next_power_of_two();
        Plan {
            step,
            left,
            is_of_block,
            log_columns: match is_of_block {
                true => 0,
                false => WARP_SIZE.ilog2() - lanes.ilog2(),
            },
        }
    }

    /// The number of blocks that have something to combine in this round.
    pub const fn blocks_of_round(&self) -> u64 {
        let plan = self.plan();
        match plan.is_of_block {
            true => self.columns * plan.left.div_ceil(RUN) as u64,
            false => self.columns.div_ceil((WARPS as u64) << plan.log_columns),
        }
    }
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
    let Plan {
        step,
        left,
        is_of_block,
        log_columns,
    } = shape.plan();
    let (tid, lane) = (thread_idx_x(), thread_idx_x() % WARP_SIZE);
    // SAFETY: the launch provides the memory.
    let of_warps: Shared<O::Acc> = unsafe { Shared::dynamic_at(0) };
    let columns = shape.columns as usize;
    let mut job = u64::from(block_idx_x());
    while job < shape.blocks_of_round() {
        let (run, column, place) = match is_of_block {
            true => {
                let run = Dim::divide(job, shape.columns, shape.columns_multiplier);
                ((run as usize), (job - run * shape.columns) as usize, tid)
            }
            false => {
                let warp = job as usize * WARPS + (tid / WARP_SIZE) as usize;
                let of_lane = (lane & ((1 << log_columns) - 1)) as usize;
                (0, (warp << log_columns) + of_lane, lane >> log_columns)
            }
        };
        let load = |i: usize| {
            let partial = run * RUN + place as usize * OF_LANE + i;
            match column < columns && partial < left {
                true => partials.get(partial * step * columns + column),
                false => op.identity(),
            }
        };
        let mut values = [op.identity(); OF_LANE];
        unrolled!(|i < OF_LANE| values[i] = load(i));
        let mut value = as_tree::<I, O>(op, values);
        let mut distance = 1 << log_columns;
        while distance < WARP_SIZE {
            // SAFETY: all lanes of the warp arrive here, with the same distance.
            let above = unsafe { value.shuffle(FULL_MASK, Shuffle::Down(distance)) };
            value = op.combine(value, above);
            distance *= 2;
        }
        if is_of_block {
            if lane == 0 {
                of_warps.set(tid / WARP_SIZE, value);
            }
            sync_threads();
            unrolled!(|w < WARPS| values[w] = of_warps.get(w as u32));
            value = as_tree::<I, O>(op, values);
            // The values are read before those of the next run are stored.
            sync_threads();
        }
        if place == 0 && column < columns {
            if shape.is_last > 0 {
                output.set(column, value);
            } else {
                partials.set(run * RUN * step * columns + column, value);
            }
        }
        job += u64::from(grid_dim_x());
    }
}

/// Combines values, adjacent ones first.
#[inline(always)]
fn as_tree<I: Items, O: Op<I>>(op: O, mut values: [O::Acc; OF_LANE]) -> O::Acc {
    unrolled!(|level < LEVELS, i < OF_LANE| if i < OF_LANE >> (level + 1) {
        values[i] = op.combine(values[2 * i], values[2 * i + 1]);
    });
    values[0]
}
