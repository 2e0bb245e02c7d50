//! Some threads reduce a tile of a column.
//!
//! A *vector* of columns is one column, or several that are adjacent in memory, whose items of the same index are loaded
//! together. A group of adjacent vectors belongs to a block. In a tile, each thread combines one or several lanes of the
//! canonical order, then the threads combine their values through shared memory, or by shuffles if they are a warp. If columns
//! have few items, one thread has all lanes of its vector. If there are few columns, a block has several tiles. An operator
//! that [selects](Op::SELECTS) needs no lanes: `columns/select.rs`.

mod column;
mod few;
mod select;
mod share;

use super::{DIM_BYTES, Dim, Dims, Shape, THREADS, WORDS, adjacent_of, levels_of};
use crate::element::Element;
use crate::items::Items;
use crate::mem::{Global, Shared, compiler_barrier};
use crate::op::{Op, unrolled};
use crate::tile::{LANES, Lane, Share, has_rows, items_of_tile, takes_several, zero};
use crate::warp::reduce_to_first;
use column::Column;
use core::marker::PhantomData;
use cuda_std::thread::{block_idx_x, grid_dim_x, sync_threads, thread_idx_x};
use few::{few, set};
use share::absorb_each;

/// The most items of a row of which two are in flight together.
const MOST_OF_PAIR: usize = 4;

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
            2 if is_simple => few::<I, O, N, W, 2, 4>(op, arrays, shape, output),
            3 if is_simple && N > 2 => few::<I, O, N, W, 3, 2>(op, arrays, shape, output),
            4 if is_simple && N > 2 => few::<I, O, N, W, 4, 2>(op, arrays, shape, output),
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
        let tile =
            (tiles * u64::from(THREADS >> (log_vectors + log_threads)) + u64::from(sub)) as usize;
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
            values = match part.selects::<W>() {
                true => part.select(),
                false => part.lanes::<N, K, W>(),
            };
        }
        let is_warp = !is_across && 1 << log_threads == LANES;
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
            };
            // SAFETY: all threads of the block get here.
            values = unsafe { team.combine::<I, O, W>(op, values) };
        }
        if exists && number == 0 {
            let (results, first) = match shape.tiles {
                1 => (output, vector * width),
                _ => (partials, tile * shape.columns as usize + vector * width),
            };
            set(results, first, values, width);
        }
        if log_threads > 0 && !(W == 1 && is_warp) {
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
    /// in adjacent pairs. If there are several tiles, the thread has one lane of each, in any order.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn lanes<const N: usize, const K: usize, const W: usize>(&self) -> [O::Acc; W] {
        let none = [Lane::<I, O, N>::new(self.op); W];
        let mut values = [self.op.identity(); W];
        let (mut accs, mut waiting) = (none, [values; 4]);
        let (log_lanes, log_threads) = (self.shape.log_lanes, self.shape.log_threads);
        let has_tiles = takes_several::<I, O>() && W == 1 && self.shape.each > 1;
        let steps = match has_tiles {
            true => self.shape.each as u32,
            false => 1 << log_lanes,
        };
        // Halves: the bits of the lane's number in reverse.
        let by_halves =
            |q: u32| self.number + (((q.reverse_bits() >> 1) >> (31 - log_lanes)) << log_threads);
        let (mut q, mut tile) = (0u32, self.tile);
        while q < steps {
            let mut level_of_values = 0;
            if q.is_multiple_of(2) && self.has_pair::<N, K, W>(by_halves(q + 1)) && q + 1 < steps {
                let (low, high) = (self.row(by_halves(q)), self.row(by_halves(q + 1)));
                compiler_barrier();
                self.absorb_row::<N, W>(&mut accs, low, by_halves(q));
                if !O::ANY_ORDER {
                    unrolled!(|w < W| values[w] = accs[w].combined());
                    accs = none;
                    level_of_values = 1;
                }
                self.absorb_row::<N, W>(&mut accs, high, by_halves(q + 1));
                q += 2;
            } else {
                let lane = match O::COMMUTATIVE {
                    _ if has_tiles => self.number,
                    true => by_halves(q),
                    false => (self.number << log_lanes) + q,
                };
                self.combine_lane::<N, K, W>(tile, lane, &mut accs);
                if has_tiles {
                    tile += 1;
                }
                q += 1;
            }
            if O::ANY_ORDER && q < steps {
                continue;
            }
            unrolled!(|w < W| {
                let own = accs[w].combined();
                values[w] = match level_of_values {
                    0 => own,
                    _ => self.op.combine(values[w], own),
                };
            });
            accs = none;
            // As many subtrees wait for this one.
            let carries = if O::ANY_ORDER {
                0
            } else {
                q.trailing_zeros() as usize
            };
            unrolled!(|level < Self::LEVELS| if level < levels_of::<I, O>(W) {
                if level_of_values <= level && level < carries {
                    unrolled!(|w < W| values[w] = self.op.combine(waiting[level][w], values[w]));
                } else if level == carries {
                    waiting[level] = values;
                }
            });
        }
        values
    }

    /// Whether two lanes, the later one with this number, have a whole row each and no more, of vectors at one stride: their
    /// loads are in flight together.
    #[inline(always)]
    fn has_pair<const N: usize, const K: usize, const W: usize>(&self, lane: u32) -> bool {
        let shape = self.shape;
        O::COMMUTATIVE
            && has_rows::<I, O>()
            && !O::SELECTS
            && W > 1
            && N <= MOST_OF_PAIR
            && shape.items as usize <= LANES * N
            && (lane as usize + 1) * N <= shape.items as usize
            && shape.dims == shape.kept + 1
            && shape.width == W as u64
            && I::skew::<W>(self.arrays) == Some(0)
    }

    /// Loads the only row of a lane of each of `W` adjacent columns.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn row<const N: usize, const W: usize>(&self, lane: u32) -> [[I; W]; N] {
        let stride = self.shape.reduced_stride as usize;
        let start = (self.offset).wrapping_add(stride.wrapping_mul(lane as usize * N));
        let mut items = [[zero::<I>(); W]; N];
        unrolled!(|i < N| {
            items[i] = I::vector(self.arrays, start.wrapping_add(stride.wrapping_mul(i)));
        });
        items
    }

    /// Combines a lane's row of each of `W` columns.
    #[inline(always)]
    fn absorb_row<const N: usize, const W: usize>(
        &self,
        accs: &mut [Lane<I, O, N>; W],
        items: [[I; W]; N],
        lane: u32,
    ) {
        unrolled!(|i < N| {
            let index = (lane as usize * N + i) as u64;
            absorb_each::<I, O, N, W, false>(accs, i, items[i], index);
        });
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

impl<A: Element> Team<A> {
    /// Combines the `W` values of each thread; the first thread returns the results.
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
            let place = |w: usize, thread: u32| w as u32 * THREADS + thread;
            if is_right && !is_left {
                unrolled!(|w < W| self.values.set(place(w, tid), values[w]));
            }
            sync_threads();
            if is_left {
                let above = tid + step * self.apart;
                unrolled!(|w < W| {
                    values[w] = op.combine(values[w], self.values.get(place(w, above)));
                });
            }
            level += 1;
        }
        values
    }
}
