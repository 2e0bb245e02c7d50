//! Launches of a learner's kernel, with all checks.

use crate::drawing::{State, outcome};
use crate::refusal::{Refusal, Verdict};
use cuda_sim::{
    Buffer, Counts, InstructionKind, Plain, Report, Request, Schedule, Simulator, Space,
};
use kernels_gpu::element::Element;
use kernels_gpu::mem::Global;
use rand::rngs::StdRng;
use rand::{Rng, RngExt, SeedableRng};
use std::fmt::Debug;

/// Requests that a launch keeps for drawings.
const KEPT: usize = 1 << 14;

/// Wrong elements of which the values are printed.
const SHOWN: usize = 4;

/// A trial of a puzzle: an order of threads, and random inputs.
pub struct Trial {
    puzzle: &'static str,
    schedule: Schedule,
    rng: StdRng,
}

/// Runs a check in three orders of threads with new random inputs.
///
/// # Errors
///
/// The first refusal.
pub fn trials(puzzle: &'static str, mut check: impl FnMut(&mut Trial) -> Verdict) -> Verdict {
    let seed = rand::rng().next_u64();
    for schedule in [Schedule::Forward, Schedule::Reverse, Schedule::Random(seed)] {
        let rng = StdRng::seed_from_u64(seed);
        check(&mut Trial {
            puzzle,
            schedule,
            rng,
        })?;
    }
    Ok(())
}

/// The kernel's handle for a buffer.
pub fn handle<T: Element>(buffer: &Buffer<T>) -> Global<T> {
    // SAFETY: the buffer outlives the launches of its check, and the simulator checks every access.
    unsafe { Global::new(buffer.as_mut_ptr(), buffer.len()) }
}

impl Trial {
    /// Random integers from -999 to 999: sums of them do not overflow.
    pub fn ints(&mut self, n: usize) -> Vec<i32> {
        (0..n).map(|_| self.rng.random_range(-999..1000)).collect()
    }

    /// Random keys below `limit`.
    pub fn keys(&mut self, n: usize, limit: u32) -> Vec<u32> {
        (0..n).map(|_| self.rng.random_range(0..limit)).collect()
    }

    /// Random keys below `limit` in runs of up to `longest`.
    pub fn runs(&mut self, n: usize, limit: u32, longest: usize) -> Vec<u32> {
        let mut keys = Vec::new();
        while keys.len() < n {
            let (key, length) = (
                self.rng.random_range(0..limit),
                self.rng.random_range(1..=longest),
            );
            keys.extend(std::iter::repeat_n(key, length));
        }
        keys.truncate(n);
        keys
    }

    /// Random floats of very different sizes, whose sum depends on the order.
    pub fn floats(&mut self, n: usize) -> Vec<f32> {
        let float =
            |rng: &mut StdRng| rng.random_range(-1.0..1.0) * 10f32.powi(rng.random_range(-3..6));
        (0..n).map(|_| float(&mut self.rng)).collect()
    }

    /// A random number below `limit`.
    pub fn below(&mut self, limit: usize) -> usize {
        self.rng.random_range(0..limit)
    }

    /// Launches the kernel with all checks, and counts what it does.
    ///
    /// # Errors
    ///
    /// What the simulator found.
    pub fn launch(&self, blocks: u32, threads: u32, kernel: impl Fn()) -> Result<Report, Refusal> {
        self.launch_2d((blocks, 1), (threads, 1), kernel)
    }

    /// Launches the kernel with a grid and a block of two dimensions.
    ///
    /// # Errors
    ///
    /// What the simulator found.
    pub fn launch_2d(
        &self,
        blocks: (u32, u32),
        threads: (u32, u32),
        kernel: impl Fn(),
    ) -> Result<Report, Refusal> {
        Simulator::new()
            .grid(blocks)
            .block(threads)
            .schedule(self.schedule)
            .kernel(self.puzzle)
            .check_all()
            .record(KEPT)
            .run(kernel)
            .map_err(|failure| Refusal::found(&failure).in_launch(&self.shape(blocks, threads)))
    }

