//! One launch of one entry: its data, its memory, and whether its answer is right.

mod shares;

use std::fmt;
use std::time::Duration;

use cuda_sim::{Buffer, Failure, Report, Simulator};
use kernels_gpu::element::{
    Element, bf16, f16, indexed_f32, indexed_f64, indexed_i32, indexed_i64, indexed_u32,
    indexed_u64,
};
use kernels_gpu::entry::Entry;
use kernels_gpu::needs::ResultIn;
use kernels_gpu::op::{
    And, ArgMax, ArgMin, Max, Min, NanMax, NanMin, Op, Or, Product, Sum, SumWide, Xor,
};
use thiserror::Error;

use crate::clock::cpu_time;
use crate::data::Data;
use crate::for_all_pairs;
use crate::oracle::{Drawn, Oracle, Value, close, same};
use shares::Shares;

/// Elements on either side of the input and of the output, which no kernel may touch.
const MARGIN: usize = 3;

/// What an operator combines elements `T` in.
type Acc<T, O> = <O as Op<T>>::Acc;

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
pub struct Launched<T, A> {
    /// What the simulator says of it.
    pub report: Report,
    /// The memory of the input, from [`start`](Case::start) elements before it on.
    pub memory: Vec<T>,
    /// A partial of each block, or the one cell.
    pub outputs: Vec<A>,
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
        let (op, element) = (self.entry.op, self.entry.element);
        macro_rules! typed {
            ($op:ident $element:ident) => {
                if (op, element) == (<$op as Op<$element>>::NAME, $element::NAME) {
                    return Ok(self.launch::<$element, $op>(simulator)?.report);
                }
            };
        }
        for_all_pairs!(typed);
        Err(Wrong::NoOracle { op, element })
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
    pub fn launch<T, O>(&self, simulator: Simulator) -> Result<Launched<T, Acc<T, O>>, Wrong>
    where
        T: Drawn,
        O: Op<T, Acc: Value> + Oracle<Acc<T, O>>,
    {
        let typed = (<O as Op<T>>::NAME, T::NAME);
        assert_eq!((self.entry.op, self.entry.element), typed);
        let memory = self.data.draw::<T>(self.start + self.n + MARGIN, self.seed);
        let values = &memory[self.start..][..self.n];
        let input = Buffer::from(&memory);
        let output = Output::new(self, <O as Op<T>>::IDENTITY);
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

    fn enqueue<T, A: Value>(
        &self,
        simulator: Simulator,
        input: *const T,
        output: &Output<A>,
    ) -> Result<Report, Failure> {
        let (n, start, cells) = (self.n, output.start(), output.cells);
        let needs = self.entry.needs;
        simulator
            .kernel(self.entry.name)
            .grid(self.blocks)
            .block(self.threads)
            .dynamic_shared_memory(needs.shared_bytes(self.threads, size_of::<A>()))
            // SAFETY: both arrays are there, of the types of the entry's element and operator,
            // which `launch` held against its names, and the launch is as the kernel's `Needs` say.
            .run(|| unsafe { (self.entry.function)(input.cast(), n, start.cast(), cells) })
    }

    /// Holds what the kernel left against the right answers.
    fn judge<T, O>(&self, values: &[T], got: &[Acc<T, O>]) -> Result<(), String>
    where
        T: Drawn,
        O: Op<T, Acc: Value> + Oracle<Acc<T, O>>,
    {
        let lifted = (0..).zip(values);
        let lifted: Vec<_> = lifted
            .map(|(i, value)| <O as Op<T>>::lift(*value, i))
            .collect();
        let shares = Shares::of(self);
        // How many additions may have rounded.
        let chain = |additions: usize| match self.data {
            Data::Whole if O::EXACT_ON_WHOLE => 0.0,
            _ => additions as f64,
        };
        match self.entry.needs.result {
            ResultIn::OneCell => {
                close(got[0], &O::expected(&lifted), chain(shares.longest_queue()))
            }
            ResultIn::Partials => {
                let chain = chain(shares.longest_path());
                for (block, share) in shares.split(&lifted).iter().enumerate() {
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
struct Output<A> {
    memory: Buffer<A>,
    cells: usize,
    before: Vec<A>,
}

impl<A: Value> Output<A> {
    /// Cells that nobody has written, so that a kernel that reads its output is found. One that
    /// combines into a cell finds the identity there.
    fn new(case: &Case, identity: A) -> Self {
        let cells = case.entry.needs.outputs(case.blocks);
        let mut memory = Buffer::uninitialised(MARGIN + cells + MARGIN);
        let mut before = memory.to_vec();
        if case.entry.needs.result == ResultIn::OneCell {
            before[MARGIN] = identity;
            memory.write(&before);
        }
        Self {
            memory,
            cells,
            before,
        }
    }

    fn start(&self) -> *mut A {
        self.memory.as_mut_ptr().wrapping_add(MARGIN)
    }

    fn read(&self) -> Vec<A> {
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
fn differs<T: Value>(after: &[T], before: &[T]) -> Option<usize> {
    (0..before.len()).find(|&i| !same(after[i], before[i]))
}

#[cfg(test)]
mod tests;
