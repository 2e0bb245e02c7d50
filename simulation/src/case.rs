//! One launch of one entry: its data, its memory, and whether its answer is right.

mod shares;

use std::fmt;

use cuda_sim::{Buffer, Failure, Report, Simulator};
use kernels_gpu::entry::Entry;
use kernels_gpu::needs::ResultIn;
use kernels_gpu::op::{Max, Min, Sum};
use thiserror::Error;

use crate::data::Data;
use crate::oracle::{Oracle, Subject, close, same};
use shares::Shares;

/// Elements on either side of the input and of the output, which no kernel may touch.
const MARGIN: usize = 3;

/// A launch of an entry of the table on random data.
///
/// Another function with the same parameters and the same task takes the entry's place as
/// `Entry { function, ..entry }`.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// The entry.
    pub entry: Entry,
    /// Threads per block.
    pub threads: u32,
    /// Elements of the input.
    pub n: usize,
    /// Blocks of the grid; at least [`Needs::fewest_blocks`](kernels_gpu::needs::Needs), and one.
    pub blocks: u32,
    /// How many elements before the input its memory begins, which is aligned to 256 bytes.
    pub start: usize,
    /// What is reduced.
    pub data: Data,
    /// Of the random data.
    pub seed: u64,
}

/// What was wrong with a launch.
#[derive(Debug, Error)]
pub enum Wrong {
    /// The simulator found something.
    #[error("{case}:\n{failure}")]
    Findings {
        /// The launch.
        case: Box<Case>,
        /// What was found.
        failure: Failure,
    },
    /// The simulator found nothing, and the memory holds something else afterwards than it should.
    #[error("{case}: {what}")]
    Answer {
        /// The launch.
        case: Box<Case>,
        /// What it holds, and should.
        what: String,
    },
    /// An operator or a type for which [`Case::run`] has no right answers.
    #[error("there is no oracle for the {op} of {element}")]
    NoOracle {
        /// The operator's name.
        op: &'static str,
        /// The type's name.
        element: &'static str,
    },
}

impl Case {
    /// A launch of the fewest blocks over random elements from an aligned start.
    ///
    /// # Panics
    ///
    /// When a grid has not so many blocks.
    pub fn new(entry: Entry, threads: u32, n: usize) -> Self {
        let blocks = entry.needs.fewest_blocks(n as u64, threads).max(1);
        Self {
            entry,
            threads,
            n,
            blocks: blocks
                .try_into()
                .expect("a grid has fewer than 2^32 blocks"),
            start: 0,
            data: Data::Rough,
            seed: 0,
        }
    }

    /// Launches it and checks what it leaves. The simulator brings schedule, checks and counters;
    /// the rest is the case's.
    ///
    /// # Errors
    ///
    /// What was wrong.
    pub fn run(&self, simulator: Simulator) -> Result<Report, Wrong> {
        match (self.entry.op, self.entry.element) {
            ("sum", "i32") => self.launch::<i32, Sum>(simulator),
            ("sum", "u32") => self.launch::<u32, Sum>(simulator),
            ("sum", "i64") => self.launch::<i64, Sum>(simulator),
            ("sum", "u64") => self.launch::<u64, Sum>(simulator),
            ("sum", "f32") => self.launch::<f32, Sum>(simulator),
            ("sum", "f64") => self.launch::<f64, Sum>(simulator),
            ("min", "i32") => self.launch::<i32, Min>(simulator),
            ("min", "f32") => self.launch::<f32, Min>(simulator),
            ("max", "i32") => self.launch::<i32, Max>(simulator),
            ("max", "f32") => self.launch::<f32, Max>(simulator),
            (op, element) => Err(Wrong::NoOracle { op, element }),
        }
    }

