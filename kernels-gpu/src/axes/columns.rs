//! Some threads reduce a tile of a column.
//!
//! A *vector* of columns is one column, or several that are adjacent in memory, whose items of the same index are loaded
//! together. A group of adjacent vectors belongs to a block. In a tile, each thread combines one or several lanes of the
//! canonical order, then the threads combine their values through shared memory. If columns have few items, one thread has all
//! lanes of its vector. If there are few columns, a block has several tiles.

use super::{DIM_BYTES, DIM_WORDS, Dims, Shape, THREADS, WORDS, adjacent_of, levels_of};
use crate::items::Items;
use crate::mem::{Global, Shared, compiler_barrier};
use crate::op::{Op, unrolled};
use crate::tile::{LANES, Lane, PART, Share, Source, items_of_tile, zero};
use core::marker::PhantomData;
use cuda_std::thread::{block_idx_x, grid_dim_x, sync_threads, thread_idx_x};

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
    // SAFETY: the caller's contract; the number is the same for all threads.
    unsafe {
        if W > 1 && shape.width > 1 {
            vectors::<I, O, N, K, W>(op, arrays, shape, output, partials);
        } else {
            vectors::<I, O, N, K, 1>(op, arrays, shape, output, partials);
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
        let (log_vectors, log_threads) = (shape.log_vectors, shape.log_threads);
        let tiles = super::Dim::divide(job, shape.groups, shape.groups_multiplier);
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
            let part = Part::<I, O> {
                op,
                items: Column::new(arrays, shape, words, offset, tile),
                first: tile * items_of_tile::<I>(),
                number,
                log_threads,
                log_lanes: shape.log_lanes,
            };
            values = part.lanes::<N, K, W>();
        }
        let team = Team {
            // SAFETY: the launch provides the memory; the words are before.
            values: unsafe { Shared::dynamic_at(DIM_BYTES) },
            number,
            log_threads,
            apart: if is_across { 1 << log_vectors } else { 1 },
        };
        // SAFETY: all threads of the block get here.
        let values = unsafe { team.combine::<I, O, W>(op, values) };
        if exists && number == 0 {
            unrolled!(|w < W| {
                let column = vector * W + w;
                if shape.tiles > 1 {
                    partials.set(tile * shape.columns as usize + column, values[w]);
                } else {
                    output.set(column, values[w]);
                }
            });
        }
        if log_threads > 0 {
            // The values are read before those of the next job are stored.
            sync_threads();
        }
    }
}

/// The items of a column.
struct Column<I: Items> {
    arrays: I::Arrays,
    len: usize,
    /// The offset of item 0; wraps, if the offset of a run's start is below that of its first item, or strides are negative.
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
            let of_run = base.wrapping_add(dims.offset(first));
            base = of_run.wrapping_sub(first.wrapping_mul(stride));
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
    const LEVELS: usize = levels_of::<I, O>(1);

    /// Combines the thread's lanes of each of `W` columns as a binary tree: of a commutative operator by halves, of another one
    /// in adjacent pairs.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn lanes<const N: usize, const K: usize, const W: usize>(&self) -> [O::Acc; W] {
        let none = [Lane::<I, O, N>::new(self.op); W];
        let mut values = [self.op.identity(); W];
        let (mut accs, mut waiting) = (none, [values; 4]);
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
            self.combine_lane::<N, K, W>(lane, &mut accs);
            q += 1;
            if O::ANY_ORDER && q < lanes {
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

    /// Combines the items of a lane of each of `W` columns.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn combine_lane<const N: usize, const K: usize, const W: usize>(
        &self,
        lane: u32,
        accs: &mut [Lane<I, O, N>; W],
    ) {
        let share = Share::<I, O, Column<I>, N, K> {
            op: self.op,
            source: self.items,
            first: self.first + lane as usize * adjacent_of::<I, O>(),
            step: if O::COMMUTATIVE { LANES * N } else { N },
            items: PhantomData,
        };
        if W == 1 {
            share.combine_items(&mut accs[0]);
        } else if self.items.has_vectors::<W>() {
            share.combine_vectors(accs);
        } else {
            share.combine_singly(accs);
        }
    }
}

impl<I: Items> Column<I> {
    /// Whether items of the same index in adjacent columns are aligned for a vector, and all indices have one stride.
    #[inline(always)]
    fn has_vectors<const W: usize>(&self) -> bool {
        self.dims.first >= self.dims.last && I::skew::<W>(self.arrays) == Some(0)
    }
}

impl<I: Items, O: Op<I>, const N: usize, const K: usize> Share<I, O, Column<I>, N, K> {
    /// The rows of which a lane loads vectors together.
    const TOGETHER: usize = if N < PART { PART / N } else { 1 };

    /// Combines the lane's items of each of `W` adjacent columns by vectors. Not all of them need to exist.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn combine_vectors<const W: usize>(&self, lanes: &mut [Lane<I, O, N>; W]) {
        let Column {
            arrays, base, dims, ..
        } = self.source;
        let (mut row, end) = (0, self.rows());
        while row < end {
            unrolled!(|part < Self::PARTS| {
                let index = |i: usize| self.first_of(row + i / N) + part * PART + i % N;
                let mut items = [[zero::<I>(); W]; PART];
                unrolled!(|i < PART| if self.is_item(index(i)) {
                    items[i] = I::vector(arrays, base.wrapping_add(index(i).wrapping_mul(dims.stride)));
                });
                compiler_barrier();
                if O::ABSORBS && N >= PART && self.is_item(index(PART - 1)) {
                    unrolled!(|w < W| {
                        let mut own = [items[0][w]; PART];
                        unrolled!(|i < PART| own[i] = items[i][w]);
                        lanes[w].absorb_row(own, index(0) as u64);
                    });
                } else {
                    unrolled!(|i < PART, w < W| if self.is_item(index(i)) {
                        lanes[w].absorb_item(part * PART + i % N, items[i][w], index(i) as u64);
                    });
                }
            });
            row += Self::TOGETHER;
        }
    }

    /// Combines the lane's items of each of `W` adjacent columns, wherever they are, one by one.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn combine_singly<const W: usize>(&self, lanes: &mut [Lane<I, O, N>; W]) {
        let Column {
            arrays, base, dims, ..
        } = self.source;
        let (mut row, end) = (0, self.rows());
        while row < end {
            unrolled!(|e < N| {
                let i = self.first_of(row) + e;
                if self.is_item(i) {
                    let at = base.wrapping_add(dims.offset(i));
                    unrolled!(|w < W| {
                        lanes[w].absorb_item(e, I::get(arrays, at + w), i as u64);
                    });
                }
            });
            row += 1;
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

impl<A: crate::element::Element> Team<A> {
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
