//! Groups: the launches that find, number, combine and sort them, in the order of the library's calls, and the checks of their
//! results.

mod checks;
mod drawn;
mod parts;

pub use drawn::{Drawn, KINDS, Value, keys, spread_keys};
pub use parts::{PartSizes, keys_of_parts, largest_part};

use std::fmt;

use cuda_sim::{Buffer, Failure, Simulator};
use kernels_gpu::element::Element;
use kernels_gpu::entry::groups::{combine_of, of};
use kernels_gpu::entry::{Entry, Segments};
use kernels_gpu::groups::insert::{self, TILE};
use kernels_gpu::groups::sort::tiles_of;
use kernels_gpu::groups::{GroupKey, NONE, RADIX, State, THREADS};
use kernels_gpu::op::Op;
use kernels_gpu::warp::WARP_SIZE;

use crate::launch::{Array, launch};
use crate::runs::{Guarded, Wrong};

/// The key and the slot of each group, and the number of each slot.
type Listed<K> = (Vec<K>, Vec<u32>, Vec<u32>);

/// How often the table grew, and why.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Growth {
    /// The number of larger tables.
    pub tables: u32,
    /// The number of warps that have left tiles.
    pub stopped: u32,
}

/// The launches of a case.
#[derive(Clone, Debug)]
pub struct Launches {
    /// The simulator of each launch.
    pub simulator: Simulator,
    /// The blocks of each launch, where any number is right.
    pub blocks: u32,
    /// The threads of a block that puts keys into the table.
    pub threads: u32,
    /// Its bins.
    pub bins: usize,
    /// The slots of the first table.
    pub slots: usize,
    /// The slots among which a key is searched, if there are more.
    pub most_probes: u32,
    /// Entries that replace those of the library with the same names.
    pub entries: Vec<Entry>,
}

/// A table of keys, and the cells of their slots.
struct Inserted<K, T> {
    words: Vec<K>,
    cells: Vec<T>,
    state: Vec<u32>,
    growth: Growth,
}

impl Launches {
    fn run<O: Copy>(
        &self,
        entry: &Entry,
        blocks: u32,
        op: O,
        arrays: &[Array],
    ) -> Result<(), Failure> {
        self.run_in(
            self.simulator.clone().block(THREADS),
            entry,
            blocks,
            op,
            arrays,
        )
    }

    /// Runs in a simulator that has the threads of a block.
    fn run_in<O: Copy>(
        &self,
        simulator: Simulator,
        entry: &Entry,
        blocks: u32,
        op: O,
        arrays: &[Array],
    ) -> Result<(), Failure> {
        let simulator = simulator.grid(blocks);
        let mut replaced = self.entries.iter();
        let entry = replaced.find(|own| own.name == entry.name).unwrap_or(entry);
        // SAFETY: the callers pass arrays that exist, with the types and lengths that the kernel requires.
        unsafe { launch(entry, simulator, op, arrays) }.map(drop)
    }

    /// Finds the groups: the key of each, in any order, and the index of each item's group.
    fn group<K: GroupKey>(&self, keys: &[K]) -> Result<(Vec<K>, Vec<u32>, Growth), Wrong> {
        let row = of("group_insert", size_of::<K>()).expect("keys have 4 or 8 bytes");
        let inserted = self.insert::<K, u32, ()>(row, (), keys, None)?;
        let (unique, _, numbers) = self.list(&inserted)?;
        let keys = Buffer::from(keys);
        let words = Buffer::from(&inserted.words[..]);
        let numbers = Buffer::from(&numbers[..]);
        let indices = Guarded::new(keys.len(), size_of::<u32>());
        let row = of("group_number", size_of::<K>()).expect("as above");
        let arrays = [
            Array::new("keys", keys.as_ptr(), keys.len()),
            Array::new("words", words.as_ptr(), words.len()),
            Array::new("numbers", numbers.as_ptr(), numbers.len()),
            Array::new("indices", indices.start::<u32>(), keys.len()),
        ];
        self.run(row, self.blocks, (), &arrays)
            .map_err(Wrong::Findings)?;
        Ok((unique, indices.read(keys.len())?, inserted.growth))
    }

