//! One launch of a single pass: its data, its memory, and whether its answer is right.

mod judges;

use std::fmt;

use cuda_sim::{Buffer, Failure, Plain, Report, Simulator};
use kernels_gpu::entry::single_pass::{Arguments, SinglePassEntry};
use kernels_gpu::warp::WARP_SIZE;
use thiserror::Error;

use crate::data::Data;
use crate::oracle::Drawn;

/// Elements and words of partials beyond the ends, which no kernel may touch.
const MARGIN: usize = 3;

/// What stands in those words.
const MARGIN_WORD: u64 = 0xA5A5_A5A5_A5A5_A5A5;

/// A launch of a single pass on random data.
///
/// Another function with the same parameters and the same task takes the entry's place as
/// `SinglePassEntry { function, ..entry }`.
#[derive(Clone, Copy, Debug)]
pub struct SinglePass {
    /// The entry.
    pub entry: SinglePassEntry,
    /// Threads per block.
    pub threads: u32,
    /// Blocks of the grid.
    pub blocks: u32,
    /// Elements of the input.
    pub n: usize,
    /// How many elements before the input its memory begins, which is aligned to 256 bytes.
    pub start: usize,
    /// The same of the second input.
    pub other_start: usize,
    /// What is reduced.
    pub data: Data,
    /// Of the random data.
    pub seed: u64,
}

/// A launch that was right.
#[derive(Clone, Debug)]
pub struct Launched {
    /// What the simulator says of it.
    pub report: Report,
    /// The bits of the result.
    pub bits: Vec<u8>,
}

/// What was wrong with a launch.
#[derive(Debug, Error)]
pub enum WrongPass {
    /// The simulator found something.
    #[error("{pass}:\n{failure}")]
    Findings {
        /// The launch.
        pass: Box<SinglePass>,
        /// What was found.
        failure: Failure,
    },
    /// The simulator found nothing, and the memory holds something else afterwards than it should.
    #[error("{pass}: {what}")]
    Answer {
        /// The launch.
        pass: Box<SinglePass>,
        /// What it holds, and should.
        what: String,
    },
    /// An entry for which [`SinglePass::run`] has no right answers.
    #[error("there is no oracle for the {op} of {element}")]
    NoOracle {
        /// The operator's name.
        op: &'static str,
        /// The type's name.
        element: &'static str,
    },
}

/// What a launch read, for a judge.
struct Given<'a, T> {
    input: &'a [T],
    other: &'a [T],
    value: T,
    /// The most additions between an element and the result.
    chain: f64,
    /// Whether sums of floats are exact in every order.
    whole: bool,
}

impl SinglePass {
    /// Launches it and checks what it leaves: the result, partials and tickets as they were, and that
    /// no other memory has changed.
    ///
    /// # Errors
    ///
    /// What was wrong.
    pub fn run(&self, simulator: Simulator) -> Result<Launched, WrongPass> {
        judges::run(self, simulator)
    }

    fn launch<T: Drawn, A: Plain>(
        &self,
        simulator: Simulator,
        judge: impl FnOnce(Given<'_, T>, A) -> Result<(), String>,
    ) -> Result<Launched, WrongPass> {
        assert_eq!(self.entry.acc_bytes, size_of::<A>());
        let memory = self.data.draw::<T>(self.start + self.n + MARGIN, self.seed);
        let other = self
            .data
            .draw::<T>(self.other_start + self.n + MARGIN, !self.seed);
        let (input_memory, other_memory) = (Buffer::from(&memory), Buffer::from(&other));
        // One of the elements, so that some are equal to it, where there are any.
        let value = memory[self.start + self.n / 2];
        let words = self.blocks as usize * self.entry.partial_bytes() / size_of::<u64>();
        let mut empty = vec![0u64; words];
        empty.extend([MARGIN_WORD; MARGIN]);
        let (partials, tickets) = (Buffer::from(&empty), Buffer::from(&[0u32]));
        // Nobody has written the result, so that a kernel that reads it is found.
        let result = Buffer::<A>::uninitialised(1);
        let arguments = Arguments {
            input: input_memory.as_ptr().wrapping_add(self.start).cast(),
            other: other_memory.as_ptr().wrapping_add(self.other_start).cast(),
            len: self.n,
            value: (&raw const value).cast(),
            partials: partials.as_mut_ptr(),
            partials_len: self.blocks as usize,
            tickets: tickets.as_mut_ptr(),
            result: result.as_mut_ptr().cast(),
        };
        let pass = Box::new(*self);
        let launched = simulator
            .kernel(self.entry.name)
            .grid(self.blocks)
            .block(self.threads)
            .dynamic_shared_memory(self.entry.shared_bytes(self.threads))
            // SAFETY: all arrays are there, of the entry's element type and of accumulators of its
            // size, room for a partial of each block, and partials and tickets are 0.
            .run(|| unsafe { (self.entry.function)(&arguments) });
        let report = match launched {
            Ok(report) => report,
            Err(failure) => return Err(WrongPass::Findings { pass, failure }),
        };
        let given = Given {
            input: &memory[self.start..][..self.n],
            other: &other[self.other_start..][..self.n],
            value,
            chain: self.longest_path() as f64,
            whole: self.data == Data::Whole,
        };
        let after = result.to_vec()[0];
        let judged = judge(given, after)
            .and_then(|()| match tickets.to_vec()[0] {
                0 => Ok(()),
                next => Err(format!("the next ticket is {next} afterwards")),
            })
            .and_then(
                |()| match bytes(&input_memory) == bytes(&Buffer::from(&memory)) {
                    true => Ok(()),
                    false => Err("the input changed".into()),
                },
            )
            .and_then(|()| match partials.to_vec() == empty {
                true => Ok(()),
                false => Err("the words of partials are not as they were before".into()),
            });
        match judged {
            Ok(()) => Ok(Launched {
                report,
                bits: bytes(&result),
            }),
            Err(what) => Err(WrongPass::Answer { pass, what }),
        }
    }

    /// The most additions between an element and the result: those of its thread, of its block, of a
    /// lane of the warp that takes the partials, and of that warp; and one where vectors end.
    fn longest_path(&self) -> usize {
        let (threads, blocks) = (self.threads as usize, self.blocks as usize);
        let lanes = WARP_SIZE as usize;
        let of_thread = self.n.div_ceil(threads * blocks) + 2 * self.entry.load_elements();
        let of_block = threads.ilog2() as usize;
        of_thread + of_block + blocks.div_ceil(lanes) + lanes.ilog2() as usize
    }
}

/// The bytes of an array.
fn bytes<T: Plain>(buffer: &Buffer<T>) -> Vec<u8> {
    let len = buffer.len() * size_of::<T>();
    // SAFETY: the buffer has so many bytes, all of which are set (`Buffer` fills them), and no launch
    // runs.
    unsafe { std::slice::from_raw_parts(buffer.as_ptr().cast::<u8>(), len) }.to_vec()
}

impl fmt::Display for SinglePass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            entry,
            threads,
            blocks,
            n,
            start,
            other_start,
            data,
            seed,
        } = self;
        write!(
            f,
            "{}, {blocks} blocks of {threads} threads, n = {n} from {start} and {other_start}, \
             {data:?} of seed {seed}",
            entry.name
        )
    }
}
