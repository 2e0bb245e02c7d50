//! Reductions along axes: the items of an array in two groups of dimensions, those that are kept and those that are reduced.
//!
//! A *column* is the items of one result: those at all indices of the reduced dimensions, in C order. Its result has the bits
//! of the [whole-array reduction](crate::single_pass) of these items, in the canonical order of [`tile`](crate::tile).
//! Neither neighbours nor strides enter.
//!
//! | kernel | does |
//! |---|---|
//! | [`columns`] | some threads reduce a tile of a column, or of a [vector](width_of) of adjacent columns; adjacent threads take adjacent ones, or adjacent lanes of a tile |
//! | [`combine`] | combines the partials of columns that have several tiles |
//!
//! # Dimensions
//!
//! The host drops dimensions of length 1 and joins those that one stride can walk. What remains is in a [`Shape`]. If a group
//! has several dimensions, the kernel divides an index by their lengths. It does so by a multiplication, because
//! a division by a number that the compiler does not know is a call.
//!
//! Strides may be negative. Offsets are computed modulo 2^64, where a negative number is its two's complement: the sum of all
//! parts of an offset is not negative, and is right.
//!
//! # Requirements of every launch
//!
//! - [`THREADS`] threads per block; dynamic shared memory: [`shared_bytes`] for [`columns`], for [`combine`] an accumulator for each
//!   warp.
//! - A [`Shape`] of [`Shape::new`], whose offsets are in the arrays; at least one column. The arrays start with the item of
//!   the lowest offset.
//! - Any number of blocks; for [`columns`], [`Shape::blocks`] are fast.
//! - An output for each column, and [`Shape::partials`] partials.

pub mod columns;
pub mod combine;

use crate::items::Items;
use crate::mem::Shared;
use crate::op::Op;
use crate::tile::{LANES, ROWS, has_rows, has_slots, items_of_tile, takes_several};

/// The threads per block of every kernel.
pub const THREADS: u32 = 256;

/// The most dimensions of an array.
pub const MOST_DIMS: usize = 8;

/// The words of a dimension in a [`Shape`].
const DIM_WORDS: usize = 3;

/// The words of all dimensions.
const WORDS: usize = DIM_WORDS * MOST_DIMS;

/// The bytes of the dimensions in shared memory, before a value for each thread.
const DIM_BYTES: u32 = (WORDS * size_of::<u64>()) as u32;

/// The most blocks of [`columns`]: a few for each multiprocessor of any device. They take one group after another, because a
/// block of short columns takes longer to start than to run.
const MOST_BLOCKS: u64 = 1 << 13;

/// The same for columns of up to [`FEW`] items: as many as a launch may have. Then no block has a second turn, and adjacent results
/// are stored at about the same time.
const MOST_BLOCKS_OF_FEW: u64 = i32::MAX as u64;

/// The items of columns of which a thread takes several vectors at a time.
const FEW: u64 = 4;

/// The number of vectors of such columns that a thread takes at a time. With more, a block has too many results to store at
/// once.
const VECTORS_OF_FEW: usize = 2;

/// The number of threads that hides the latency of memory on every device.
const MANY: u64 = 1 << 18;

/// The most tiles of a thread: it prepares for the first as long as for all, and its accumulators improve less and less often.
const MOST_TILES: u64 = 16;

/// The bytes of adjacent columns that a block loads about as fast as more.
const LONG_BYTES: usize = 512;

/// The most bytes of accumulators of a thread that takes several columns.
const MOST_BYTES: usize = 64;

/// The most columns of a thread.
const MOST_COLUMNS: usize = 4;

/// The number of adjacent columns that a thread takes, if they are adjacent in memory and begin with a vector of as many
/// items; a power of two. 1, if the operator needs the items of a column in groups.
pub const fn width_of<I: Items, O: Op<I>>() -> usize {
    let slots = if has_slots::<I, O>() { I::VECTOR } else { 1 };
    // With 16 slots, registers lack.
    let mut width = match has_rows::<I, O>() {
        // Long accumulators leave too few registers for eight slots.
        true if I::VECTOR == 8 && size_of::<O::Acc>() > 8 => 2,
        true if I::VECTOR <= 8 => I::VECTOR,
        _ => 1,
    };
    while width > MOST_COLUMNS || width > 1 && width * slots * size_of::<O::Acc>() > MOST_BYTES {
        width /= 2;
    }
    width
}