    /// Finds the groups and combines their values in one pass: the key of each, in any order, and its value.
    fn combine<K: GroupKey, T: Element, O: Segments<T> + Op<T, Acc = T>>(
        &self,
        op: O,
        keys: &[K],
        values: &[T],
    ) -> Result<(Vec<K>, Vec<T>, Growth), Wrong> {
        let row = combine_of(&O::ENTRIES[0], size_of::<K>()).expect("a row of the library");
        let inserted = self.insert(row, op, keys, Some((values, op.initial())))?;
        let (unique, slots, _) = self.list(&inserted)?;
        let to = self.gathered(&inserted.cells, &slots)?;
        Ok((unique, to, inserted.growth))
    }

    /// The values of the given indices.
    fn gathered<T: Element>(&self, from: &[T], indices: &[u32]) -> Result<Vec<T>, Wrong> {
        let len = indices.len();
        let (row, per_value) = words_of::<T>("gather");
        let (from, indices) = (Buffer::from(from), Buffer::from(indices));
        let to = Guarded::new(len, size_of::<T>());
        let arrays = [
            Array::new("from", from.as_ptr(), from.len() * per_value),
            Array::new("indices", indices.as_ptr(), indices.len()),
            Array::new("to", to.start::<T>(), len * per_value),
            Array::number("per_value", per_value as u64),
        ];
        self.run(row, self.blocks, (), &arrays)
            .map_err(Wrong::Findings)?;
        to.read(len)
    }

    /// Puts all keys into a table that grows, and combines their values.
    fn insert<K: GroupKey, T: Element, O: Copy>(
        &self,
        row: &Entry,
        op: O,
        keys: &[K],
        values: Option<(&[T], T)>,
    ) -> Result<Inserted<K, T>, Wrong> {
        let n = keys.len();
        let warps = (self.blocks * self.threads / WARP_SIZE) as usize;
        let most = (2 * n).next_power_of_two();
        let key_memory = Buffer::from(keys);
        let value_memory = values.map(|(values, _)| Buffer::from(values));
        let mut slots = self.slots;
        let mut words = vec![K::EMPTY; slots];
        let cells_of =
            |slots: usize| values.map_or(vec![], |(_, initial)| vec![initial; slots + 1]);
        let mut cells = cells_of(slots);
        let mut state = vec![0; State::WORDS];
        let mut rounds = vec![0u32; warps];
        let value_bytes = values.map_or(0, |_| size_of::<T>());
        let shared = insert::shared_bytes(self.bins, size_of::<K>(), value_bytes);
        let simulator = self.simulator.clone().block(self.threads);
        let simulator = simulator.dynamic_shared_memory(shared);
        let mut growth = Growth::default();
        loop {
            let most_probes = match slots >= most {
                true => slots as u32,
                false => self.most_probes.min(slots as u32),
            };
            let word_memory = Buffer::from(&words[..]);
            let cell_memory = Buffer::from(&cells[..]);
            let state_memory = Buffer::from(&state[..]);
            let round_memory = Buffer::from(&rounds[..]);
            let mut arrays = vec![
                Array::new("keys", key_memory.as_ptr(), n),
                Array::new("words", word_memory.as_ptr(), slots),
                Array::new("state", state_memory.as_ptr(), State::WORDS),
                Array::new("rounds", round_memory.as_ptr(), warps),
                Array::number("limit", slots as u64 / 2),
                Array::number("most_probes", most_probes.into()),
                Array::number("bins", self.bins as u64),
            ];
            if let Some(values) = &value_memory {
                arrays.push(Array::new("values", values.as_ptr(), n));
                arrays.push(Array::new("cells", cell_memory.as_ptr(), slots + 1));
            }
            self.run_in(simulator.clone(), row, self.blocks, op, &arrays)
                .map_err(Wrong::Findings)?;
            (words, cells) = (word_memory.to_vec(), cell_memory.to_vec());
            (state, rounds) = (state_memory.to_vec(), round_memory.to_vec());
            // Each warp finishes the tile with which it learns that there are too many, and a quarter may be untold.
            let most_claimed = slots / 2 + slots / 8 + warps * (TILE + WARP_SIZE as usize);
            if state[State::CLAIMED] as usize > most_claimed {
                let claimed = state[State::CLAIMED];
                return Err(Wrong::Results(format!(
                    "warps did not stop: {claimed} of {slots} slots are claimed"
                )));
            }
            growth.stopped += state[State::STOPPED];
            if state[State::STOPPED] == 0 {
                return Ok(Inserted {
                    words,
                    cells,
                    state,
                    growth,
                });
            }
            if slots >= most {
                return Err(Wrong::Results(format!("{n} keys fill {slots} slots")));
            }
            growth.tables += 1;
            let larger = slots * 2;
            let from = Buffer::from(&words[..]);
            let to = Buffer::from(&vec![K::EMPTY; larger]);
            let moved = Guarded::new(slots + 1, size_of::<u32>());
            let arrays = [
                Array::new("from", from.as_ptr(), slots),
                Array::new("to", to.as_ptr(), larger),
                Array::new("moved", moved.start::<u32>(), slots + 1),
            ];
            let row = of("group_rehash", size_of::<K>()).expect("keys have 4 or 8 bytes");
            self.run(row, self.blocks, (), &arrays)
                .map_err(Wrong::Findings)?;
            words = to.to_vec();
            if let Some((_, initial)) = values {
                cells = self.scattered(&cells, &moved.read(slots + 1)?, larger + 1, initial)?;
            }
            slots = larger;
            state[State::STOPPED] = 0;
        }
    }

