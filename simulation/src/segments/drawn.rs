//! Random segments of random items, and the check of their results.

use kernels_gpu::entry::{Entry, SinglePass};
use kernels_gpu::items::Items;
use kernels_gpu::segments::window_of;
use kernels_gpu::tile::items_of_tile;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::{Input, Parts, Wrong, whole};
use crate::data::{Data, DrawnItems};

/// The kinds of segments.
pub const KINDS: u64 = 15;

/// The kind of rows that begin with a vector and go without windows.
const WHOLE_ROWS: u64 = KINDS - 1;

/// The segments that are compared, if there are more.
const COMPARED: usize = 40;

/// A case: segments, their items, and some items before and behind them.
pub struct Drawn {
    /// The items.
    pub input: Input,
    /// The segments.
    pub parts: Parts,
    /// Where each segment starts, and where the last one ends.
    offsets: Vec<i64>,
    n: i64,
    with: fn(Vec<i64>) -> Parts,
    random: StdRng,
}

impl Drawn {
    /// Draws a case of a kind for an entry.
    pub fn draw<I: DrawnItems>(entry: &Entry, kind: u64, seed: u64) -> Self {
        let mut random = StdRng::seed_from_u64(seed);
        let lens = lens::<I>(&mut random, kind);
        let mut offsets = vec![random.random_range(0..2) * random.random_range(0..1500)];
        for len in &lens {
            offsets.push(offsets[offsets.len() - 1] + *len as i64);
        }
        let behind = random.random_range(0..2) * random.random_range(0..20);
        let mut n = offsets[lens.len()] as usize + behind;
        let is_whole = kind == WHOLE_ROWS;
        let is_rows = is_whole || random.random_range(0..5) == 0 && lens[0] > 0;
        let kind_of_rows = random.random_range(u64::from(is_whole)..3);
        let (rows, len) = match kind_of_rows {
            0 => (lens.len().min(40), lens[0]),
            // Some of a vector's items, for several vectors of each thread.
            1 => (random.random_range(1..9000), random.random_range(1..6)),
            // A power of two of vectors, up to a tile, and a bit more than a few tiles of them.
            _ => {
                let len = I::VECTOR
                    << random.random_range(1..=(items_of_tile::<I>() / I::VECTOR).ilog2());
                let most = 3 * items_of_tile::<I>() / len + 2;
                (random.random_range(1..most), len)
            }
        };
        if is_rows {
            n = rows * len;
            offsets = (0..=rows).map(|row| (row * len) as i64).collect();
        }
        // Several arrays with the same alignment, or with others.
        let mut start = random.random_range(0..5);
        let mut apart = random.random_range(0..2) * random.random_range(0..4);
        if is_whole || is_rows && kind_of_rows == 2 && random.random() {
            (start, apart) = (0, 0);
        }
        let data = [Data::Rough, Data::Rough, Data::Zeroes][random.random_range(0..3)];
        let starts = [start, start + apart, start];
        let input = Input::draw::<I>(entry, data, starts, n, seed);
        let with = match random.random_range(0..3) {
            0 => Parts::U32,
            1 => Parts::I32,
            _ => Parts::Wide,
        };
        let parts = match is_rows {
            true => Parts::Rows(len),
            false => with(offsets.clone()),
        };
        Self {
            input,
            parts,
            offsets,
            n: n as i64,
            with,
            random,
        }
    }

    /// Whether each of the accumulators, or of many of them, has the bits of the single-pass kernel for its items.
    ///
    /// # Errors
    ///
    /// Which segment is wrong.
    pub fn check<I: Items, O: SinglePass<I>>(
        &mut self,
        op: O,
        accumulators: &[Vec<u8>],
    ) -> Result<(), String> {
        let count = accumulators.len();
        for compared in 0..count.min(COMPARED) {
            let segment = match (count <= COMPARED, compared) {
                (true, _) => compared,
                (_, 0 | 1) => compared * (count - 1),
                _ => self.random.random_range(0..count),
            };
            let (from, to) = (
                self.offsets[segment] as usize,
                self.offsets[segment + 1] as usize,
            );
            let wanted = whole::<I, O>(op, &self.input, from, to - from)
                .map_err(|failure| failure.to_string())?;
            let got = &accumulators[segment];
            if *got != wanted {
                return Err(format!(
                    "segment {segment} of {count}, items {from} to {to} of {}: {got:?} instead of {wanted:?}",
                    self.n,
                ));
            }
        }
        Ok(())
    }

