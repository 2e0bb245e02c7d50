//! Some threads reduce a tile of a column.
//!
//! A group of adjacent columns belongs to a block. In a tile, each thread combines one or several lanes of the canonical order,
//! then the threads combine their values through shared memory. If columns have few items, one thread has all lanes of its
//! column. If there are few columns, a block has several tiles.

use super::{DIM_BYTES, DIM_WORDS, Dims, Shape, THREADS, WORDS, adjacent_of, levels_of};
use crate::items::Items;
use crate::mem::{Global, Shared};
use crate::op::{Op, unrolled};
use crate::tile::{LANES, Lane, Share, Source, items_of_tile};
use core::marker::PhantomData;
use cuda_std::thread::{block_idx_x, sync_threads, thread_idx_x};

/// Reduces the columns. The results are in `output`, or those of tiles in `partials` if a column has several.
///
/// # Safety
///
/// The launch meets the [requirements](super).
#[inline(always)]
pub unsafe fn columns<I: Items, O: Op<I>, const N: usize, const K: usize>(
    op: O,
    arrays: I::Arrays,
    shape: Shape,
    output: Global<O::Acc>,
    partials: Global<O::Acc>,
) {
    let tid = thread_idx_x();
    // SAFETY: the launch provides the memory.
    let words: Shared<u64> = unsafe { Shared::dynamic_at(0) };
    if shape.has_several() {
        unrolled!(|i < WORDS| if tid == i as u32 {
            words.set(i as u32, shape.words[i]);
        });
        sync_threads();
    }
    let kept = Dims {
        words,
        first: 0,
        last: shape.kept.saturating_sub(1),
        stride: shape.kept_stride as usize,
    };
    let (log_columns, log_threads) = (shape.log_columns, shape.log_threads);
    let block = u64::from(block_idx_x());
    let tiles = super::Dim::divide(block, shape.groups, shape.groups_multiplier);
    let group = block - tiles * shape.groups;
    let sub = tid >> (log_columns + log_threads);
    let tile =
        (tiles * u64::from(THREADS >> (log_columns + log_threads)) + u64::from(sub)) as usize;
    let is_across = shape.is_across > 0;
    let low = |bits: u32, number: u32| number & ((1 << bits) - 1);
    let (column, number) = match is_across {
        true => (low(log_columns, tid), low(log_threads, tid >> log_columns)),
        false => (low(log_columns, tid >> log_threads), low(log_threads, tid)),
    };
    let column = ((group << log_columns) + u64::from(column)) as usize;
    let exists = column < shape.columns as usize && tile < shape.tiles as usize;
    let mut value = op.identity();
    if exists {
        let part = Part::<I, O> {
            op,
            items: Column::new(arrays, &shape, words, kept.offset(column), tile),
            first: tile * items_of_tile::<I>(),
            number,
            log_threads,
            log_lanes: shape.log_lanes,
        };
        value = part.lanes::<N, K>();
    }
    let team = Team {
        // SAFETY: the launch provides the memory; the words are before.
        values: unsafe { Shared::dynamic_at(DIM_BYTES) },
        number,
        log_threads,
        apart: if is_across { 1 << log_columns } else { 1 },
    };
    // SAFETY: all threads of the block get here.
    let value = unsafe { team.combine::<I, O>(op, value) };
    if exists && number == 0 {
        if shape.tiles > 1 {
            partials.set(tile * shape.columns as usize + column, value);
        } else {
            output.set(column, value);
        }
    }
}

/// The items of a column.
struct Column<I: Items> {
    arrays: I::Arrays,
    len: usize,
    /// The offset of item 0; wraps, if the offset of a run's start is below that of its first item.
    base: usize,
    dims: Dims,
}

impl<I: Items> Clone for Column<I> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<I: Items> Copy for Column<I> {}

