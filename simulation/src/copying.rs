//! A launch of an entry that copies: its data, its memory, and the check of the copy.

use std::fmt;

use cuda_sim::{Buffer, Counters, InstructionKind, Report, Simulator, Space};
use kernels_gpu::entry::Entry;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use crate::launch::{Array, launch};
use crate::wrong::Wrong;

/// Bytes on both sides of the target, which no kernel may access: more than the widest word.
const MARGIN: usize = 64;

/// A launch of a copy of random bytes.
#[derive(Clone, Copy, Debug)]
pub struct Copy {
    /// The entry. For a mutant, `Entry { function, ..entry }`.
    pub entry: Entry,
    /// Threads per block.
    pub threads: u32,
    /// The number of blocks.
    pub blocks: u32,
    /// The number of elements.
    pub n: usize,
    /// The offset of the source in its memory in elements; the memory is aligned to 256 bytes.
    pub from: usize,
    /// The offset of the target.
    pub to: usize,
    /// The device's compute capability times 100.
    pub arch: u32,
    /// The seed of the data.
    pub seed: u64,
}

/// The error of a launch.
pub type WrongCopy = Wrong<Copy>;

impl Copy {
    /// Launches the entry, and checks the copy and, with counters, the accesses.
    ///
    /// # Errors
    ///
    /// The error of the launch.
    pub fn run(&self, simulator: Simulator) -> Result<Report, WrongCopy> {
        let size = self.entry.read_bytes[0];
        let [bytes, from, to] = [self.n, self.from, self.to].map(|elements| elements * size);
        let mut memory = vec![0u8; from + bytes];
        StdRng::seed_from_u64(self.seed).fill(&mut memory[..]);
        // No margin after the source, so that an access there is found.
        let source = Buffer::from(&memory);
        let target = Buffer::<u8>::uninitialised(MARGIN + to + bytes + MARGIN);
        let mut expected = target.to_vec();
        let start = MARGIN + to;
        expected[start..][..bytes].copy_from_slice(&memory[from..]);

        let arrays = [
            Array::new("input", source.as_ptr().wrapping_add(from), self.n),
            Array::new("output", target.as_ptr().wrapping_add(start), self.n),
        ];
        let simulator = simulator
            .grid(self.blocks)
            .block(self.threads)
            .arch(self.arch);
        // SAFETY: both arrays exist, have `n` elements of the entry's size, and do not overlap; every number
        // of blocks is valid.
        let launched = unsafe { launch(&self.entry, simulator, (), &arrays) };
        let case = Box::new(*self);
        let report = match launched {
            Ok(report) => report,
            Err(failure) => return Err(WrongCopy::Findings { case, failure }),
        };
        let after = target.to_vec();
        let wrong = (0..after.len()).find(|&i| after[i] != expected[i]);
        let checked = match wrong {
            Some(i) if i < start => Err(format!("{} bytes before the target changed", start - i)),
            Some(i) if i >= start + bytes => Err(format!("byte {} of {bytes} changed", i - start)),
            Some(i) => Err(format!("byte {} of {bytes} is another", i - start)),
            None if source.to_vec() != memory => Err("the source changed".into()),
            None => match &report.counters {
                Some(counters) => self.moved_as_it_should(counters),
                None => Ok(()),
            },
        };
        match checked {
            Ok(()) => Ok(report),
            Err(what) => Err(WrongCopy::Answer { case, what }),
        }
    }

    /// The size in bytes of the entry's widest word for which both arrays have the same alignment.
    pub fn word(&self) -> usize {
        let size = self.entry.read_bytes[0];
        let widest = match self.entry.kernel {
            "copy_scalar" => size,
            "copy_vec4" if self.arch >= 1000 => 32,
            _ => self.entry.load_items() * size,
        };
        // Both memories have the same alignment, except for the margin, which is a multiple of all words.
        let apart = self.from.abs_diff(self.to) * size;
        let alike = |word: &usize| apart.is_multiple_of(*word);
        [32, 16, 8, 4, 2]
            .into_iter()
            .filter(|word| *word <= widest && *word > size)
            .find(alike)
            .unwrap_or(size)
    }

    /// The number of complete words in the arrays, for words of more than one element.
    pub fn words(&self) -> usize {
        let (size, word) = (self.entry.read_bytes[0], self.word());
        let head = (self.from * size).next_multiple_of(word) - self.from * size;
        (self.n * size).saturating_sub(head) / word
    }

    /// Checks that each byte was loaded and stored once, in the widest possible words.
    fn moved_as_it_should(&self, counters: &Counters) -> Result<(), String> {
        let (size, word, words) = (self.entry.read_bytes[0], self.word(), self.words());
        for what in [
            InstructionKind::Load(Space::Global),
            InstructionKind::Store(Space::Global),
        ] {
            let lanes = |size: usize| {
                let of_size = |line: &cuda_sim::Line| line.what == what && line.size == size as u32;
                counters.sum(of_size).lanes
            };
            let expected = if word == size {
                vec![(size, self.n)]
            } else {
                vec![(word, words), (size, self.n - words * (word / size))]
            };
            let accesses: u64 = expected.iter().map(|&(_, lanes)| lanes as u64).sum();
            let all = counters.sum(|line| line.what == what).lanes;
            for (bytes, expected) in expected {
                let got = lanes(bytes);
                if got != expected as u64 {
                    return Err(format!(
                        "{what:?}: {got} accesses of {bytes} bytes instead of {expected}"
                    ));
                }
            }
            if all != accesses {
                return Err(format!("{what:?}: {all} accesses instead of {accesses}"));
            }
        }
        Ok(())
    }
}

impl fmt::Display for Copy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            entry,
            threads,
            blocks,
            n,
            from,
            to,
            arch,
            seed,
        } = self;
        write!(
            f,
            "{}, {blocks} blocks of {threads} threads, n = {n} from {from} to {to}, arch {arch}, seed {seed}",
            entry.name
        )
    }
}
