//! Groups by parts: the launches in the order of the library's call, and the checks of their results.

use std::collections::{BTreeMap, BTreeSet};

use cuda_sim::{Buffer, Simulator};
use kernels_gpu::element::Element;
use kernels_gpu::entry::Segments;
use kernels_gpu::entry::groups::{collect_of, of};
use kernels_gpu::groups::GroupKey;
use kernels_gpu::groups::parts::{PARTS, Parts, collect, part_of, sample, split};
use kernels_gpu::op::Op;
use kernels_gpu::warp::WARP_SIZE;

use super::Launches;
use super::checks::compared;
use crate::launch::Array;
use crate::runs::{Guarded, Wrong};

/// The sizes of a case.
#[derive(Clone, Copy, Debug)]
pub struct PartSizes {
    /// The most pairs of a part.
    pub capacity: usize,
    /// The bins of a block.
    pub bins: usize,
}

/// The groups, or `None` if a part has too many pairs or keys.
type Collected<T> = Option<(Vec<u32>, Vec<T>)>;

impl Launches {
    /// The simulator for blocks of so many threads, with dynamic shared memory that a device allows only on request.
    fn with_memory(&self, threads: u32, bytes: usize) -> Simulator {
        let simulator = self.simulator.clone().shared_memory_limit(96 << 10);
        simulator.block(threads).dynamic_shared_memory(bytes)
    }

    /// Combines the values of each group by parts. Parts behind the last one with a pair have no block.
    fn by_parts<T: Element, O: Segments<T> + Op<T, Acc = T>>(
        &self,
        op: O,
        keys: &[u32],
        values: &[T],
        PartSizes { capacity, bins }: PartSizes,
    ) -> Result<Collected<T>, Wrong> {
        let n = keys.len();
        let used = keys.iter().map(|key| part_of(*key) + 1).max();
        let used = used.expect("there are keys");
        let (keys, values) = (Buffer::from(keys), Buffer::from(values));
        let pairs = Guarded::new(PARTS as usize * capacity, size_of::<u64>());
        let parts = Buffer::from(&[0u32; Parts::WORDS]);
        let simulator = self.with_memory(split::THREADS, split::SHARED_BYTES);
        let arrays = [
            Array::new("keys", keys.as_ptr(), n),
            Array::new("values", values.as_ptr(), n),
            Array::new("pairs", pairs.start::<u64>(), PARTS as usize * capacity),
            Array::new("parts", parts.as_ptr(), Parts::WORDS),
            Array::number("capacity", capacity as u64),
        ];
        let row = of("group_split", size_of::<u32>()).expect("it has one row");
        let tiles = n.div_ceil(split::TILE) as u32;
        self.run_in(simulator, row, tiles, (), &arrays)
            .map_err(Wrong::Findings)?;
        pairs.read::<u64>(0)?;

        let most = used as usize * (bins + 1);
        let unique = Guarded::new(most, size_of::<u32>());
        let results = Guarded::new(most, size_of::<T>());
        let simulator = self.with_memory(collect::THREADS, collect::shared_bytes(bins));
        let arrays = [
            Array::new("pairs", pairs.start::<u64>(), PARTS as usize * capacity),
            Array::new("parts", parts.as_ptr(), Parts::WORDS),
            Array::new("unique", unique.start::<u32>(), most),
            Array::new("results", results.start::<T>(), most),
            Array::number("capacity", capacity as u64),
            Array::number("bins", bins as u64),
        ];
        let row = collect_of(&O::ENTRIES[0], size_of::<u32>()).expect("a row of the library");
        self.run_in(simulator, row, used, op, &arrays)
            .map_err(Wrong::Findings)?;
        let words = parts.to_vec();
        let groups = words[Parts::GROUPS] as usize;
        let found = (unique.read(groups)?, results.read(groups)?);
        Ok((words[Parts::LOST] == 0).then_some(found))
    }

