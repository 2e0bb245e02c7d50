//! A launch of an entry that reduces by key: its data, its memory, and the check of its cells.

pub mod keys;

use std::fmt;

use cuda_sim::{Buffer, Report, Simulator};
use kernels_gpu::entry::Entry;
use kernels_gpu::keyed::{Key, Rejected};
use kernels_gpu::op::{Max, Min, Sum};

use crate::data::Data;
use crate::launch::{Array, bytes_of, launch};
use crate::oracle::{Oracle, Subject, close, same};
use crate::wrong::Wrong;
pub use keys::{KeySubject, Keys};

/// Elements on both sides of the cells, which no kernel may access.
pub(crate) const MARGIN: usize = 3;

/// The initial value of the count of rejected elements.
pub(crate) const REJECTED_BEFORE: u64 = 5;

/// A launch of an entry of the keyed table with random data.
#[derive(Clone, Copy, Debug)]
pub struct Keyed {
    /// The entry. For a mutant, `Entry { function, ..entry }`.
    pub entry: Entry,
    /// Threads per block.
    pub threads: u32,
    /// The number of blocks: at least as many as needed.
    pub blocks: u32,
    /// The number of elements.
    pub n: usize,
    /// The distribution of the keys.
    pub keys: Keys,
    /// The type of the keys: that of the entry, or for `u32` also `u8` or `i16`.
    pub key: &'static str,
    /// The offset of the keys in their memory in elements; the memory is aligned to 256 bytes.
    pub keys_start: usize,
    /// The offset of the values.
    pub values_start: usize,
    /// The kind of values.
    pub data: Data,
    /// The seed of the data.
    pub seed: u64,
}

/// The error of a launch.
pub type WrongKeyed = Wrong<Keyed>;

impl Keyed {
    /// A launch of the smallest grid, with random elements from aligned addresses.
    pub fn new(entry: Entry, threads: u32, n: usize) -> Self {
        let blocks = entry.needs.fewest_blocks(n as u64, threads).max(1);
        Self {
            entry,
            threads,
            blocks: blocks.try_into().expect("fewer than 2^32 blocks"),
            n,
            keys: Keys::Random,
            key: entry.key,
            keys_start: 0,
            values_start: 0,
            data: Data::Rough,
            seed: 0,
        }
    }

    /// Launches the entry and checks the result.
    ///
    /// # Errors
    ///
    /// The error of the launch.
    pub fn run(&self, simulator: Simulator) -> Result<Report, WrongKeyed> {
        macro_rules! by_op {
            ($key:ident $element:ident) => {
                match self.entry.op {
                    "sum" => self.launch::<$key, $element, Sum>(simulator),
                    "min" => self.launch::<$key, $element, Min>(simulator),
                    "max" => self.launch::<$key, $element, Max>(simulator),
                    _ => Err(self.no_oracle()),
                }
            };
        }
        macro_rules! by_element {
            ($key:ident) => {
                match self.entry.items {
                    "f32" => by_op!($key f32),
                    "f64" => by_op!($key f64),
                    "i32" => by_op!($key i32),
                    "i64" => by_op!($key i64),
                    "u64" => by_op!($key u64),
                    _ => Err(self.no_oracle()),
                }
            };
        }
        match (self.entry.key, self.key) {
            ("u32", "u8") => by_element!(u8),
            ("u32", "i16") => by_element!(i16),
            ("u32", "u32") => by_element!(u32),
            ("u64", "u64") => by_element!(u64),
            _ => Err(self.no_oracle()),
        }
    }

    fn no_oracle(&self) -> WrongKeyed {
        WrongKeyed::NoOracle {
            entry: self.entry.name,
        }
    }

