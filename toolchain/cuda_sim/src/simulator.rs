//! Launching a kernel on the simulator.

use std::any;
use std::fmt;
use std::ops::Range;
use std::thread;

use crate::count::{Counters, Request, Tally};
use crate::finding::{Failure, Finding};
use crate::grid::{self, Queue};
use crate::launch::{Checks, Launch, Options};
use crate::printed::Printed;
use crate::schedule::Schedule;
use crate::{overflow, panics};

/// Launches a kernel on the CPU.
///
/// Takes a grid and a block, as a launch on a device does, and the checks to run. A launch is deterministic:
/// the same launch gives the same bits, findings and counters.
///
/// ```
/// use cuda_sim::{Buffer, Simulator};
///
/// let x = Buffer::from(&[1, 2, 3]);
/// let simulator = Simulator::new().grid(1).block(32).check_all();
/// simulator.run(|| { /* call the kernel; every thread does this */ })?;
/// # Ok::<(), cuda_sim::Failure>(())
/// ```
///
/// A complete example is in the [crate's documentation](crate).
#[derive(Clone, Debug)]
#[must_use = "a simulator does nothing until `run`"]
pub struct Simulator {
    options: Options,
}

impl Default for Simulator {
    fn default() -> Self {
        Self::new()
    }
}

impl Simulator {
    /// A grid of one block with one thread, without checks and counters.
    pub fn new() -> Self {
        Self {
            options: Options {
                kernel: None,
                grid: [1; 3],
                block: [1; 3],
                dynamic_shared: 0,
                shared_limit: 48 * 1024,
                resident_blocks: 1,
                only_blocks: None,
                schedule: Schedule::Forward,
                checks: Checks::NONE,
                count: false,
                record: 0,
                arch: 900,
                printed: None,
            },
        }
    }

    /// Sets the blocks of the grid: `4`, `(4, 2)` or `(4, 2, 1)`.
    pub fn grid(mut self, blocks: impl Into<Dim>) -> Self {
        self.options.grid = blocks.into().0;
        self
    }

    /// Sets the threads of a block: `256`, `(16, 16)` or `(8, 8, 4)`.
    pub fn block(mut self, threads: impl Into<Dim>) -> Self {
        self.options.block = threads.into().0;
        self
    }

    /// Sets the bytes of dynamic shared memory of each block.
    pub fn dynamic_shared_memory(mut self, bytes: usize) -> Self {
        self.options.dynamic_shared = bytes;
        self
    }

    /// Sets the limit of shared memory for a block in bytes, static and dynamic together.
    ///
    /// The default is 48 KiB, which every device allows without a special request.
    pub fn shared_memory_limit(mut self, bytes: usize) -> Self {
        self.options.shared_limit = bytes;
        self
    }

    /// Sets the order in which threads run.
    pub fn schedule(mut self, schedule: Schedule) -> Self {
        self.options.schedule = schedule;
        self
    }

    /// Sets how many blocks may be resident at a time, for kernels whose blocks wait for each other.
    ///
    /// With 1, the default, a block that waits for a later block is a livelock: CUDA does not guarantee that
    /// the later block ever starts. Do not use it with `#[address_space(shared)]` statics: the host has only
    /// one copy of them.
    pub fn resident_blocks(mut self, blocks: u32) -> Self {
        self.options.resident_blocks = blocks.max(1);
        self
    }

    /// Runs only the blocks with these linear indices, for example one block of a large launch.
    ///
    /// The kernel still sees the whole grid's size.
    pub fn only_blocks(mut self, blocks: Range<u32>) -> Self {
        self.options.only_blocks = Some(blocks);
        self
    }

    /// Enables all checks.
    pub fn check_all(self) -> Self {
        self.check(Checks::ALL)
    }

    /// Enables these checks.
    pub fn check(mut self, checks: Checks) -> Self {
        self.options.checks = checks;
        self
    }

    /// Counts warp instructions and memory transactions: [`Report::counters`].
    pub fn count(mut self) -> Self {
        self.options.count = true;
        self
    }

    /// Keeps the first `most` warp instructions that access memory, with the address of each lane, and shuffles:
    /// [`Report::requests`]. Also [counts](Self::count).
    ///
    /// ```
    /// # use cuda_sim::Simulator;
    /// let report = Simulator::new().block(32).record(100).run(|| { /* call the kernel */ })?;
    /// for request in &report.requests {
    ///     println!("{request}"); // draws lanes against banks or sectors
    /// }
    /// # Ok::<(), cuda_sim::Failure>(())
    /// ```
    pub fn record(mut self, most: usize) -> Self {
        self.options.record = most;
        self.count()
    }

    /// Sets the compute capability that the kernel sees, times 100. The default is 900.
    pub fn arch(mut self, arch: u32) -> Self {
        self.options.arch = arch;
        self
    }

    /// Sets the kernel's name in findings. The default is the function that calls [`run`](Self::run).
    pub fn kernel(mut self, name: impl Into<String>) -> Self {
        self.options.kernel = Some(name.into());
        self
    }