    fn launch<T: Subject, O: Oracle<T>>(&self, simulator: Simulator) -> Result<Report, Wrong> {
        let all = self.data.draw::<T>(self.start + self.n + MARGIN, self.seed);
        let values = &all[self.start..][..self.n];
        let input = Buffer::from(&all);
        let output = Output::<T>::new::<O>(self);
        let launched = self.enqueue(simulator, input.as_ptr().wrapping_add(self.start), &output);
        let case = Box::new(*self);
        let report = match launched {
            Ok(report) => report,
            Err(failure) => return Err(Wrong::Findings { case, failure }),
        };
        let answered = self.judge::<T, O>(values, &output.read());
        let unchanged = || match differs(&input.to_vec(), &all) {
            None => Ok(()),
            Some(i) => Err(format!("the input changed, at element {i} of its memory")),
        };
        match answered
            .and_then(|()| output.untouched())
            .and_then(|()| unchanged())
        {
            Ok(()) => Ok(report),
            Err(what) => Err(Wrong::Answer { case, what }),
        }
    }

    fn enqueue<T: Subject>(
        &self,
        simulator: Simulator,
        input: *const T,
        output: &Output<T>,
    ) -> Result<Report, Failure> {
        let (n, start, cells) = (self.n, output.start(), output.cells);
        let needs = self.entry.needs;
        simulator
            .kernel(self.entry.name)
            .grid(self.blocks)
            .block(self.threads)
            .dynamic_shared_memory(needs.shared_bytes(self.threads, size_of::<T>()))
            // SAFETY: both arrays are there, of the entry's element type, which `run` chose by
            // its name, and the launch is as the kernel's `Needs` say.
            .run(|| unsafe { (self.entry.function)(input.cast(), n, start.cast(), cells) })
    }

    /// Holds what the kernel left against the right answers.
    fn judge<T: Subject, O: Oracle<T>>(&self, values: &[T], got: &[T]) -> Result<(), String> {
        let shares = Shares::of(self);
        // How many additions may have rounded.
        let chain = |additions: usize| match self.data {
            Data::Whole => 0.0,
            _ => additions as f64,
        };
        match self.entry.needs.result {
            ResultIn::OneCell => close(got[0], &O::expected(values), chain(shares.longest_queue())),
            ResultIn::Partials => {
                let chain = chain(shares.longest_path());
                for (block, share) in shares.split(values).iter().enumerate() {
                    close(got[block], &O::expected(share), chain)
                        .map_err(|wrong| format!("the partial of block {block}: {wrong}"))?;
                }
                Ok(())
            }
        }
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            entry,
            threads,
            n,
            blocks,
            start,
            data,
            seed,
        } = self;
        write!(
            f,
            "{}, {blocks} blocks of {threads} threads, n = {n} from {start}, {data:?} of seed {seed}",
            entry.name
        )
    }
}

/// The output in its memory.
struct Output<T> {
    memory: Buffer<T>,
    cells: usize,
    before: Vec<T>,
}

impl<T: Subject> Output<T> {
    /// Cells that nobody has written, so that a kernel that reads its output is found. One that
    /// combines into a cell finds the identity there.
    fn new<O: Oracle<T>>(case: &Case) -> Self {
        let cells = case.entry.needs.outputs(case.blocks);
        let mut memory = Buffer::uninitialised(MARGIN + cells + MARGIN);
        let mut before = memory.to_vec();
        if case.entry.needs.result == ResultIn::OneCell {
            before[MARGIN] = O::IDENTITY;
            memory.write(&before);
        }
        Self {
            memory,
            cells,
            before,
        }
    }

    fn start(&self) -> *mut T {
        self.memory.as_mut_ptr().wrapping_add(MARGIN)
    }

    fn read(&self) -> Vec<T> {
        self.memory.to_vec()[MARGIN..][..self.cells].to_vec()
    }

    /// That only the cells were written.
    fn untouched(&self) -> Result<(), String> {
        let after = self.memory.to_vec();
        let end = MARGIN + self.cells;
        match (
            differs(&after[..MARGIN], &self.before[..MARGIN]),
            differs(&after[end..], &self.before[end..]),
        ) {
            (None, None) => Ok(()),
            (Some(i), _) => Err(format!(
                "{} elements before the output were written",
                MARGIN - i
            )),
            (_, Some(i)) => Err(format!(
                "element {} of {} outputs was written",
                self.cells + i,
                self.cells
            )),
        }
    }
}

/// The first element that is another one.
fn differs<T: Subject>(after: &[T], before: &[T]) -> Option<usize> {
    (0..before.len()).find(|&i| !same(after[i], before[i]))
}

#[cfg(test)]
mod tests;