    fn launch<K: KeySubject, T: Subject, O: Oracle<T>>(
        &self,
        simulator: Simulator,
    ) -> Result<Report, WrongKeyed> {
        let several = self.entry.arrays;
        let (keys, cells) = self.keys.draw::<K>(self.n, self.seed);
        let before = vec![keys.first().copied().unwrap_or(K::new(0)); self.keys_start];
        let key_memory = [before, keys.clone()].concat();
        // No margin after the arrays, so that an access there is found.
        let values = several * self.n;
        let value_memory = self.data.draw::<T>(self.values_start + values, self.seed);
        let values = &value_memory[self.values_start..];
        // Every second cell has an old value; the margins of the cells must not change.
        let drawn = Data::Rough.draw::<T>(MARGIN + several * cells + MARGIN, !self.seed);
        let is_cell = |i: usize| (MARGIN..MARGIN + several * cells).contains(&i);
        let cell_memory: Vec<T> = (0..drawn.len())
            .map(|i| match is_cell(i) && i % 2 == 0 {
                true => O::OP.identity(),
                false => drawn[i],
            })
            .collect();

        let key_buffer = Buffer::from(&key_memory);
        let value_buffer = Buffer::from(&value_memory);
        let cell_buffer = Buffer::from(&cell_memory);
        let rejected_buffer = Buffer::from(&[REJECTED_BEFORE, Rejected::NONE]);
        let arrays = [
            Array::new(
                "keys",
                key_buffer.as_ptr().wrapping_add(self.keys_start),
                self.n * size_of::<K>(),
            ),
            Array::new(
                "values",
                value_buffer.as_ptr().wrapping_add(self.values_start),
                values.len(),
            ),
            Array::new(
                "cells",
                cell_buffer.as_ptr().wrapping_add(MARGIN),
                several * cells,
            ),
            Array::new("rejected", rejected_buffer.as_ptr(), Rejected::LEN),
            Array::number("key_bytes", size_of::<K>() as u64),
            Array::number("below", K::MOST_CELLS.min(cells as u64)),
        ];
        let case = Box::new(*self);
        let simulator = simulator.grid(self.blocks).block(self.threads);
        // SAFETY: the arrays exist and have the entry's types, which `run` selects by name; each array has as
        // many values as there are keys.
        let launched = unsafe { launch(&self.entry, simulator, O::OP, &arrays) };
        let report = match launched {
            Ok(report) => report,
            Err(failure) => return Err(WrongKeyed::Findings { case, failure }),
        };
        let after = cell_buffer.to_vec();
        let checked = (0..after.len())
            .filter(|&i| !is_cell(i))
            .find(|&i| !same(after[i], cell_memory[i]))
            .map_or(Ok(()), |i| {
                Err(format!("element {i} of the cells' margins changed"))
            })
            .and_then(|()| {
                let cell_values = &cell_memory[MARGIN..][..several * cells];
                self.check::<K, T, O>(&keys, values, cell_values, &after[MARGIN..])
            })
            .and_then(|()| check_rejected(&keys, cells, &rejected_buffer.to_vec()))
            .and_then(|()| {
                let changed = |what: &str| Err(format!("the {what} changed"));
                if key_buffer.to_vec() != key_memory {
                    changed("keys")
                } else if bytes_of(&value_buffer.to_vec()) != bytes_of(&value_memory) {
                    changed("values")
                } else {
                    Ok(())
                }
            });
        match checked {
            Ok(()) => Ok(report),
            Err(what) => Err(WrongKeyed::Answer { case, what }),
        }
    }

    /// Compares the cells with those of a naive loop.
    fn check<K: Key, T: Subject, O: Oracle<T>>(
        &self,
        keys: &[K],
        values: &[T],
        before: &[T],
        after: &[T],
    ) -> Result<(), String> {
        let cells = before.len() / self.entry.arrays;
        let mut collected: Vec<Vec<T>> = before.iter().map(|value| vec![*value]).collect();
        for (i, value) in values.iter().enumerate() {
            let (array, cell) = (i / self.n, keys[i % self.n].cell());
            if cell < cells {
                collected[array * cells + cell].push(*value);
            }
        }
        for (cell, values) in collected.iter().enumerate() {
            // Additions in any order: one for each value, and for each identity in between.
            let chain = match self.data {
                Data::Whole => 2.0,
                _ => 2.0 * values.len() as f64,
            };
            close(after[cell], &O::expected(values), chain)
                .map_err(|wrong| format!("cell {cell} of {}: {wrong}", collected.len()))?;
        }
        Ok(())
    }
}

/// Compares the number of rejected elements, and the index of the first, with those of a naive loop.
pub(crate) fn check_rejected<K: Key>(
    keys: &[K],
    cells: usize,
    after: &[u64],
) -> Result<(), String> {
    let is_rejected = |key: &K| key.cell() >= cells;
    let rejected = keys.iter().filter(|key| is_rejected(key)).count() as u64;
    let first = keys.iter().position(is_rejected);
    let first = first.map_or(Rejected::NONE, |first| first as u64);
    match [after[0] - REJECTED_BEFORE, after[1]] {
        got if got == [rejected, first] => Ok(()),
        [got, at] => Err(format!(
            "{got} elements were rejected, from {at} on, not {rejected} from {first} on"
        )),
    }
}

impl fmt::Display for Keyed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            entry,
            threads,
            blocks,
            n,
            keys,
            key,
            keys_start,
            values_start,
            data,
            seed,
        } = self;
        write!(
            f,
            "{}, {blocks} blocks of {threads} threads, n = {n}, {keys:?} keys of {key} from {keys_start}, \
             {data:?} from {values_start} of seed {seed}",
            entry.name
        )
    }
}
