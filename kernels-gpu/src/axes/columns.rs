//! Some threads reduce a tile of a column.
//!
//! A *vector* of columns is one column, or several that are adjacent in memory, whose items of the same index are loaded
//! together. A group of adjacent vectors belongs to a block. In a tile, each thread combines one or several lanes of the
//! canonical order, then the threads combine their values through shared memory, or by shuffles if they are a warp. If columns
//! have few items, one thread has all lanes of its vector. If there are few columns, a block has several tiles of each, adjacent
//! ones, and combines them. An operator that [selects](Op::SELECTS) needs no lanes: `columns/select.rs`.

mod column;
mod few;
mod select;
mod share;

use super::{DIM_BYTES, Dim, Dims, MOST_LEVELS, Shape, THREADS, WORDS, adjacent_of, levels_of};
use crate::element::Element;
use crate::items::Items;
use crate::mem::{Global, Shared};
use crate::op::{Op, unrolled};
use crate::store::set_adjacent;
use crate::tile::{LANES, Lane, Share, has_rows, items_of_tile, takes_several};
use crate::warp::reduce_to_first;
use column::Column;
use core::marker::PhantomData;
use cuda_std::thread::{block_idx_x, grid_dim_x, sync_threads, thread_idx_x};
use few::few;

/// Reduces the columns. The results are in `output`, or those of tiles in `partials` if a column has several.
///
/// # Safety
///
/// The launch meets the [requirements](super).
#[inline(always)]
pub unsafe fn columns<I: Items, O: Op<I>, const N: usize, const K: usize, const W: usize>(
    op: O,
    arrays: I::Arrays,
    shape: Shape,
    output: Global<O::Acc>,
    partials: Global<O::Acc>,
) {
    if W == 1 || shape.width == 1 {
        // SAFETY: the caller's contract; the number is the same for all threads.
        return unsafe { vectors::<I, O, N, K, 1>(op, arrays, shape, output, partials) };
    }
    let is_simple =
        shape.width == W as u64 && shape.dims == shape.kept + 1 && I::skew::<W>(arrays) == Some(0);
    // SAFETY: as above.
    unsafe {
        match shape.items {
            2 if is_simple => few::<I, O, N, W, 2>(op, arrays, shape, output),
            3 if is_simple && N > 2 => few::<I, O, N, W, 3>(op, arrays, shape, output),
            4 if is_simple && N > 2 => few::<I, O, N, W, 4>(op, arrays, shape, output),
            _ => vectors::<I, O, N, K, W>(op, arrays, shape, output, partials),
        }
    }
}

/// Reduces the columns in vectors of `W`.
///
/// # Safety
///
/// As for [`columns`].
#[inline(always)]
unsafe fn vectors<I: Items, O: Op<I>, const N: usize, const K: usize, const W: usize>(
    op: O,
    arrays: I::Arrays,
    shape: Shape,
    output: Global<O::Acc>,
    partials: Global<O::Acc>,
) {
    // SAFETY: the caller's contract.
    let (kept, words) = unsafe { shape.dims_of_kept() };
    let mut job = u64::from(block_idx_x());
    while job < shape.jobs() {
        let block = Job::<I, O> {
            op,
            arrays,
            shape: &shape,
            words,
            kept,
            job,
        };
        // SAFETY: all threads of the block get here, with the same job.
        unsafe { block.reduce::<N, K, W>(output, partials) };
        job += u64::from(grid_dim_x());
    }
}

impl Shape {
    /// The kept dimensions, and the words of all.
    ///
    /// # Safety
    ///
    /// All threads of the block arrive here.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    unsafe fn dims_of_kept(&self) -> (Dims, Shared<u64>) {
        let tid = thread_idx_x();
        // SAFETY: the launch provides the memory.
        let words: Shared<u64> = unsafe { Shared::dynamic_at(0) };
        if self.has_several() {
            // An index that is not a constant would move the shape to local memory.
            unrolled!(|i < WORDS| if tid == i as u32 {
                words.set(i as u32, self.words[i]);
            });
            sync_threads();
        }
        let kept = Dims {
            words,
            first: 0,
            last: self.kept.saturating_sub(1),
            stride: self.kept_stride as usize,
        };
        (kept, words)
    }
}

/// A group of vectors, and some tiles of each: what a block reduces at a time.
struct Job<'s, I: Items, O> {
    op: O,
    arrays: I::Arrays,
    shape: &'s Shape,
    words: Shared<u64>,
    kept: Dims,
    /// Its number.
    job: u64,
}