/// The blocks of [`columns`] that a multiprocessor holds at the same time: three, which leaves a thread 80 registers, or two where
/// these are too few for eight vectors in flight.
pub const fn blocks_of<I: Items, O: Op<I>>() -> u32 {
    let is_narrow = size_of::<O::Acc>() <= I::BYTES && I::BYTES <= 4;
    match has_rows::<I, O>() && is_narrow || O::SELECTS && I::BYTES == 4 {
        true => 3,
        false => 2,
    }
}

/// The dynamic shared memory of a block of [`columns`] in bytes.
pub const fn shared_bytes<I: Items, O: Op<I>>() -> u32 {
    DIM_BYTES + THREADS * (width_of::<I, O>() * size_of::<O::Acc>()) as u32
}

/// The most of [`levels_of`].
const MOST_LEVELS: usize = 3;

/// The logarithm of the most lanes of a tile that one thread combines, of each of `width` columns: each level of their tree
/// needs accumulators in registers, unless their order is free.
pub const fn levels_of<I: Items, O: Op<I>>(width: usize) -> usize {
    match width * size_of::<O::Acc>() {
        _ if O::ANY_ORDER => 3,
        0..=16 => MOST_LEVELS,
        17..=32 => 2,
        33..=64 => 1,
        _ => 0,
    }
}

/// The number of adjacent items of a lane.
pub const fn adjacent_of<I: Items, O: Op<I>>() -> usize {
    match O::COMMUTATIVE {
        true => I::VECTOR,
        false => ROWS * I::VECTOR,
    }
}

/// A dimension: its length, and the distance of its neighbours in items.
///
/// With a negative stride, the next index has an item in front.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dim {
    /// The number of indices.
    pub len: usize,
    /// The number of items from one index to the next one.
    pub stride: isize,
}

/// The offset of the item at index 0 of all dimensions in an array that starts with the item of the lowest offset: 0 unless
/// a stride is negative.
pub fn first_offset(kept: &[Dim], reduced: &[Dim]) -> usize {
    let backwards = kept.iter().chain(reduced).filter(|dim| dim.stride < 0);
    let lengths = backwards.map(|dim| dim.len.saturating_sub(1) * dim.stride.unsigned_abs());
    lengths.sum()
}

impl Dim {
    /// The number that [`divide`](Self::divide) multiplies by: `2^(63 + l) / len`, rounded up, with the `l` for which `len` is
    /// above `2^(l - 1)` and at most `2^l`. 0 for lengths below 2.
    const fn multiplier(len: u64) -> u64 {
        if len < 2 {
            return 0;
        }
        let l = 64 - (len - 1).leading_zeros();
        (1u128 << (63 + l)).div_ceil(len as u128) as u64
    }

    /// `index / len`, for an index below 2^63.
    ///
    /// The multiplier is `(2^(63 + l) + e) / len` with an `e` below `2^l`. So the quotient, before it is rounded down, is too
    /// large by `index / 2^63 * e / 2^l / len`, which is below `1 / len` and does not reach the next integer.
    #[inline(always)]
    const fn divide(index: u64, len: u64, multiplier: u64) -> u64 {
        if len < 2 {
            return index;
        }
        let high = (index as u128 * multiplier as u128) >> 64;
        high as u64 >> (63 - (len - 1).leading_zeros())
    }
}