    /// The values at other indices, such as the cells of a larger table.
    fn scattered<T: Element>(
        &self,
        cells: &[T],
        moved: &[u32],
        len: usize,
        initial: T,
    ) -> Result<Vec<T>, Wrong> {
        let (row, per_value) = words_of::<T>("scatter");
        let (from, indices) = (Buffer::from(cells), Buffer::from(moved));
        let to = Buffer::from(&vec![initial; len]);
        let arrays = [
            Array::new("from", from.as_ptr(), from.len() * per_value),
            Array::new("indices", indices.as_ptr(), indices.len()),
            Array::new("to", to.as_ptr(), len * per_value),
            Array::number("per_value", per_value as u64),
        ];
        self.run(row, self.blocks, (), &arrays)
            .map_err(Wrong::Findings)?;
        Ok(to.to_vec())
    }

    /// The key and the slot of each group, and the number of each slot.
    fn list<K: GroupKey, T>(&self, inserted: &Inserted<K, T>) -> Result<Listed<K>, Wrong> {
        let slots = inserted.words.len();
        let state = &inserted.state;
        let groups = state[State::CLAIMED] as usize + usize::from(state[State::HAS_EMPTY] != 0);
        let words = Buffer::from(&inserted.words[..]);
        let state = Buffer::from(&state[..]);
        let unique = Guarded::new(groups, size_of::<K>());
        let of_groups = Guarded::new(groups, size_of::<u32>());
        let numbers = Buffer::from(&vec![NONE; slots + 1]);
        let arrays = [
            Array::new("words", words.as_ptr(), slots),
            Array::new("state", state.as_ptr(), State::WORDS),
            Array::new("unique", unique.start::<K>(), groups),
            Array::new("slots", of_groups.start::<u32>(), groups),
            Array::new("numbers", numbers.as_ptr(), slots + 1),
        ];
        let row = of("group_list", size_of::<K>()).expect("keys have 4 or 8 bytes");
        self.run(row, self.blocks, (), &arrays)
            .map_err(Wrong::Findings)?;
        match state.to_vec()[State::LISTED] as usize == groups {
            true => Ok((
                unique.read(groups)?,
                of_groups.read(groups)?,
                numbers.to_vec(),
            )),
            false => Err(Wrong::Runs(state.to_vec()[State::LISTED].into())),
        }
    }