impl<I: Items, O: Op<I>> Job<'_, I, O> {
    /// # Safety
    ///
    /// All threads of the block arrive here, with the same job.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    unsafe fn reduce<const N: usize, const K: usize, const W: usize>(
        &self,
        output: Global<O::Acc>,
        partials: Global<O::Acc>,
    ) {
        let Self {
            op,
            arrays,
            shape,
            words,
            kept,
            job,
        } = *self;
        let tid = thread_idx_x();
        let width = shape.width as usize;
        let (log_vectors, log_threads) = (shape.log_vectors, shape.log_threads);
        let tiles = match shape.tiles {
            1 => 0,
            _ => Dim::divide(job, shape.groups, shape.groups_multiplier),
        };
        let group = job - tiles * shape.groups;
        let sub = tid >> (log_vectors + log_threads);
        let tile = (tiles * shape.tiles_of_block() + u64::from(sub)) as usize;
        let is_across = shape.is_across > 0;
        let low = |bits: u32, number: u32| number & ((1 << bits) - 1);
        let (vector, number) = match is_across {
            true => (low(log_vectors, tid), low(log_threads, tid >> log_vectors)),
            false => (low(log_vectors, tid >> log_threads), low(log_threads, tid)),
        };
        let vector = ((group << log_vectors) + u64::from(vector)) as usize;
        let exists = vector < shape.vectors as usize && tile < shape.tiles as usize;
        let mut values = [op.identity(); W];
        if exists {
            let offset = (shape.first as usize).wrapping_add(kept.offset(vector));
            let part = Part::<'_, I, O> {
                op,
                arrays,
                shape,
                words,
                offset,
                tile: tile * shape.each as usize,
                number,
            };
            values = if !O::SELECTS || W == 1 {
                part.lanes::<N, K, W>()
            } else if I::skew::<W>(arrays) == Some(0) {
                part.select::<W, true>()
            } else {
                part.select::<W, false>()
            };
        }
        let is_warp = shape.is_of_block == 0;
        if W == 1 && is_warp {
            // SAFETY: all lanes get here, and share a tile.
            values = [unsafe { reduce_to_first::<I, O>(op, values[0]) }; W];
        } else {
            let team = Team {
                // SAFETY: the launch provides the memory; the words are before.
                values: unsafe { Shared::dynamic_at(DIM_BYTES) },
                number,
                log_threads,
                apart: if is_across { 1 << log_vectors } else { 1 },
                sub,
                log_apart: log_vectors + log_threads,
            };
            // SAFETY: all threads of the block get here.
            values = unsafe { team.combine::<I, O, W>(op, values) };
        }
        let (is_first, partial) = match shape.is_of_block {
            0 => (true, tile),
            _ => (sub == 0, tiles as usize),
        };
        if exists && number == 0 && is_first {
            let (results, first) = match shape.partials_of_column() {
                1 => (output, vector * width),
                _ => (partials, partial * shape.columns as usize + vector * width),
            };
            set_adjacent(results, first, values, width);
        }
        if !(W == 1 && is_warp) {
            // The values are read before those of the next job are stored.
            sync_threads();
        }
    }
}

/// What a thread combines of a tile.
struct Part<'s, I: Items, O: Op<I>> {
    op: O,
    arrays: I::Arrays,
    shape: &'s Shape,
    words: Shared<u64>,
    /// The offset of the column's first item.
    offset: usize,
    /// The number of the first tile.
    tile: usize,
    /// The number of the thread among those of the tile.
    number: u32,
}