/// The columns, and how the threads share them, as the kernels receive it.
#[derive(Clone, Copy, Debug, kernels_gpu_macros::Value)]
#[repr(C)]
pub struct Shape {
    /// The number of columns.
    pub columns: u64,
    /// The number of items of a column.
    pub items: u64,
    /// The number of tiles of a column, or of groups of them.
    pub tiles: u64,
    /// The number of tiles in a group: 1, unless a thread combines lanes of several tiles, because their order is free.
    each: u64,
    /// The multiplier for a division by the number of columns.
    columns_multiplier: u64,
    /// The number of adjacent columns in a vector: 1, [`width_of`] or half of it.
    width: u64,
    /// The number of vectors of columns.
    vectors: u64,
    /// The number of groups of vectors, each for a block.
    groups: u64,
    /// The multiplier for a division by it.
    groups_multiplier: u64,
    /// The logarithm of the number of vectors that a block takes.
    log_vectors: u32,
    /// The logarithm of the number of threads that share a tile.
    log_threads: u32,
    /// The logarithm of the number of lanes that a thread combines.
    log_lanes: u32,
    /// 1 if adjacent threads take adjacent vectors, 0 if they take adjacent lanes.
    is_across: u32,
    /// The number of kept dimensions.
    kept: u32,
    /// The number of kept and reduced dimensions.
    dims: u32,
    /// The [offset](first_offset) of the first column's first item.
    first: u64,
    /// The stride of the outermost kept dimension.
    kept_stride: u64,
    /// The stride of the outermost reduced dimension; if all tiles are in runs, of the innermost.
    reduced_stride: u64,
    /// 1 if each tile is in a run of the innermost reduced dimension, although there are others.
    is_in_runs: u64,
    /// 1 if the items of each tile are adjacent, and begin where a vector may.
    is_adjacent: u64,
    /// 1 if a block combines all that it has of a column: one partial for all its groups of tiles.
    is_of_block: u64,
    /// Length, multiplier and stride of each dimension: the kept ones from the innermost on, then the reduced ones. The
    /// innermost kept one has the vectors.
    words: [u64; WORDS],
    /// The number of this launch of [`combine`], from 0.
    round: u64,
    /// 1 if it is the last one.
    is_last: u64,
}

impl Shape {
    /// The shape for these dimensions, outermost first, at most [`MOST_DIMS`] together. No kept one is empty. The
    /// numbers of columns and of items are below 2^63.
    pub fn new<I: Items, O: Op<I>>(kept: &[Dim], reduced: &[Dim]) -> Self {
        Self::for_threads::<I, O>(kept, reduced, MANY)
    }