    /// Sorts the keys by all bits from `shifts` on, with their indices.
    fn sort<K: GroupKey>(
        &self,
        keys: &[K],
        flip: u64,
        shifts: &[u32],
    ) -> Result<(Vec<K>, Vec<u32>), Wrong> {
        let (n, tiles) = (keys.len(), tiles_of::<K>(keys.len()));
        let (mut keys, mut payloads) = (keys.to_vec(), vec![]);
        let find = |kernel| of(kernel, size_of::<K>()).expect("keys have 4 or 8 bytes");
        for shift in shifts {
            let from = Buffer::from(&keys[..]);
            let payloads_in = Buffer::from(&payloads[..]);
            let counts = Guarded::new(tiles * RADIX as usize, size_of::<u32>());
            let totals = Guarded::new(RADIX as usize, size_of::<u32>());
            let keys_out = Guarded::new(n, size_of::<K>());
            let payloads_out = Guarded::new(n, size_of::<u32>());
            let arrays = [
                Array::new("keys", from.as_ptr(), n),
                Array::new("payloads", payloads_in.as_ptr(), payloads.len()),
                Array::new("counts", counts.start::<u32>(), tiles * RADIX as usize),
                Array::new("totals", totals.start::<u32>(), RADIX as usize),
                Array::new("keys_out", keys_out.start::<K>(), n),
                Array::new("payloads_out", payloads_out.start::<u32>(), n),
                Array::number("shift", (*shift).into()),
                Array::number("flip", flip),
            ];
            let scan = of("sort_scan", size_of::<u32>()).expect("it has one row");
            for (row, blocks) in [
                (find("sort_count"), tiles as u32),
                (scan, RADIX),
                (find("sort_scatter"), tiles as u32),
            ] {
                self.run(row, blocks, (), &arrays)
                    .map_err(Wrong::Findings)?;
            }
            counts.read::<u32>(0)?;
            totals.read::<u32>(0)?;
            (keys, payloads) = (keys_out.read(n)?, payloads_out.read(n)?);
        }
        Ok((keys, payloads))
    }

    /// The sums before each count of the first `digits` digits, and the sums of all.
    fn scanned(&self, counts: &[u32], digits: u32) -> Result<(Vec<u32>, Vec<u32>), Wrong> {
        let len = counts.len();
        let (counts, totals) = (
            Buffer::from(counts),
            Guarded::new(RADIX as usize, size_of::<u32>()),
        );
        let arrays = [
            Array::new("counts", counts.as_ptr(), len),
            Array::new("totals", totals.start::<u32>(), RADIX as usize),
        ];
        let row = of("sort_scan", size_of::<u32>()).expect("it has one row");
        self.run(row, digits, (), &arrays)
            .map_err(Wrong::Findings)?;
        Ok((counts.to_vec(), totals.read(digits as usize)?))
    }

    /// The positions of the indices, which are a permutation.
    fn inverted(&self, indices: &[u32]) -> Result<Vec<u32>, Wrong> {
        let n = indices.len();
        let (indices, to) = (Buffer::from(indices), Guarded::new(n, size_of::<u32>()));
        let arrays = [
            Array::new("indices", indices.as_ptr(), n),
            Array::new("to", to.start::<u32>(), n),
        ];
        let row = of("invert", size_of::<u32>()).expect("it has one row");
        self.run(row, self.blocks, (), &arrays)
            .map_err(Wrong::Findings)?;
        to.read(n)
    }

    /// `n` words of the same value.
    fn filled<W: Element + Into<u64>>(&self, value: W, n: usize) -> Result<Vec<W>, Wrong> {
        let to = Guarded::new(n, size_of::<W>());
        let arrays = [
            Array::new("to", to.start::<W>(), n),
            Array::number("value", value.into()),
        ];
        let row = of("fill", size_of::<W>()).expect("a word has 1, 2, 4 or 8 bytes");
        self.run(row, self.blocks, (), &arrays)
            .map_err(Wrong::Findings)?;
        to.read(n)
    }
}

/// The row that moves values of type `T` by words, and the words of a value.
fn words_of<T>(kernel: &str) -> (&'static Entry, usize) {
    let word = size_of::<T>().min(8);
    let row = of(kernel, word).expect("a word has 1, 2, 4 or 8 bytes");
    (row, size_of::<T>() / word)
}

impl fmt::Display for Growth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} larger tables, {} warps stopped",
            self.tables, self.stopped
        )
    }
}
