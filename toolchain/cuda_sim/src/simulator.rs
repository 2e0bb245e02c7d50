//! The launch of a kernel on the simulator.

use std::any;
use std::fmt;
use std::ops::Range;
use std::thread;

use crate::count::{Counters, Tally};
use crate::finding::{Failure, Finding};
use crate::grid::{self, Queue};
use crate::launch::{Checks, Launch, Options};
use crate::printed::Printed;
use crate::schedule::Schedule;
use crate::{overflow, panics};

/// Launches a kernel on the CPU.
///
/// Made of a grid and a block, as a launch on a device is, and of what to look for. Everything
/// that a launch does is deterministic: the same launch gives the same bits, findings and counters.
///
/// ```
/// use cuda_sim::{Buffer, Simulator};
///
/// let x = Buffer::from(&[1, 2, 3]);
/// let simulator = Simulator::new().grid(1).block(32).check_all();
/// simulator.run(|| { /* a kernel's call, which every thread makes */ })?;
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
    /// One block of one thread, without checks and counters.
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
                arch: 900,
                printed: None,
            },
        }
    }

    /// Blocks of the grid: `4`, `(4, 2)` or `(4, 2, 1)`.
    pub fn grid(mut self, blocks: impl Into<Dim>) -> Self {
        self.options.grid = blocks.into().0;
        self
    }

    /// Threads of a block: `256`, `(16, 16)` or `(8, 8, 4)`.
    pub fn block(mut self, threads: impl Into<Dim>) -> Self {
        self.options.block = threads.into().0;
        self
    }

    /// Bytes of dynamic shared memory for each block.
    pub fn dynamic_shared_memory(mut self, bytes: usize) -> Self {
        self.options.dynamic_shared = bytes;
        self
    }

    /// How many bytes of shared memory a block can have, static and dynamic together: 48 KiB where
    /// nothing else is said, as on every device without a special request.
    pub fn shared_memory_limit(mut self, bytes: usize) -> Self {
        self.options.shared_limit = bytes;
        self
    }

    /// The order in which threads run.
    pub fn schedule(mut self, schedule: Schedule) -> Self {
        self.options.schedule = schedule;
        self
    }

    /// How many blocks may run side by side, for kernels whose blocks wait for each other. With 1,
    /// which holds where nothing else is said, a block that waits for a later one is a livelock:
    /// nothing in CUDA promises that the other one ever begins. Not meant for kernels with
    /// `#[address_space(shared)]` statics: of these the host has a single copy.
    pub fn resident_blocks(mut self, blocks: u32) -> Self {
        self.options.resident_blocks = blocks.max(1);
        self
    }

    /// Runs these blocks alone, by their linear indexes; the grid that they see stays as large as it
    /// is. For a look at one block of a large launch.
    pub fn only_blocks(mut self, blocks: Range<u32>) -> Self {
        self.options.only_blocks = Some(blocks);
        self
    }

    /// Looks for every bug it can find.
    pub fn check_all(self) -> Self {
        self.check(Checks::ALL)
    }

    /// Looks for these bugs.
    pub fn check(mut self, checks: Checks) -> Self {
        self.options.checks = checks;
        self
    }

    /// Counts what a device would have had to do: [`Report::counters`].
    pub fn count(mut self) -> Self {
        self.options.count = true;
        self
    }

    /// The compute capability that the kernel finds, times 100: 900 where nothing else is said.
    pub fn arch(mut self, arch: u32) -> Self {
        self.options.arch = arch;
        self
    }

    /// What the kernel is called in findings; where nothing is said, the function that calls
    /// [`run`](Self::run).
    pub fn kernel(mut self, name: impl Into<String>) -> Self {
        self.options.kernel = Some(name.into());
        self
    }

    /// Keeps what the kernel prints (`cuda_std::io`) there, instead of printing it to standard output: also
    /// that of a launch which fails. Several launches may print to the same.
    pub fn print_to(mut self, printed: &Printed) -> Self {
        self.options.printed = Some(printed.clone());
        self
    }

    /// Calls `kernel` once in every thread of the grid, and waits for all.
    ///
    /// Values on a thread's stack are not dropped when the launch fails, and must not have a
    /// destructor that waits for other threads.
    ///
    /// # Errors
    ///
    /// A [`Failure`] with all that was found. Races, reads of uninitialised memory and undefined
    /// shuffles are collected; any other bug ends the launch.
    pub fn run<F: Fn()>(&self, kernel: F) -> Result<Report, Failure> {
        self.launch(&kernel, any::type_name::<F>(), 1)
    }

    /// [`run`](Self::run), with blocks spread over so many threads of the host.
    ///
    /// The answer, the counters and whether something is found are the same; which block a finding
    /// names may differ, and the order in which blocks add up floats atomically.
    ///
    /// # Safety
    ///
    /// - What `kernel` captures may be used by several threads at a time.
    /// - Blocks share no memory other than by atomic operations or ordered by them, and no
    ///   `#[address_space(shared)]` static.
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
        // SAFETY: the launch ends with this function.
        let launch = unsafe { Launch::new(options, name, kernel) };
        let tally = spread(&launch, workers);
        let counted = launch.options.count;
        let findings = launch.into_findings();
        if findings.is_empty() {
            Ok(Report {
                blocks,
                threads,
                counters: counted.then(|| tally.finish()),
            })
        } else {
            Err(Failure { findings })
        }
    }
}

/// Runs the launch on this thread, or on so many.
fn spread(launch: &Launch, workers: usize) -> Tally {
    let queue = Queue::new(launch);
    if workers <= 1 {
        return grid::work(launch, &queue);
    }
    struct Shared<'a>(&'a Launch, &'a Queue);
    // SAFETY: the kernel and what it captures are the only parts that are not `Sync`, and
    // `run_on`'s caller has promised that they may be shared.
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

/// Sizes in x, y and z; what is not given is 1.
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

/// What a launch without findings tells.
#[derive(Clone, Debug)]
pub struct Report {
    /// How many blocks ran.
    pub blocks: u32,
    /// How many threads each had.
    pub threads: u32,
    /// What was counted, if it was asked for.
    pub counters: Option<Counters>,
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