    /// The same shape, with another number of threads that hides the latency of memory: a thread combines several lanes of a
    /// tile if there are `many` threads all the same.
    pub fn for_threads<I: Items, O: Op<I>>(kept: &[Dim], reduced: &[Dim], many: u64) -> Self {
        let product = |dims: &[Dim]| dims.iter().map(|dim| dim.len as u64).product::<u64>();
        let (columns, items) = (product(kept), product(reduced));
        let tile = items_of_tile::<I>() as u64;
        let is_in_runs = match reduced {
            [_, .., inner] => (inner.len as u64).is_multiple_of(tile),
            _ => false,
        };
        let width = match O::SELECTS && reduced.len() != 1 && !is_in_runs {
            // There is no stride from an item to the next one.
            true => 1,
            false => width::<I>(kept, reduced, width_of::<I, O>()),
        };
        let vectors = columns / width as u64;
        // If there are no items, a tile of none is the identity.
        let mut tiles = items.div_ceil(tile).max(1);
        let mut words = [0; WORDS];
        let innermost_first = kept.iter().rev().chain(reduced.iter().rev());
        for (i, (dim, words)) in innermost_first.zip(words.chunks_mut(DIM_WORDS)).enumerate() {
            let per_step = if i == 0 { width } else { 1 };
            let (len, stride) = ((dim.len / per_step) as u64, dim.stride * per_step as isize);
            words.copy_from_slice(&[len, Dim::multiplier(len), stride as u64]);
        }
        let stride = |dim: Option<&Dim>| dim.map_or(0, |dim| dim.stride as u64);
        let of_threads = match (kept.last(), reduced.last()) {
            (Some(kept), Some(reduced)) => {
                kept.stride.unsigned_abs() <= reduced.stride.unsigned_abs()
            }
            _ => false,
        };
        // The lanes of a tile that have items.
        let lanes = items.div_ceil(adjacent_of::<I, O>() as u64);
        let log_used = lanes.min(LANES as u64).next_power_of_two().ilog2();
        let most_lanes = match of_threads {
            true if width > 1 => levels_of::<I, O>(width_of::<I, O>()) as u32,
            true => levels_of::<I, O>(1) as u32,
            false => 0,
        };
        let is_adjacent = is_adjacent(kept, reduced, is_in_runs, I::VECTOR);
        let mut log_lanes = log_used.min(most_lanes);
        let log_of_vectors = vectors.next_power_of_two().ilog2();
        if of_threads && takes_several::<I, O>() {
            // Few threads for many vectors, many for few: a block loads long parts of memory.
            log_lanes = log_lanes.min((log_used + log_of_vectors).saturating_sub(THREADS.ilog2()));
        }
        while log_lanes > 0 && (vectors * tiles) << (log_used - log_lanes) < many {
            log_lanes -= 1;
        }
        let log_threads = log_used - log_lanes;
        let mut each = 1;
        let has_several = is_adjacent || of_threads && reduced.len() == 1;
        if takes_several::<I, O>() && has_several && items >= tile {
            // Threads enough for the device.
            let threads = vectors.saturating_mul(tiles) << log_threads;
            each = (threads / (2 * many.max(1)))
                .clamp(1, MOST_TILES)
                .min(tiles);
            tiles = tiles.div_ceil(each);
        }
        let most_vectors = THREADS.ilog2() - log_threads;
        // If a column has few tiles, one block has them all, and no partials are left for another launch. Not if too few
        // columns would be left for a block: it loads adjacent ones fast.
        let log_tiles = tiles.next_power_of_two().ilog2();
        let all_tiles = most_vectors.saturating_sub(log_tiles);
        let is_long = (width * I::BYTES) << all_tiles >= LONG_BYTES;
        let log_vectors = log_of_vectors.min(match of_threads && log_tiles > 0 && is_long {
            true => all_tiles,
            false => most_vectors,
        });
        // A warp combines its tile without the block.
        let is_of_block = width > 1 || of_threads || 1 << log_threads < LANES;
        let groups = vectors.div_ceil(1 << log_vectors);
        Self {
            columns,
            items,
            tiles,
            each,
            columns_multiplier: Dim::multiplier(columns),
            width: width as u64,
            vectors,
            groups,
            groups_multiplier: Dim::multiplier(groups),
            log_vectors,
            log_threads,
            log_lanes,
            is_across: of_threads.into(),
            kept: kept.len() as u32,
            dims: (kept.len() + reduced.len()) as u32,
            first: first_offset(kept, reduced) as u64,
            // Of a single dimension, the innermost, a step is a vector, whose items have stride 1.
            kept_stride: match kept {
                [_] if width > 1 => width as u64,
                _ => stride(kept.first()),
            },
            reduced_stride: stride(match is_in_runs {
                true => reduced.last(),
                false => reduced.first(),
            }),
            is_in_runs: is_in_runs.into(),
            is_adjacent: is_adjacent.into(),
            is_of_block: is_of_block.into(),
            words,
            round: 0,
            is_last: 0,
        }
    }

    /// The number of blocks of [`columns`].
    pub const fn blocks(&self) -> u32 {
        let (blocks, most) = match self.items <= FEW && self.width > 1 {
            true => {
                let vectors = VECTORS_OF_FEW as u64 * THREADS as u64;
                (self.vectors.div_ceil(vectors), MOST_BLOCKS_OF_FEW)
            }
            false => (self.jobs(), MOST_BLOCKS),
        };
        (if blocks < most { blocks } else { most }) as u32
    }

    /// The number of times that a block takes a group of vectors, and some tiles of each.
    const fn jobs(&self) -> u64 {
        self.groups * self.tiles.div_ceil(self.tiles_of_block())
    }

    /// The number of groups of tiles of each column that a block takes.
    const fn tiles_of_block(&self) -> u64 {
        (THREADS >> (self.log_vectors + self.log_threads)) as u64
    }

    /// The number of partials of a column, which is its result if there is one.
    pub const fn partials_of_column(&self) -> u64 {
        match self.is_of_block {
            0 => self.tiles,
            _ => self.tiles.div_ceil(self.tiles_of_block()),
        }
    }

    /// The shape of launch `round` of [`combine`], of [`rounds`](Self::rounds).
    pub const fn of_round(self, round: u64) -> Self {
        Self {
            round,
            is_last: (round + 1 == self.rounds()) as u64,
            ..self
        }
    }

    /// Whether an index of the columns or of their items has several dimensions.
    #[inline(always)]
    const fn has_several(&self) -> bool {
        self.kept > 1 || self.dims > self.kept + 1
    }

