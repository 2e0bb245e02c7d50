//! One launch of one entry: its data, its memory, and whether its answer is right.

mod shares;

use std::fmt;
use std::time::Duration;

use cuda_sim::{Buffer, Failure, Report, Simulator};
use kernels_gpu::entry::Entry;
use kernels_gpu::needs::ResultIn;
use kernels_gpu::op::{Max, Min, Sum};
use thiserror::Error;

use crate::clock::cpu_time;
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

/// A launch that was right.
#[derive(Clone, Debug)]
pub struct Launched<T> {
    /// What the simulator says of it.
    pub report: Report,
    /// The memory of the input, from [`start`](Case::start) elements before it on.
    pub memory: Vec<T>,
    /// A partial of each block, or the one cell.
    pub outputs: Vec<T>,
    /// How long the simulator had a core, without making the data and checking the answer.
    pub took: Duration,
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
        macro_rules! typed {
            ($op:ident $element:ident) => {
                Ok(self.launch::<$element, $op>(simulator)?.report)
            };
        }
        match (self.entry.op, self.entry.element) {
            ("sum", "i32") => typed!(Sum i32),
            ("sum", "u32") => typed!(Sum u32),
            ("sum", "i64") => typed!(Sum i64),
            ("sum", "u64") => typed!(Sum u64),
            ("sum", "f32") => typed!(Sum f32),
            ("sum", "f64") => typed!(Sum f64),
            ("min", "i32") => typed!(Min i32),
            ("min", "f32") => typed!(Min f32),
            ("max", "i32") => typed!(Max i32),
            ("max", "f32") => typed!(Max f32),
            (op, element) => Err(Wrong::NoOracle { op, element }),
        }
    }

    /// [`run`](Self::run), where the types are known, with what went in and came out.
    ///
    /// # Errors
    ///
    /// What was wrong.
    ///
    /// # Panics
    ///
    /// When the entry is of another type or operator.
    pub fn launch<T: Subject, O: Oracle<T>>(
        &self,
        simulator: Simulator,
    ) -> Result<Launched<T>, Wrong> {
        assert_eq!((self.entry.op, self.entry.element), (O::NAME, T::NAME));
        let memory = self.data.draw::<T>(self.start + self.n + MARGIN, self.seed);
        let values = &memory[self.start..][..self.n];
        let input = Buffer::from(&memory);
        let output = Output::<T>::new::<O>(self);
        let start = input.as_ptr().wrapping_add(self.start);
        let case = Box::new(*self);
        let began = cpu_time();
        let report = match self.enqueue(simulator, start, &output) {
            Ok(report) => report,
            Err(failure) => return Err(Wrong::Findings { case, failure }),
        };
        let took = cpu_time() - began;
        let outputs = output.read();
        let judged = self
            .judge::<T, O>(values, &outputs)
            .and_then(|()| output.untouched())
            .and_then(|()| match differs(&input.to_vec(), &memory) {
                None => Ok(()),
                Some(i) => Err(format!("the input changed, at element {i} of its memory")),
            });
        match judged {
            Ok(()) => Ok(Launched {
                report,
                memory,
                outputs,
                took,
            }),
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