    /// Whether the groups of all parts have every key once, with its combined values. If a part has more pairs than its capacity,
    /// or more keys than bins, that must be found.
    ///
    /// # Errors
    ///
    /// What is wrong.
    pub fn check_parts<T: Element, O: Segments<T> + Op<T, Acc = T>>(
        &self,
        op: O,
        keys: &[u32],
        values: &[T],
        sizes: PartSizes,
    ) -> Result<(), Wrong> {
        let mut wanted = BTreeMap::new();
        let mut parts = BTreeMap::<u32, (usize, BTreeSet<u32>)>::new();
        for (key, value) in keys.iter().zip(values) {
            let cell = wanted.entry(*key).or_insert(op.initial());
            *cell = op.combine(*cell, *value);
            let (pairs, own) = parts.entry(part_of(*key)).or_default();
            *pairs += 1;
            if *key != u32::EMPTY {
                own.insert(*key);
            }
        }
        let has_room = |(pairs, own): &(usize, BTreeSet<u32>)| {
            *pairs <= sizes.capacity && own.len() <= sizes.bins
        };
        let have_room = parts.values().all(has_room);
        match self.by_parts(op, keys, values, sizes)? {
            Some((unique, values)) => {
                let groups = unique.len();
                let got: BTreeMap<u32, T> = unique.into_iter().zip(values).collect();
                compared(got == wanted && groups == wanted.len(), || {
                    format!("{got:?} instead of {wanted:?}")
                })?;
                compared(have_room, || format!("no part is lost with {sizes:?}"))
            }
            None => compared(!have_room, || format!("a part is lost with {sizes:?}")),
        }
    }

    /// Whether the sample counts the keys of its rows, the distinct ones and the frequent ones.
    ///
    /// # Errors
    ///
    /// What is wrong.
    pub fn check_sample(&self, keys: &[u32]) -> Result<(), Wrong> {
        let apart = keys.len() / sample::ROWS as usize;
        let (mut sampled, mut counts) = (0, BTreeMap::<u64, u32>::new());
        let is_frequent = |count: &&u32| **count >= sample::FREQUENT;
        let (first, others): (Vec<_>, Vec<_>) =
            (0..sample::ROWS as usize).partition(|row| row.is_multiple_of(sample::OF_WARP));
        for rows in [first, others] {
            for row in rows {
                let row = &keys[row * apart..][..WARP_SIZE as usize];
                let different = BTreeSet::from_iter(row);
                sampled += different.len() as u32;
                // Keys with the same word count as equal.
                let words = different.into_iter().map(|key| key.hash() >> 33);
                words.for_each(|word| *counts.entry(word).or_default() += 1);
            }
            if counts.values().any(|count| is_frequent(&count)) {
                break;
            }
        }
        let frequent = counts.values().filter(is_frequent).count();
        let wanted = [sampled, counts.len() as u32, frequent as u32];
        let memory = Buffer::from(keys);
        // The kernel need not find zeros.
        let parts = Buffer::from(&[u32::MAX; Parts::WORDS]);
        let simulator = self.with_memory(sample::THREADS, sample::SHARED_BYTES);
        let arrays = [
            Array::new("keys", memory.as_ptr(), keys.len()),
            Array::new("parts", parts.as_ptr(), Parts::WORDS),
        ];
        let row = of("group_sample", size_of::<u32>()).expect("it has one row");
        self.run_in(simulator, row, 1, (), &arrays)
            .map_err(Wrong::Findings)?;
        let parts = parts.to_vec();
        let got = [Parts::SAMPLED, Parts::DISTINCT, Parts::FREQUENT].map(|word| parts[word]);
        compared(got == wanted, || {
            format!("{got:?} keys, distinct ones and frequent ones instead of {wanted:?}")
        })
    }
}

/// `n` keys of so many groups, in the first parts, and if asked for the key that looks like the owner of an empty bin.
pub fn keys_of_parts(n: usize, groups: u32, has_empty: bool) -> Vec<u32> {
    let in_first = |key: &u32| part_of(*key) < 3;
    let unique: Vec<u32> = (0..).filter(in_first).take(groups as usize).collect();
    let key = |i: usize| match has_empty && i % 5 == 3 {
        true => u32::EMPTY,
        // Neighbours are equal as well as different ones.
        false => unique[i * 7 / 3 % unique.len()],
    };
    (0..n).map(key).collect()
}

/// The pairs of the largest part.
pub fn largest_part(keys: &[u32]) -> usize {
    let mut counts = [0; PARTS as usize];
    for key in keys {
        counts[part_of(*key) as usize] += 1;
    }
    counts.into_iter().max().unwrap_or_default()
}