    /// The number of partials.
    pub const fn partials(&self) -> u64 {
        match self.partials_of_column() {
            1 => 0,
            partials => partials * self.columns,
        }
    }
}

/// Whether all distances are multiples of a vector's length.
fn is_in_vectors<'d>(mut dims: impl Iterator<Item = &'d Dim>, vector: usize) -> bool {
    dims.all(|dim| dim.stride.unsigned_abs().is_multiple_of(vector))
}

/// The number of adjacent columns in a vector: `most`, if all columns are in vectors of as many adjacent items. Half of it, if
/// as many columns are adjacent to their next items, so that a vector has two of each.
fn width<I: Items>(kept: &[Dim], reduced: &[Dim], most: usize) -> usize {
    let Some((inner, outer)) = kept.split_last() else {
        return 1;
    };
    if inner.stride != 1 {
        return 1;
    }
    if inner.len.is_multiple_of(most) && is_in_vectors(outer.iter().chain(reduced), most) {
        return most;
    }
    match reduced.split_last() {
        Some((pairs, others))
            if 2 * inner.len == most
                && I::VECTOR.is_multiple_of(2)
                && pairs.stride == inner.len as isize
                && pairs.len.is_multiple_of(2)
                && is_in_vectors(outer.iter().chain(others), most) =>
        {
            inner.len
        }
        _ => 1,
    }
}

/// Whether the items of each tile are adjacent, and begin at a multiple of a vector's length.
fn is_adjacent(kept: &[Dim], reduced: &[Dim], is_in_runs: bool, vector: usize) -> bool {
    let Some((inner, outer)) = reduced.split_last() else {
        return false;
    };
    let has_whole_tiles = is_in_runs || outer.is_empty();
    has_whole_tiles && inner.stride == 1 && is_in_vectors(kept.iter().chain(outer), vector)
}

/// Dimensions in shared memory, from the innermost on, without the outermost.
#[derive(Clone, Copy, Debug)]
struct Dims {
    words: Shared<u64>,
    /// The number of the innermost.
    first: u32,
    /// The number of the outermost.
    last: u32,
    /// The stride of the outermost.
    stride: usize,
}

impl Dims {
    /// The offset of an index in C order, modulo 2^64.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn offset(self, index: usize) -> usize {
        let (mut rest, mut offset, mut dim) = (index as u64, 0u64, self.first);
        while dim < self.last {
            let word = |i: u32| self.words.get(DIM_WORDS as u32 * dim + i);
            let len = word(0);
            let outer = Dim::divide(rest, len, word(1));
            offset = offset.wrapping_add((rest - outer * len).wrapping_mul(word(2)));
            rest = outer;
            dim += 1;
        }
        (offset as usize).wrapping_add((rest as usize).wrapping_mul(self.stride))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::op::Sum;

    #[test]
    fn adjacent_columns_of_two_tiles_need_one_launch() {
        let partials = |columns: usize, items: usize| {
            let dim = |len, stride| Dim { len, stride };
            let (kept, reduced) = (dim(columns, 1), dim(items, columns as isize));
            Shape::new::<f32, Sum>(&[kept], &[reduced]).partials()
        };
        let tile = items_of_tile::<f32>();
        assert_eq!(partials(1 << 17, tile), 0);
        assert_eq!(partials(1 << 17, 2 * tile), 0);
        assert_eq!(partials(1 << 17, 16 * tile), 16 << 17);
        // No vectors of columns: those of a block are too short.
        assert_eq!(partials((1 << 17) + 1, 2 * tile), 2 * ((1 << 17) + 1));
    }

    #[test]
    fn divisions_are_exact() {
        let most = (1 << 63) - 1;
        for len in [
            1,
            2,
            3,
            5,
            7,
            8,
            9,
            641,
            1 << 31,
            (1 << 31) + 1,
            (1 << 62) - 1,
            1 << 62,
            most,
        ] {
            let multiplier = Dim::multiplier(len);
            for near in [
                0,
                len,
                2 * (len / 2),
                most / len * len,
                most,
                12_345_678_901,
            ] {
                for index in [near.saturating_sub(1), near, near + 1] {
                    if index <= most {
                        let quotient = Dim::divide(index, len, multiplier);
                        assert_eq!(quotient, index / len, "{index} / {len}");
                    }
                }
            }
        }
    }
}