    /// Captures what the kernel prints (`cuda_std::io`) instead of printing it to standard output.
    ///
    /// Also captures the output of a launch that fails. Several launches may share one [`Printed`].
    pub fn print_to(mut self, printed: &Printed) -> Self {
        self.options.printed = Some(printed.clone());
        self
    }

    /// Calls `kernel` once in every thread of the grid, and waits for all threads.
    ///
    /// When the launch fails, values on the threads' stacks are not dropped. They must not have a destructor
    /// that waits for other threads.
    ///
    /// # Errors
    ///
    /// A [`Failure`] with all findings. Races, loads of uninitialised memory and undefined shuffles are
    /// collected; any other bug ends the launch.
    pub fn run<F: Fn()>(&self, kernel: F) -> Result<Report, Failure> {
        self.launch(&kernel, any::type_name::<F>(), 1)
    }

    /// Does [`run`](Self::run) with the blocks distributed over `workers` threads of the host.
    ///
    /// Results, counters, and whether there are findings do not depend on `workers`. Which block a finding
    /// names may differ, and so may the order in which blocks add floats atomically.
    ///
    /// # Safety
    ///
    /// - Several threads may use what `kernel` captures at the same time.
    /// - Blocks share memory only through atomic operations, or through accesses that these order. They share
    ///   no `#[address_space(shared)]` static.
    pub unsafe fn run_on<F: Fn()>(&self, workers: usize, kernel: F) -> Result<Report, Failure> {
        self.launch(&kernel, any::type_name::<F>(), workers)
    }

    fn launch(
        &self,
        kernel: &(dyn Fn() + '_),
        caller: &str,
        workers: usize,
    ) -> Result<Report, Failure> {
        panics::install();
        overflow::install();
        let options = self.options.clone();
        let name = options
            .kernel
            .clone()
            .unwrap_or_else(|| caller.replace("::{{closure}}", ""));
        if let Some(bug) = options.refusal() {
            let finding = Finding {
                bug,
                kernel: name,
                thread: None,
                site: None,
                other: None,
            };
            return Err(Failure {
                findings: vec![finding],
            });
        }
        let (blocks, threads) = (options.range().len() as u32, options.threads());
        // SAFETY: the launch ends before this function returns, and `kernel` outlives the function.
        let launch = unsafe { Launch::new(options, name, kernel) };
        let mut tally = spread(&launch, workers);
        let counted = launch.options.count;
        let requests = tally.requests(launch.options.record);
        let findings = launch.into_findings();
        if findings.is_empty() {
            Ok(Report {
                blocks,
                threads,
                counters: counted.then(|| tally.finish()),
                requests,
            })
        } else {
            Err(Failure { findings })
        }
    }
}

/// Runs the launch on this thread, or on `workers` threads.
fn spread(launch: &Launch, workers: usize) -> Tally {
    let queue = Queue::new(launch);
    if workers <= 1 {
        return grid::work(launch, &queue);
    }
    struct Shared<'a>(&'a Launch, &'a Queue);
    // SAFETY: only the kernel and what it captures are not `Sync`; `run_on`'s caller guarantees that threads
    // may share them.
    unsafe impl Sync for Shared<'_> {}
    impl Shared<'_> {
        fn work(&self) -> Tally {
            grid::work(self.0, self.1)
        }
    }
    let shared = &Shared(launch, &queue);
    thread::scope(|scope| {
        let workers: Vec<_> = (0..workers)
            .map(|_| scope.spawn(|| shared.work()))
            .collect();
        let mut tally = Tally::default();
        for worker in workers {
            tally.add(&worker.join().expect("a worker catches the kernel's panics"));
        }
        tally
    })
}

/// Sizes in x, y and z; missing ones are 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dim([u32; 3]);

impl From<u32> for Dim {
    fn from(x: u32) -> Self {
        Self([x, 1, 1])
    }
}

impl From<(u32, u32)> for Dim {
    fn from((x, y): (u32, u32)) -> Self {
        Self([x, y, 1])
    }
}

impl From<(u32, u32, u32)> for Dim {
    fn from((x, y, z): (u32, u32, u32)) -> Self {
        Self([x, y, z])
    }
}

impl From<[u32; 3]> for Dim {
    fn from(sizes: [u32; 3]) -> Self {
        Self(sizes)
    }
}

/// The result of a launch without findings.
#[derive(Clone, Debug)]
pub struct Report {
    /// How many blocks ran.
    pub blocks: u32,
    /// How many threads each block had.
    pub threads: u32,
    /// The counters, if [`Simulator::count`] enabled them.
    pub counters: Option<Counters>,
    /// The first requests, as many as [`Simulator::record`] keeps.
    pub requests: Vec<Request>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} blocks of {} threads", self.blocks, self.threads)?;
        match &self.counters {
            Some(counters) => write!(f, "\n{counters}"),
            None => Ok(()),
        }
    }
}