impl<I: Items> Column<I> {
    /// The column whose first item is at this offset, for tile number `tile`.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn new(
        arrays: I::Arrays,
        shape: &Shape,
        words: Shared<u64>,
        offset: usize,
        tile: usize,
    ) -> Self {
        let stride = shape.reduced_stride as usize;
        let (mut base, mut last) = (offset, shape.dims.saturating_sub(1));
        if shape.is_in_runs > 0 {
            let first = tile * items_of_tile::<I>();
            let dims = Dims {
                words,
                first: shape.kept,
                last,
                stride: words.get(DIM_WORDS as u32 * last + 2) as usize,
            };
            base = (base + dims.offset(first)).wrapping_sub(first * stride);
            last = shape.kept;
        }
        Self {
            arrays,
            len: shape.items as usize,
            base,
            dims: Dims {
                words,
                first: shape.kept,
                last,
                stride,
            },
        }
    }
}

impl<I: Items> Source<I> for Column<I> {
    #[inline(always)]
    fn len(self) -> usize {
        self.len
    }

    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn get(self, index: usize) -> I {
        I::get(self.arrays, self.base.wrapping_add(self.dims.offset(index)))
    }
}

/// What a thread combines of a tile.
struct Part<I: Items, O: Op<I>> {
    op: O,
    items: Column<I>,
    /// The index of the tile's first item.
    first: usize,
    /// The number of the thread among those of the tile.
    number: u32,
    log_threads: u32,
    log_lanes: u32,
}

impl<I: Items, O: Op<I>> Part<I, O> {
    /// The levels of the tree of a thread's lanes.
    const LEVELS: usize = levels_of::<O::Acc>();

    /// Combines the thread's lanes as a binary tree: of a commutative operator by halves, of another one in adjacent pairs.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn lanes<const N: usize, const K: usize>(&self) -> O::Acc {
        let mut waiting = [self.op.identity(); 4];
        let mut value = self.op.identity();
        let (mut q, lanes) = (0u32, 1 << self.log_lanes);
        while q < lanes {
            let lane = match O::COMMUTATIVE {
                // Halves: the bits of the lane's number in reverse.
                true => {
                    self.number
                        + (((q.reverse_bits() >> 1) >> (31 - self.log_lanes)) << self.log_threads)
                }
                false => (self.number << self.log_lanes) + q,
            };
            value = self.lane::<N, K>(lane);
            // As many subtrees wait for this one.
            let carries = (!q).trailing_zeros() as usize;
            unrolled!(|level < Self::LEVELS| if level < carries {
                value = self.op.combine(waiting[level], value);
            } else if level == carries {
                waiting[level] = value;
            });
            q += 1;
        }
        value
    }

    /// Combines the items of a lane.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn lane<const N: usize, const K: usize>(&self, lane: u32) -> O::Acc {
        let mut acc = Lane::<I, O, N>::new(self.op);
        let share = Share::<I, O, Column<I>, N, K> {
            op: self.op,
            source: self.items,
            first: self.first + lane as usize * adjacent_of::<I, O>(),
            step: if O::COMMUTATIVE { LANES * N } else { N },
            items: PhantomData,
        };
        share.combine_items(&mut acc);
        acc.combined()
    }
}

/// The threads that share a tile.
struct Team<A> {
    /// A value for each thread of the block.
    values: Shared<A>,
    /// The number of the thread among them.
    number: u32,
    log_threads: u32,
    /// The distance of adjacent ones in the block.
    apart: u32,
}

impl<A: crate::element::Element> Team<A> {
    /// Combines the values of the threads; the first one returns the result.
    ///
    /// # Safety
    ///
    /// All threads of the block arrive here.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    unsafe fn combine<I: Items, O: Op<I, Acc = A>>(&self, op: O, mut value: A) -> A {
        let tid = thread_idx_x();
        let mut level = 0;
        while level < self.log_threads {
            let (step, is_left, is_right) = match O::COMMUTATIVE {
                true => {
                    let step = 1 << (self.log_threads - 1 - level);
                    (step, self.number < step, self.number >> 1 < step)
                }
                false => {
                    let step = 1 << level;
                    let place = self.number & (2 * step - 1);
                    (step, place == 0, place == step)
                }
            };
            if is_right && !is_left {
                self.values.set(tid, value);
            }
            sync_threads();
            if is_left {
                value = op.combine(value, self.values.get(tid + step * self.apart));
            }
            level += 1;
        }
        value
    }
}
