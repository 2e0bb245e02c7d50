//! A launch of an entry that counts keys: its data, its memory, and the check of its cells.

use std::fmt;

use cuda_sim::{Buffer, Report, Simulator};
use kernels_gpu::entry::Entry;
use kernels_gpu::keyed::Rejected;
use kernels_gpu::keyed::count::MOST_FEW;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use crate::keyed::{KeySubject, Keys, MARGIN, REJECTED_BEFORE, check_rejected};
use crate::launch::{Array, launch};
use crate::wrong::Wrong;

/// A launch of an entry that counts keys, with random keys.
#[derive(Clone, Copy, Debug)]
pub struct Counting {
    /// The entry. For a mutant, `Entry { function, ..entry }`.
    pub entry: Entry,
    /// Threads per block.
    pub threads: u32,
    /// The number of blocks.
    pub blocks: u32,
    /// The number of keys.
    pub n: usize,
    /// The distribution of the keys.
    pub keys: Keys,
    /// Whether the keys are signed.
    pub signed: bool,
    /// Cells that no key selects, after those of the keys.
    pub spare: usize,
    /// The offset of the keys in their memory, in keys; the memory is aligned to 256 bytes.
    pub start: usize,
    /// The seed of the keys.
    pub seed: u64,
}

/// The error of a launch.
pub type WrongCounting = Wrong<Counting>;

impl Counting {
    /// A launch of one block, with random keys from an aligned address.
    pub fn new(entry: Entry, threads: u32, n: usize) -> Self {
        Self {
            entry,
            threads,
            blocks: 1,
            n,
            keys: Keys::Random,
            signed: false,
            spare: 0,
            start: 0,
            seed: 0,
        }
    }

    /// Launches the entry and checks the result.
    ///
    /// # Errors
    ///
    /// The error of the launch.
    pub fn run(&self, simulator: Simulator) -> Result<Report, WrongCounting> {
        match (self.entry.key, self.signed) {
            ("u8", false) => self.launch::<u8>(simulator),
            ("u8", true) => self.launch::<i8>(simulator),
            ("u16", false) => self.launch::<u16>(simulator),
            ("u16", true) => self.launch::<i16>(simulator),
            ("u32", false) => self.launch::<u32>(simulator),
            ("u32", true) => self.launch::<i32>(simulator),
            ("u64", false) => self.launch::<u64>(simulator),
            ("u64", true) => self.launch::<i64>(simulator),
            _ => Err(WrongCounting::NoOracle {
                entry: self.entry.name,
            }),
        }
    }

    fn launch<K: KeySubject>(&self, simulator: Simulator) -> Result<Report, WrongCounting> {
        let (keys, cells) = self.keys.draw::<K>(self.n, self.seed);
        let below = (cells + self.spare).min(K::MOST_CELLS.try_into().unwrap_or(usize::MAX));
        // Some keys are cut off where there are few cells.
        let below = match self.entry.kernel {
            "count_few" => below.min(MOST_FEW),
            _ => below,
        };
        let cells = cells + self.spare;
        let before = vec![K::GREATEST; self.start];
        // No margin after the keys, so that an access there is found.
        let key_memory = [before, keys.clone()].concat();
        let rng = &mut StdRng::seed_from_u64(!self.seed);
        let cell_memory: Vec<u64> = (0..MARGIN + cells + MARGIN)
            .map(|_| rng.random_range(0..1 << 40))
            .collect();

        let key_buffer = Buffer::from(&key_memory);
        let cell_buffer = Buffer::from(&cell_memory);
        let rejected_buffer = Buffer::from(&[REJECTED_BEFORE, Rejected::NONE]);
        let first = key_buffer.as_ptr().wrapping_add(self.start);
        let arrays = [
            Array::new("keys", first, self.n),
            Array::new("cells", cell_buffer.as_ptr().wrapping_add(MARGIN), cells),
            Array::new("rejected", rejected_buffer.as_ptr(), Rejected::LEN),
            Array::number("below", below as u64),
        ];
        let case = Box::new(*self);
        let simulator = simulator.grid(self.blocks).block(self.threads);
        // SAFETY: the arrays exist, and the keys have the entry's size, which `run` selects by name; `below` is at
        // most the number of cells, and fits the kernel.
        let launched = unsafe { launch(&self.entry, simulator, (), &arrays) };
        let report = match launched {
            Ok(report) => report,
            Err(failure) => return Err(WrongCounting::Findings { case, failure }),
        };
        let mut expected = cell_memory;
        for cell in keys
            .iter()
            .map(|key| key.cell())
            .filter(|cell| *cell < below)
        {
            expected[MARGIN + cell] += 1;
        }
        let after = cell_buffer.to_vec();
        let wrong = (0..after.len()).find(|&i| after[i] != expected[i]);
        let checked = match wrong {
            Some(i) => Err(format!(
                "cell {i}, with {MARGIN} of the margin, is {}, not {}",
                after[i], expected[i]
            )),
            None if key_buffer.to_vec() != key_memory => Err("the keys changed".into()),
            None => check_rejected(&keys, below, &rejected_buffer.to_vec()),
        };
        match checked {
            Ok(()) => Ok(report),
            Err(what) => Err(WrongCounting::Answer { case, what }),
        }
    }
}

impl fmt::Display for Counting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            entry,
            threads,
            blocks,
            n,
            keys,
            signed,
            spare,
            start,
            seed,
        } = self;
        let sign = if *signed { "signed" } else { "unsigned" };
        write!(
            f,
            "{}, {blocks} blocks of {threads} threads, n = {n}, {keys:?} {sign} keys from {start} of seed \
             {seed}, {spare} spare cells",
            entry.name
        )
    }
}
