//! Random columns of random items, and the check of their results.

use kernels_gpu::axes::Dim;
use kernels_gpu::entry::{Entry, SinglePass};
use kernels_gpu::items::Items;
use kernels_gpu::tile::items_of_tile;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};

use crate::data::{Data, DrawnItems};
use crate::segments::{Input, whole};

/// The kinds of cases.
pub const KINDS: u64 = 11;

/// The kind of columns of which few threads have several vectors each.
const OF_FEW_THREADS: u64 = 1;

/// The kind of tiles in runs of an array in C order.
const IN_C_ORDER: u64 = 10;

/// The columns of a case that are compared, if it has more.
const COMPARED: usize = 24;

/// The most adjacent columns of a vector.
const VECTOR: usize = 4;

/// A case: dimensions, and an array whose strides have any order and sign, with gaps, or are 0.
pub struct Drawn {
    /// The items.
    pub input: Input,
    /// The dimensions that are kept.
    pub kept: Vec<Dim>,
    /// The dimensions that are reduced.
    pub reduced: Vec<Dim>,
    /// The number of threads from which on a thread combines several lanes.
    pub many: u64,
    /// The most blocks of a launch: with few, a block reduces several groups of columns.
    pub most_blocks: u32,
    random: StdRng,
}

impl Drawn {
    /// Draws a case of a kind for an entry.
    pub fn draw<I: DrawnItems>(entry: &Entry, kind: u64, seed: u64) -> Self {
        let mut random = StdRng::seed_from_u64(seed);
        let (mut kept, reduced) = lens::<I>(&mut random, kind);
        // Often, the innermost kept dimension is in vectors of adjacent columns.
        let in_vectors = kind != IN_C_ORDER && random.random();
        let is_pair = kept.as_slice() == [2];
        if let Some(inner) = kept.last_mut().filter(|_| in_vectors && !is_pair) {
            *inner = inner.next_multiple_of(VECTOR);
        }
        let first = kept.len().checked_sub(1).filter(|_| in_vectors);
        let lens = [kept.as_slice(), &reduced].concat();
        let tiles = lens.iter().product::<usize>() / items_of_tile::<I>();
        let (mut dims, n) = strides(&mut random, &lens, first, kind == IN_C_ORDER);
        let reduced = dims.split_off(kept.len());
        // Several arrays with the same alignment, or with others.
        let start = match in_vectors || kind == IN_C_ORDER {
            true => random.random_range(0..2) * random.random_range(0..5),
            false => random.random_range(0..5),
        };
        let apart = random.random_range(0..2) * random.random_range(0..4);
        // Which of equal items an operator selects shows only if there are equal ones; but these hide that a tile is left out.
        let has_equals = entry.op.starts_with("arg_") && kind != IN_C_ORDER;
        let data = match has_equals {
            // Here, the first of equal items and others are often of the same thread.
            true if kind == OF_FEW_THREADS => Data::Whole,
            true => {
                [Data::Rough, Data::Rough, Data::Whole, Data::Zeroes][random.random_range(0..4)]
            }
            false => [Data::Rough, Data::Rough, Data::Zeroes][random.random_range(0..3)],
        };
        let starts = [start, start + apart, start];
        Self {
            input: Input::draw::<I>(entry, data, starts, n, seed),
            kept: dims,
            reduced,
            // Often 1: a thread has as many lanes as it can.
            many: match kind {
                // One to five tiles of a warp.
                IN_C_ORDER => 16 * tiles.div_ceil(random.random_range(1..=5)) as u64,
                _ => 1 << (random.random_range(0..2) * random.random_range(0..=18)),
            },
            most_blocks: [1, 2, 3, u32::MAX][random.random_range(0..4)],
            random,
        }
    }