impl<I: Items, O: Op<I>> Part<'_, I, O> {
    /// The levels of the tree of a thread's lanes.
    const LEVELS: usize = levels_of::<I, O>(1);

    /// Combines the thread's lanes of each of `W` columns as a binary tree: of a commutative operator by halves, of another one
    /// in adjacent pairs. If there are several tiles, their order is free.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn lanes<const N: usize, const K: usize, const W: usize>(&self) -> [O::Acc; W] {
        let none = [Lane::<I, O, N>::new(self.op); W];
        let mut values = [self.op.identity(); W];
        let (mut accs, mut waiting) = (none, [values; MOST_LEVELS]);
        let (log_lanes, log_threads) = (self.shape.log_lanes, self.shape.log_threads);
        let each = if takes_several::<I, O>() {
            self.shape.each as u32
        } else {
            1
        };
        let steps = each << log_lanes;
        // Halves: the bits of the lane's number in reverse.
        let by_halves =
            |q: u32| self.number + (((q.reverse_bits() >> 1) >> (31 - log_lanes)) << log_threads);
        let mut q = 0u32;
        while q < steps {
            let lane = q & ((1 << log_lanes) - 1);
            let lane = match O::COMMUTATIVE {
                true => by_halves(lane),
                false => (self.number << log_lanes) + lane,
            };
            let tile = self.tile + (q >> log_lanes) as usize;
            self.combine_lane::<N, K, W>(tile, lane, &mut accs);
            q += 1;
            if O::ANY_ORDER && q < steps {
                continue;
            }
            unrolled!(|w < W| values[w] = accs[w].combined());
            accs = none;
            // As many subtrees wait for this one.
            let carries = if O::ANY_ORDER {
                0
            } else {
                q.trailing_zeros() as usize
            };
            unrolled!(|level < Self::LEVELS| if level < levels_of::<I, O>(W) {
                if level < carries {
                    unrolled!(|w < W| values[w] = self.op.combine(waiting[level][w], values[w]));
                } else if level == carries {
                    waiting[level] = values;
                }
            });
        }
        values
    }

    /// Combines the items of a lane of a tile of each of `W` columns.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn combine_lane<const N: usize, const K: usize, const W: usize>(
        &self,
        tile: usize,
        lane: u32,
        accs: &mut [Lane<I, O, N>; W],
    ) {
        let column = Column::new(self.arrays, self.shape, self.words, self.offset, tile);
        let first = tile * items_of_tile::<I>();
        let share = Share::<I, O, Column<I>, N, K> {
            op: self.op,
            source: column,
            first: first + lane as usize * adjacent_of::<I, O>(),
            step: if O::COMMUTATIVE { LANES * N } else { N },
            items: PhantomData,
        };
        let has_one_stride = column.dims.first >= column.dims.last;
        if W > 1 {
            if !has_one_stride || I::skew::<W>(self.arrays) != Some(0) {
                share.combine_singly(accs);
            } else if column.width == W {
                share.combine_vectors::<W, false>(accs);
            } else {
                share.combine_vectors::<W, true>(accs);
            }
        } else if column.is_adjacent && I::skew::<N>(self.arrays) == Some(0) {
            share.combine_adjacent(&mut accs[0], first + items_of_tile::<I>());
        } else if has_rows::<I, O>() && has_one_stride {
            share.combine_vectors::<W, false>(accs);
        } else {
            share.combine_items(&mut accs[0]);
        }
    }
}

/// The threads that share a column.
struct Team<A> {
    /// A value for each thread of the block.
    values: Shared<A>,
    /// The number of the thread among those of its tile.
    number: u32,
    log_threads: u32,
    /// The distance of adjacent ones in the block.
    apart: u32,
    /// The number of its tile among those of the block.
    sub: u32,
    /// The logarithm of the distance of threads of adjacent tiles.
    log_apart: u32,
}

impl<A: Element> Team<A> {
    /// Combines the `W` values of each thread, those of a tile first; the first thread of the first tile returns the results.
    ///
    /// # Safety
    ///
    /// All threads of the block arrive here.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    unsafe fn combine<I: Items, O: Op<I, Acc = A>, const W: usize>(
        &self,
        op: O,
        mut values: [A; W],
    ) -> [A; W] {
        let tid = thread_idx_x();
        let log_tiles = THREADS.ilog2() - self.log_apart;
        let mut level = 0;
        while level < self.log_threads + log_tiles {
            let (step, is_left, is_right) = if level >= self.log_threads {
                let step = 1 << (level - self.log_threads);
                let place = self.sub & (2 * step - 1);
                let is_first = self.number == 0;
                (
                    step << self.log_apart,
                    is_first && place == 0,
                    is_first && place == step,
                )
            } else if O::COMMUTATIVE {
                let step = 1 << (self.log_threads - 1 - level);
                let (is_left, is_right) = (self.number < step, self.number >> 1 < step);
                (step * self.apart, is_left, is_right && !is_left)
            } else {
                let step = 1 << level;
                let place = self.number & (2 * step - 1);
                (step * self.apart, place == 0, place == step)
            };
            let place = |w: usize, thread: u32| w as u32 * THREADS + thread;
            if is_right {
                unrolled!(|w < W| self.values.set(place(w, tid), values[w]));
            }
            sync_threads();
            if is_left {
                let above = tid + step;
                unrolled!(|w < W| {
                    values[w] = op.combine(values[w], self.values.get(place(w, above)));
                });
            }
            level += 1;
        }
        values
    }
}
