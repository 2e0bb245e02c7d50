//! A launch of an entry whose lanes vote: a search for peers, an all-reduce of peers, or a filter. Its data, its memory,
//! and the check of its output.

use std::fmt;

use cuda_sim::{Buffer, Plain, Report, Simulator};
use kernels_gpu::entry::Entry;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use crate::keyed::Keys;
use crate::launch::{Array, bytes_of, launch};
use crate::wrong::Wrong;

/// Elements on both sides of the output, which no kernel may access.
const MARGIN: usize = 3;

/// The lanes of a warp.
const LANES: usize = 32;

/// A launch of an entry of `entry::teaching::LANES` with random keys, which are a filter's elements.
#[derive(Clone, Copy, Debug)]
pub struct Lanes {
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
    /// The offset of the keys in their memory in elements; the memory is aligned to 256 bytes.
    pub start: usize,
    /// The seed of the data.
    pub seed: u64,
}

/// The error of a launch.
pub type WrongLanes = Wrong<Lanes>;

impl Lanes {
    /// A launch of the smallest grid, with random elements from aligned addresses.
    pub fn new(entry: Entry, threads: u32, n: usize) -> Self {
        let blocks = n.div_ceil(threads as usize).max(1);
        Self {
            entry,
            threads,
            blocks: blocks.try_into().expect("fewer than 2^32 blocks"),
            n,
            keys: Keys::Random,
            start: 0,
            seed: 0,
        }
    }

    /// Launches the entry and checks its output.
    ///
    /// # Errors
    ///
    /// The error of the launch.
    pub fn run(&self, simulator: Simulator) -> Result<Report, WrongLanes> {
        let (keys, _) = self.keys.draw::<u32>(self.n, self.seed);
        let warps = || keys.chunks(LANES);
        let mask = |warp: &[u32], key: u32| {
            let peers = (0..warp.len()).filter(|lane| warp[*lane] == key);
            peers.fold(0u32, |mask, lane| mask | 1 << lane)
        };
        match self.entry.kernel {
            "find_peers_ballot" | "find_peers_match" | "find_peers_hash" => {
                let masks = warps().flat_map(|warp| warp.iter().map(move |key| mask(warp, *key)));
                let masks: Vec<u32> = masks.collect();
                self.launch(simulator, &keys, &[], |got, _| same(got, &masks))
            }
            "all_reduce_peers" => {
                let rng = &mut StdRng::seed_from_u64(!self.seed);
                // Small whole numbers, whose sums are exact in every order.
                let values: Vec<f64> = (0..self.n)
                    .map(|_| rng.random_range(-99..=99).into())
                    .collect();
                let sum = |i: usize| {
                    let first = i / LANES * LANES;
                    let mask = mask(&keys[first..self.n.min(first + LANES)], keys[i]);
                    let peers = (0..LANES).filter(|lane| mask >> lane & 1 == 1);
                    peers.map(|lane| values[first + lane]).sum()
                };
                let sums: Vec<f64> = (0..self.n).map(sum).collect();
                self.launch(simulator, &keys, &values, |got, _| same(got, &sums))
            }
            "filter_atomic" | "filter_warp" => {
                let above = self.above(&keys);
                let kept = |warp: &[u32]| -> Vec<u32> {
                    let kept = warp.iter().filter(|element| **element as i32 > above);
                    kept.copied().collect()
                };
                let warps: Vec<_> = warps().map(kept).collect();
                self.launch(simulator, &keys, &[], |got, count| {
                    self.check_kept(&warps, &got[..got.len().min(count as usize)], count)
                })
            }
            _ => Err(WrongLanes::NoOracle {
                entry: self.entry.name,
            }),
        }
    }

    /// The number above which a filter keeps elements: one of them.
    fn above(&self, elements: &[u32]) -> i32 {
        elements
            .get(self.n / 2)
            .map_or(0, |element| *element as i32)
    }