    /// Makes some offsets bad; the first of them, or `None` if all are good by chance. Rows have no offsets, and stay.
    pub fn spoil(&mut self) -> Option<u64> {
        if matches!(self.parts, Parts::Rows(_)) {
            return None;
        }
        let Self {
            offsets, n, random, ..
        } = self;
        let (n, count) = (*n, offsets.len());
        match random.random_range(0..5) {
            0 => offsets.fill_with(|| random.random_range(-5..n + 5)),
            _ => {
                for _ in 0..random.random_range(1..3) {
                    // The first and the last offset are checked by other code than those between.
                    let index = match random.random_range(0..4) {
                        0 => 0,
                        1 => count - 1,
                        _ => random.random_range(0..count),
                    };
                    offsets[index] = match random.random_range(0..4) {
                        0 => random.random_range(-3..0),
                        1 => n + random.random_range(1..1000),
                        2 => random.random_range(0..=n),
                        _ => i32::MAX.into(),
                    };
                }
            }
        }
        self.parts = (self.with)(self.offsets.clone());
        let value = |index: usize| match self.parts {
            Parts::U32(_) => i64::from(self.offsets[index] as u32),
            _ => self.offsets[index],
        };
        let is_bad = |&index: &usize| {
            let offset = value(index);
            offset < 0 || offset > n || (index > 0 && offset < value(index - 1))
        };
        (0..count).find(is_bad).map(|index| index as u64)
    }

    /// Whether a reduction of spoiled offsets ended as it must: with the first bad one.
    ///
    /// # Errors
    ///
    /// How it ended instead; findings of the simulator as themselves.
    pub fn check_spoiled(
        &self,
        first_bad: Option<u64>,
        ended: Result<Vec<Vec<u8>>, Wrong>,
    ) -> Result<(), Wrong> {
        match (ended, first_bad) {
            (Ok(_), None) => Ok(()),
            (Err(Wrong::BadOffset(got)), Some(first)) if got == first => Ok(()),
            (Ok(_), Some(first)) => Err(Wrong::Missed(first)),
            (Err(wrong), _) => Err(wrong),
        }
    }
}

fn lens<I: Items>(random: &mut StdRng, kind: u64) -> Vec<usize> {
    let tile = items_of_tile::<I>();
    let few = random.random_range(1..40);
    let (count, len): (_, &dyn Fn(&mut StdRng) -> usize) = match kind {
        0 => (few + 900, &|_| 1),
        1 => (few + 900, &|random| random.random_range(0..3)),
        2 => (few + 2 * window_of::<I>(), &|_| 0),
        3 => (few + 300, &|random| random.random_range(0..9)),
        4 => (few, &|random| random.random_range(0..33)),
        5 => (few, &|random| random.random_range(0..300)),
        6 => (few, &|random| I::VECTOR * random.random_range(0..40)),
        7 => (few.min(9), &|random| random.random_range(0..tile + 2)),
        8 => (few.min(6), &|random| {
            random.random_range(tile - 1..tile + 2)
        }),
        9 => (few.min(6), &|random| random.random_range(0..3 * tile)),
        10 => (few, &|random| match random.random_range(0..12) {
            0 => random.random_range(0..5 * tile),
            _ => random.random_range(0..9),
        }),
        11 => (few.min(5), &|random| {
            random.random_range(3 * tile..9 * tile)
        }),
        12 => (random.random_range(1..3), &|random| {
            // The last tile lacks a few items.
            random.random_range(2..4) * tile - random.random_range(0..4)
        }),
        _ => (few, &|random| {
            2f64.powf(random.random_range(0.0..11.0)) as usize - 1
        }),
    };
    (0..count).map(|_| len(random)).collect()
}
