//! One launch of an entry that copies: its data, its memory, and whether it copied.

use std::fmt;

use cuda_sim::{Buffer, Counters, InstructionKind, Report, Simulator, Space};
use kernels_gpu::entry::Entry;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use crate::launch::{Array, launch};
use crate::wrong::Wrong;

/// Bytes on either side of the target, which no kernel may touch: more than the widest word.
const MARGIN: usize = 64;

/// A launch of a copy of random bytes.
#[derive(Clone, Copy, Debug)]
pub struct Copy {
    /// The entry. A mutant takes its place as `Entry { function, ..entry }`.
    pub entry: Entry,
    /// Threads per block.
    pub threads: u32,
    /// Blocks of the grid.
    pub blocks: u32,
    /// Elements to copy.
    pub n: usize,
    /// How many elements before the source its memory begins, which is aligned to 256 bytes.
    pub from: usize,
    /// The same of the target.
    pub to: usize,
    /// The device's compute capability times 100.
    pub arch: u32,
    /// Of the random bytes.
    pub seed: u64,
}

/// What was wrong with a launch.
pub type WrongCopy = Wrong<Copy>;

impl Copy {
    /// Launches it, checks what it leaves, and where the simulator counts, how it came there.
    ///
    /// # Errors
    ///
    /// What was wrong.
    pub fn run(&self, simulator: Simulator) -> Result<Report, WrongCopy> {
        let size = self.entry.read_bytes[0];
        let [bytes, from, to] = [self.n, self.from, self.to].map(|elements| elements * size);
        let mut memory = vec![0u8; from + bytes];
        StdRng::seed_from_u64(self.seed).fill(&mut memory[..]);
        // Nothing behind the source, so that whoever reads there is found.
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
        // SAFETY: both arrays are there, `n` elements of the entry's size, and do not overlap; every number
        // of blocks will do.
        let launched = unsafe { launch(&self.entry, simulator, (), &arrays) };
        let case = Box::new(*self);
        let report = match launched {
            Ok(report) => report,
            Err(failure) => return Err(WrongCopy::Findings { case, failure }),
        };
        let after = target.to_vec();
        let wrong = (0..after.len()).find(|&i| after[i] != expected[i]);
        let judged = match wrong {
            Some(i) if i < start => Err(format!("{} bytes before the target changed", start - i)),
            Some(i) if i >= start + bytes => Err(format!("byte {} of {bytes} changed", i - start)),
            Some(i) => Err(format!("byte {} of {bytes} is another", i - start)),
            None if source.to_vec() != memory => Err("the source changed".into()),
            None => match &report.counters {
                Some(counters) => self.moved_as_it_should(counters),
                None => Ok(()),
            },
        };
        match judged {
            Ok(()) => Ok(report),
            Err(what) => Err(WrongCopy::Answer { case, what }),
        }
    }

    /// The widest word, in bytes, that both arrays have alike, of those that the entry knows.
    pub fn word(&self) -> usize {
        let size = self.entry.read_bytes[0];
        let widest = match self.entry.kernel {
            "copy_scalar" => size,
            "copy_vec4" if self.arch >= 1000 => 32,
            _ => self.entry.load_items() * size,
        };
        // Both memories are aligned alike, but for the margin, which is a multiple of all words.
        let apart = self.from.abs_diff(self.to) * size;
        let alike = |word: &usize| apart.is_multiple_of(*word);
        [32, 16, 8, 4, 2]
            .into_iter()
            .filter(|word| *word <= widest && *word > size)
            .find(alike)
            .unwrap_or(size)
    }

    /// How many words, of those that hold more than an element, are whole in the arrays.
    pub fn words(&self) -> usize {
        let (size, word) = (self.entry.read_bytes[0], self.word());
        let head = (self.from * size).next_multiple_of(word) - self.from * size;
        (self.n * size).saturating_sub(head) / word
    }

    /// Whether each byte was loaded once and stored once, as many as can be in the widest words.
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