    /// Launches the entry with these keys and values. `check` gets the output and the counter.
    fn launch<T: Plain + PartialEq>(
        &self,
        simulator: Simulator,
        keys: &[u32],
        values: &[f64],
        check: impl FnOnce(&[T], u64) -> Result<(), String>,
    ) -> Result<Report, WrongLanes> {
        let key_memory = [vec![1; self.start], keys.to_vec()].concat();
        // No margin after the keys, so that an access there is found.
        let key_buffer = Buffer::from(&key_memory);
        let value_buffer = Buffer::from(values);
        let output = Buffer::<T>::uninitialised(MARGIN + self.n + MARGIN);
        let before = bytes_of(&output.to_vec());
        let count = Buffer::from(&[0u64]);
        let first = key_buffer.as_ptr().wrapping_add(self.start);
        let to = output.as_ptr().wrapping_add(MARGIN);
        let arrays = [
            Array::new("keys", first, self.n),
            Array::new("input", first, self.n),
            Array::new("values", value_buffer.as_ptr(), values.len()),
            Array::new("masks", to, self.n),
            Array::new("output", to, self.n),
            Array::new("count", count.as_ptr(), 1),
            Array::number("above", i64::from(self.above(keys)) as u64),
        ];
        let case = Box::new(*self);
        let simulator = simulator.grid(self.blocks).block(self.threads);
        // SAFETY: the arrays exist, and have the types of the entry's parameters, which `run` selects by name; the grid
        // has a thread for each element.
        let launched = unsafe { launch(&self.entry, simulator, (), &arrays) };
        let report = match launched {
            Ok(report) => report,
            Err(failure) => return Err(WrongLanes::Findings { case, failure }),
        };
        let (after, count) = (output.to_vec(), count.to_vec()[0]);
        let written = match self.entry.kernel.starts_with("filter") {
            true => self.n.min(count as usize),
            false => self.n,
        };
        let bytes = bytes_of(&after);
        let around =
            |i: &usize| !(MARGIN * size_of::<T>()..(MARGIN + written) * size_of::<T>()).contains(i);
        let changed = (0..bytes.len())
            .filter(around)
            .find(|&i| bytes[i] != before[i]);
        let checked = match changed {
            Some(i) => Err(format!(
                "element {} of {written} outputs was written",
                (i / size_of::<T>()) as isize - MARGIN as isize
            )),
            None if key_buffer.to_vec() != key_memory => Err("the keys changed".into()),
            None => check(&after[MARGIN..][..self.n], count),
        };
        match checked {
            Ok(()) => Ok(report),
            Err(what) => Err(WrongLanes::Answer { case, what }),
        }
    }

    /// Checks what a filter has kept. The warps arrive in any order, the elements of one warp are neighbours in order.
    fn check_kept(&self, warps: &[Vec<u32>], got: &[u32], count: u64) -> Result<(), String> {
        let sorted = |elements: &[u32]| {
            let mut elements = elements.to_vec();
            elements.sort_unstable();
            elements
        };
        let all = warps.concat();
        if count != all.len() as u64 {
            return Err(format!("the counter is {count}, not {}", all.len()));
        }
        same(&sorted(got), &sorted(&all))?;
        if self.entry.kernel == "filter_warp" && self.keys == Keys::Distinct {
            for warp in warps.iter().filter(|warp| !warp.is_empty()) {
                let at = got.iter().position(|element| *element == warp[0]);
                let at = at.expect("all elements are there");
                same(&got[at..got.len().min(at + warp.len())], warp)?;
            }
        }
        Ok(())
    }
}

fn same<T: PartialEq + fmt::Debug>(got: &[T], expected: &[T]) -> Result<(), String> {
    match (0..expected.len()).find(|&i| got.get(i) != expected.get(i)) {
        None => Ok(()),
        Some(i) => Err(format!(
            "output {i} is {:?}, not {:?}",
            got.get(i),
            expected[i]
        )),
    }
}

impl fmt::Display for Lanes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            entry,
            threads,
            blocks,
            n,
            keys,
            start,
            seed,
        } = self;
        write!(
            f,
            "{}, {blocks} blocks of {threads} threads, n = {n}, {keys:?} keys from {start} of seed {seed}",
            entry.name
        )
    }
}
