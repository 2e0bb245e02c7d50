//! One launch of an entry that sums triples: its data, its memory, and whether the sums are right.

use std::fmt;

use cuda_sim::{Buffer, Failure, Plain, Report, Simulator};
use kernels_gpu::element::Element;
use kernels_gpu::entry::triple::TripleEntry;
use thiserror::Error;

/// A launch over small whole numbers, whose sums are exact in every order.
#[derive(Clone, Copy, Debug)]
pub struct Triples {
    /// The entry. A mutant takes its place as `TripleEntry { function, ..entry }`.
    pub entry: TripleEntry,
    /// Threads per block.
    pub threads: u32,
    /// Blocks of the grid.
    pub blocks: u32,
    /// Triples to sum.
    pub n: usize,
}

/// What was wrong with a launch.
#[derive(Debug, Error)]
pub enum WrongTriples {
    /// The simulator found something.
    #[error("{triples}:\n{failure}")]
    Findings {
        /// The launch.
        triples: Box<Triples>,
        /// What was found.
        failure: Failure,
    },
    /// The simulator found nothing, and a sum is another than it should be.
    #[error("{triples}: {what}")]
    Answer {
        /// The launch.
        triples: Box<Triples>,
        /// What it is, and should be.
        what: String,
    },
    /// An element type of which there are no numbers to draw.
    #[error("{triples}: there are no triples of {}", triples.entry.element)]
    NoData {
        /// The launch.
        triples: Box<Triples>,
    },
}

impl Triples {
    /// Launches it and checks the sums.
    ///
    /// # Errors
    ///
    /// What was wrong.
    pub fn run(&self, simulator: Simulator) -> Result<Report, WrongTriples> {
        match self.entry.element {
            "i32" => self.launch(simulator, i32::from, 0),
            "f32" => self.launch(simulator, f32::from, -0.0),
            "f64" => self.launch(simulator, f64::from, -0.0),
            _ => Err(WrongTriples::NoData {
                triples: Box::new(*self),
            }),
        }
    }

    fn launch<T: Element + Plain>(
        &self,
        simulator: Simulator,
        of: fn(i16) -> T,
        identity: T,
    ) -> Result<Report, WrongTriples> {
        // Each field has numbers of its own.
        let numbers: Vec<i16> = (0..3 * self.n).map(|i| (i * i % 23) as i16 - 7).collect();
        let mut sums = [0; 3];
        for (i, number) in numbers.iter().enumerate() {
            sums[i % 3] += number;
        }
        let input: Vec<T> = numbers.iter().map(|number| of(*number)).collect();
        let input = Buffer::from(&input);
        let output = Buffer::from(&[identity; 3]);
        let (from, to) = (input.as_ptr().cast(), output.as_mut_ptr().cast());
        let launched = simulator
            .kernel(self.entry.name)
            .grid(self.blocks)
            .block(self.threads)
            // SAFETY: both arrays are there, of the entry's element type: `n` triples, and a cell
            // of each field, which holds the identity.
            .run(|| unsafe { (self.entry.function)(from, 3 * self.n, to, 3) });
        let triples = Box::new(*self);
        let report = launched.map_err(|failure| WrongTriples::Findings {
            triples: triples.clone(),
            failure,
        })?;
        let (got, expected) = (output.to_vec(), sums.map(of));
        if got != expected {
            let what = format!("{got:?} instead of {expected:?}");
            return Err(WrongTriples::Answer { triples, what });
        }
        Ok(report)
    }
}

impl fmt::Display for Triples {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            entry,
            threads,
            blocks,
            n,
        } = self;
        write!(
            f,
            "{}, {blocks} blocks of {threads} threads, {n} triples",
            entry.name
        )
    }
}