    /// Whether each of the accumulators, or of many of them, has the bits of the single-pass kernel for its items.
    ///
    /// # Errors
    ///
    /// Which column is wrong.
    pub fn check<I: Items, O: SinglePass<I>>(
        &mut self,
        op: O,
        accumulators: &[Vec<u8>],
    ) -> Result<(), String> {
        let Self {
            input,
            kept,
            reduced,
            random,
            ..
        } = self;
        let count = accumulators.len();
        let items: usize = reduced.iter().map(|dim| dim.len).product();
        for compared in 0..count.min(COMPARED) {
            let column = match (count <= COMPARED, compared) {
                (true, _) => compared,
                (_, 0 | 1) => compared * (count - 1),
                _ => random.random_range(0..count),
            };
            let base = start_of(kept) + start_of(reduced) + offset(kept, column);
            let indices = (0..items).map(|i| (base + offset(reduced, i)) as usize);
            let indices: Vec<usize> = indices.collect();
            let wanted = whole::<I, O>(op, &input.gathered(&indices), 0, items)
                .map_err(|failure| failure.to_string())?;
            if accumulators[column] != wanted {
                return Err(format!(
                    "column {column} of {kept:?}, reduced {reduced:?}: {:?} instead of {wanted:?}",
                    accumulators[column],
                ));
            }
        }
        Ok(())
    }
}

/// The lengths of the kept and of the reduced dimensions.
fn lens<I: Items>(random: &mut StdRng, kind: u64) -> (Vec<usize>, Vec<usize>) {
    let tile = items_of_tile::<I>();
    let mut few = |most: usize| random.random_range(1..=most);
    match kind {
        // Many short columns.
        0 => (vec![few(900)], vec![few(9)]),
        OF_FEW_THREADS => (vec![few(40)], vec![few(300)]),
        // Several tiles.
        2 => (vec![few(12)], vec![tile + few(2 * tile)]),
        // Tiles in runs.
        3 => (vec![few(3)], vec![few(3), tile]),
        // Ends of tiles.
        4 => (vec![few(3), few(3)], vec![tile - 2 + few(4)]),
        // One column, or items of one column each.
        5 => match few(2) {
            1 => (vec![], vec![few(5), few(tile / 3)]),
            _ => (vec![few(50), few(5)], vec![]),
        },
        _ => {
            let mut dims = |count: usize, most: usize| (0..count).map(|_| few(most)).collect();
            match kind {
                6 => (dims(2, 6), dims(3, 9)),
                7 => (dims(4, 3), dims(4, 4)),
                // So many columns of so few items that a thread takes several vectors of them.
                8 => (vec![3_300 + few(900)], vec![1 + few(3)]),
                // If their number is even, a vector has two items of two columns.
                9 => (vec![2], vec![few(2 * tile)]),
                _ => (vec![few(3)], vec![3 + few(6), tile]),
            }
        }
    }
}

/// Strides for these lengths in any order, some with gaps or 0, and the number of items that they span. Dimension `first`, if
/// there is one, has the smallest stride, and the others those of vectors.
fn strides(
    random: &mut StdRng,
    lens: &[usize],
    first: Option<usize>,
    in_c_order: bool,
) -> (Vec<Dim>, usize) {
    let mut order: Vec<usize> = (0..lens.len()).collect();
    match random.random_range(0..3) {
        _ if in_c_order => order.reverse(),
        0 => order.reverse(),
        1 => {}
        _ => order.shuffle(random),
    }
    let mut unit = 1;
    if let Some(first) = first {
        order.retain(|axis| *axis != first);
        order.insert(0, first);
        unit = VECTOR;
    }
    let mut dims = vec![Dim { len: 1, stride: 0 }; lens.len()];
    let backwards = [0.0, 0.5, 1.0][random.random_range(0..3)];
    let (mut stride, mut last) = (1, 0);
    for axis in order {
        let len = lens[axis];
        let own = match random.random_range(0..12) {
            _ if Some(axis) == first => 1,
            _ if in_c_order => stride,
            0 => 0,
            1 => stride + random.random_range(0..3) * unit,
            _ => stride,
        };
        // Vectors have no backward items.
        let is_backward = !in_c_order && Some(axis) != first && random.random_bool(backwards);
        let sign = if is_backward { -1 } else { 1 };
        dims[axis] = Dim {
            len,
            stride: sign * own as isize,
        };
        last += (len - 1) * own;
        stride = stride.max(own * len);
    }
    (dims, last + 1)
}

/// The offset of index `index` in C order.
fn offset(dims: &[Dim], mut index: usize) -> isize {
    let mut offset = 0;
    for dim in dims.iter().rev() {
        offset += (index % dim.len) as isize * dim.stride;
        index /= dim.len;
    }
    offset
}

/// The index of the item at index 0 of all dimensions, behind those of backward dimensions.
fn start_of(dims: &[Dim]) -> isize {
    let lowest = dims
        .iter()
        .map(|dim| (dim.len as isize - 1) * dim.stride.min(0));
    -lowest.sum::<isize>()
}