    /// Launches one block of 256 threads with this many bytes of dynamic shared memory.
    ///
    /// # Errors
    ///
    /// What the simulator found.
    pub fn launch_with(&self, bytes: usize, kernel: impl Fn()) -> Result<Report, Refusal> {
        Simulator::new()
            .block(256)
            .dynamic_shared_memory(bytes)
            .schedule(self.schedule)
            .kernel(self.puzzle)
            .check_all()
            .run(kernel)
            .map_err(|failure| Refusal::found(&failure).in_launch(&self.shape((1, 1), (256, 1))))
    }

    fn shape(&self, blocks: (u32, u32), threads: (u32, u32)) -> String {
        let size = |(x, y): (u32, u32)| match y {
            1 => format!("{x}"),
            _ => format!("{x} x {y}"),
        };
        format!("grid {}, block {}:", size(blocks), size(threads))
    }

    /// Compares an output with the right values.
    ///
    /// # Errors
    ///
    /// Which elements are wrong.
    pub fn equal<T: Plain + Debug + PartialEq>(
        &self,
        name: &str,
        output: &Buffer<T>,
        expected: &[T],
    ) -> Verdict {
        let got = output.to_vec();
        let poison = Buffer::<T>::uninitialised(1).to_vec()[0];
        let states: Vec<State> = got
            .iter()
            .zip(expected)
            .map(|(got, expected)| match got {
                got if got == expected => State::Right,
                got if bytes(got) == bytes(&poison) => State::NeverWritten,
                _ => State::Wrong,
            })
            .collect();
        let bad: Vec<usize> = (0..states.len())
            .filter(|&i| states[i] != State::Right)
            .collect();
        if bad.is_empty() {
            return Ok(());
        }
        let mut text = format!(
            "{name} is wrong: {} of {} elements\n",
            bad.len(),
            expected.len()
        );
        for &i in bad.iter().take(SHOWN) {
            let (got, right) = (&got[i], &expected[i]);
            text += &match states[i] {
                State::NeverWritten => {
                    format!("  {name}[{i}] was never stored; right is {right:?}\n")
                }
                _ => format!("  {name}[{i}] is {got:?}; right is {right:?}\n"),
            };
        }
        text += &outcome(&states);
        Err(Refusal::new(text))
    }

    /// Checks a budget: `got` must be at most `most`. `shows` selects the requests that a drawing may show.
    ///
    /// # Errors
    ///
    /// The budget, with the request that exceeds its least cost most.
    pub fn budget(
        &self,
        what: &str,
        got: u64,
        most: u64,
        report: &Report,
        shows: impl Fn(&Request) -> bool,
    ) -> Verdict {
        if got <= most {
            return Ok(());
        }
        let waste = |request: &&Request| {
            (
                request.cost() - request.least_cost().min(request.cost()),
                request.cost(),
            )
        };
        let worst = report
            .requests
            .iter()
            .filter(|request| shows(request))
            .max_by_key(waste);
        Err(Refusal::over_budget(what, got, most, worst))
    }

    /// Checks the budget of loads from global memory: instructions of a warp. It refuses the work of a single thread.
    ///
    /// Twice `least` are allowed: a kernel may name an element twice, of which a compiler makes one load.
    ///
    /// # Errors
    ///
    /// As [`budget`](Self::budget).
    pub fn global_loads(&self, report: &Report, least: u64) -> Verdict {
        let loads = counts(report, InstructionKind::Load(Space::Global));
        let what = "load instructions of global memory";
        self.budget(what, loads.requests, 2 * least, report, |request| {
            request.what == InstructionKind::Load(Space::Global)
        })
    }
}

/// The counts of a kind of instruction.
pub(crate) fn counts(report: &Report, what: InstructionKind) -> Counts {
    report
        .counters
        .as_ref()
        .map_or_else(Counts::default, |counters| counters.of(what))
}

/// The counts of all accesses to a memory.
pub(crate) fn accesses(report: &Report, space: Space) -> Counts {
    report
        .counters
        .as_ref()
        .map_or_else(Counts::default, |counters| match space {
            Space::Shared => counters.shared(),
            Space::Global => counters.global(),
        })
}

fn bytes<T: Plain>(value: &T) -> &[u8] {
    // SAFETY: plain types have no padding, so all their bytes are initialised.
    unsafe { std::slice::from_raw_parts(std::ptr::from_ref(value).cast(), size_of::<T>()) }
}
