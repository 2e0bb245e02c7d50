//! The schema of `results.json`, which is these types in JSON.
//!
//! Times are in microseconds, sizes in bytes, speeds in 10^9 bytes per second; n is the number of elements.
//! A field that does not apply to a row is null.

use std::collections::BTreeMap;
use std::hash::Hash;

use serde::{Deserialize, Serialize};

use crate::machine::{Cuda, Machine};

/// The version of the schema; it must be increased when the meaning of a field changes.
pub const SCHEMA: &str = "warpfold-bench/results/1";

/// One run of the bench.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Results {
    /// [`SCHEMA`].
    pub schema: String,
    /// When the run began, RFC 3339, UTC.
    pub date: String,
    /// The version of the bench.
    pub version: String,
    /// The commit that the bench was built from, with a mark if there were uncommitted changes, or `unknown`.
    pub commit: String,
    /// The compiler that built the bench: `rustc 1.95.0 (...)`.
    pub compiler: String,
    /// The command line as typed.
    pub command_line: String,
    /// Whether the run is complete; an interrupted run has the rows measured before the interruption.
    pub complete: bool,
    /// The computer.
    pub machine: Machine,
    /// The CUDA device of the rows with [`Backend::Cuda`]; null if none was used.
    pub device: Option<Cuda>,
    /// All requested peers.
    pub peers: Vec<Peer>,
    /// How the rows were measured.
    pub method: Method,
    /// The device's clocks between groups of rows; empty if they cannot be read.
    pub clocks: Vec<Clocks>,
    /// Other remarks for the reader.
    pub notes: Vec<String>,
    /// In the order of the run. The rows of a group have the same input and are timed in turn, once per
    /// round. Rows of other processes (PyTorch, CuPy) are timed after the other rows of their group, in
    /// rounds of each process.
    pub rows: Vec<Row>,
    /// Kernels that Nsight Compute measured after the rows; empty without `--profile`, absent in older files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub profiled: Vec<Profiled>,
}

/// A peer, or the reason why it was not timed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Peer {
    /// The peer.
    pub by: By,
    /// Its version and its compiler: `CUB 3.0.1, nvcc release 13.0, V13.0.88 -O3`.
    pub version: Option<String>,
    /// Why it was not timed.
    pub absent: Option<String>,
}

/// How the rows were measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Method {
    /// The seed of the random elements.
    pub seed: u64,
    /// The source of the elements, if they are not random.
    pub input: Option<String>,
    /// The least and the largest number of warm-up rounds of each group, which end when times are stable.
    pub warmup_rounds: (usize, usize),
    /// The least and the largest number of timed rounds of each group.
    pub rounds: (usize, usize),
    /// Bytes that are read before each run with [`Cache::Cold`], so that no input is left in the L2 cache.
    pub flush_bytes: u64,
    /// The largest spread of a stable row, relative to its median. The spread is the width of the interval,
    /// or the difference of the medians of the first and the second half of the samples if that is larger.
    pub spread_limit: f64,
    /// The time limit of the run.
    pub budget_s: Option<f64>,
    /// The duration of the run.
    pub took_s: f64,
}

/// Clocks, temperature and power that the device's driver reports at one moment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Clocks {
    /// The time since the beginning of the run.
    pub at_s: f64,
    /// The clock of the multiprocessors.
    pub sm_mhz: u32,
    /// The clock of the memory.
    pub memory_mhz: u32,
    /// The temperature of the chip.
    pub temperature_c: Option<u32>,
    /// The power of the board.
    pub power_w: Option<f64>,
    /// The reasons why the clocks are reduced; empty if they are not.
    pub throttled: Vec<String>,
}

/// One measurement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The index of the group: its rows have the same input and are timed in turn.
    pub group: usize,
    /// The suite of the row.
    pub suite: Suite,
    /// The author of the code.
    pub by: By,
    /// Where the code ran.
    pub backend: Backend,
    /// `reduce_2`, `single_pass`, `DeviceReduce::Sum`, `read_ceiling`.
    pub kernel: String,
    /// Distinguishes rows of one kernel: a policy (`default`, `tuned`, `not_guaranteed`) or a vector width.
    pub variant: Option<String>,
    /// `sum`; null for copies and ceilings.
    pub op: Option<String>,
    /// `f32`
    pub element: String,
    /// The number of elements.
    pub n: u64,
    /// The least number of bytes that must be read and written.
    pub bytes: u64,
    /// Threads per block.
    pub threads: Option<u32>,
    /// Blocks of the first pass.
    pub blocks: Option<u32>,
    /// Elements per thread, if the kernel's name does not contain it.
    pub chunks: Option<u32>,
    /// The distribution of the keys: `random`, `ordered`, `shifted`.
    pub keys: Option<String>,
    /// Where the input was when the clock started.
    pub cache: Cache,
    /// What the time includes.
    pub timing: Timing,
    /// All timed runs, in the order of the rounds.
    pub samples_us: Vec<f64>,
    /// Present if a run gave a wrong result; `time` is then null.
    pub wrong: Option<Wrong>,
    /// The statistics of the samples; null without samples, or if a result was wrong.
    pub time: Option<Time>,
    /// The simulator's counts by name; empty on hardware.
    pub counts: BTreeMap<String, u64>,
}

/// A group of measurements with one purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Suite {
    /// The reduction ladder, from `reduce_naive` to `reduce_5`.
    Ladder,
    /// Shuffles and atomics.
    Kepler,
    /// Copies with accesses of several widths.
    Copy,
    /// Reduction by key.
    Keyed,
    /// Whole-array reductions as a program calls them.
    Whole,
    /// Whole-array reductions with user-defined operators and elements.
    Operators,
}

/// The author of a row's code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum By {
    /// This project.
    Warpfold,
    /// Upper limits of the speed: kernels that only read, and the empty kernel.
    Ceiling,
    /// The kernel of the same name, written in CUDA C++.
    Nvcc,
    /// CUB.
    Cub,
    /// PyTorch.
    Torch,
    /// CuPy.
    Cupy,
    /// The driver's `cuMemcpy`.
    Driver,
    /// A plain loop on the CPU.
    Loop,
}

/// Where a row ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Backend {
    /// On the CUDA device.
    Cuda,
    /// On the machine's processors.
    Cpu,
    /// In the simulator: counted, not timed.
    Sim,
}

/// Where the input was when the clock started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cache {
    /// Only in memory: the caches had been flushed, and nothing had read that copy of the input since.
    Cold,
    /// Where the previous run had left it: in the caches, if it fits.
    Warm,
}

/// What a time includes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Timing {
    /// The device's time in a busy stream, without launch latency. A sample is the time between two events
    /// around a batch, divided by its launches: 16 for inputs of up to 8 MiB, fewer for larger ones, 1 from
    /// 128 MiB on. In results before 2026-11-24 a batch is always one launch.
    Device,
    /// The time between two events around a call on an idle stream, with launch latency. A sample is the
    /// median of nine calls.
    Launch,
    /// The time between two events around each of 32 successive calls on a stream, without a wait between
    /// them. A sample is their median: the larger of the host's time to enqueue a call and the device's time
    /// to run it.
    Stream,
    /// The time of a CUDA graph of several reductions, divided by their number.
    Graph,
    /// The host's time from the call until the value is available.
    Call,
    /// Not timed: a row of the simulator.
    None,
}

/// Wrong results of a row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wrong {
    /// Wrong runs, warm-up included.
    pub runs: usize,
    /// All runs, warm-up included.
    pub of: usize,
    /// The first wrong result.
    pub got: String,
    /// The correct result.
    pub expected: String,
}

/// The statistics of samples.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Time {
    /// The median.
    pub median_us: f64,
    /// The 95 % interval of the median, by order statistics.
    pub interval_us: (f64, f64),
    /// The shortest sample.
    pub min_us: f64,
    /// The longest sample.
    pub max_us: f64,
    /// Whether the spread is above [`Method::spread_limit`], so that the median is unreliable.
    pub unstable: bool,
}

/// One launch under Nsight Compute, which flushes the caches before it and repeats it for each set of
/// counters. Percentages are relative to the device's peak.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Profiled {
    /// The kernel's symbol: `reduce_2_sum_i32`.
    pub entry: String,
    /// The number of elements.
    pub n: u64,
    /// Threads per block.
    pub threads: u32,
    /// Blocks of the grid.
    pub blocks: u32,
    /// The duration of the launch.
    pub duration_us: f64,
    /// The throughput of the multiprocessors.
    pub compute_percent: f64,
    /// The throughput of the busiest of the caches and the memory.
    pub memory_percent: f64,
    /// Bytes read from the device's memory.
    pub dram_read_bytes: u64,
    /// Bytes written to the device's memory; null if not measured.
    pub dram_written_bytes: Option<u64>,
    /// Bank conflicts in shared memory: accesses that had to be repeated; null if not measured.
    pub bank_conflicts: Option<u64>,
    /// Sectors of 32 bytes per load of a warp from global memory, on average; null without loads.
    pub load_sectors_per_request: Option<f64>,
    /// Sectors of 32 bytes per store of a warp to global memory, on average.
    pub store_sectors_per_request: Option<f64>,
    /// Registers per thread.
    pub registers: u32,
    /// Active warps, on average, relative to the most that a multiprocessor supports.
    pub occupancy_percent: f64,
    /// The occupancy that registers, shared memory and threads per block allow; null if not measured.
    pub occupancy_limit_percent: Option<f64>,
}

impl Profiled {
    /// Bytes read and written, divided by the duration, in 10^9 bytes per second.
    pub fn dram_gb_per_s(&self) -> Option<f64> {
        let bytes = self.dram_read_bytes + self.dram_written_bytes?;
        Some(bytes as f64 / self.duration_us / 1e3)
    }
}

impl Row {
    /// One of our rows on the CUDA device, without samples.
    pub fn new(suite: Suite, kernel: &str, element: &str, n: usize) -> Row {
        Row {
            group: 0,
            suite,
            by: By::Warpfold,
            backend: Backend::Cuda,
            kernel: kernel.into(),
            variant: None,
            op: None,
            element: element.into(),
            n: n as u64,
            bytes: 0,
            threads: None,
            blocks: None,
            chunks: None,
            keys: None,
            cache: Cache::Cold,
            timing: Timing::Device,
            samples_us: Vec::new(),
            wrong: None,
            time: None,
            counts: BTreeMap::new(),
        }
    }

    /// Identifies a measurement across runs.
    pub fn key(&self) -> impl Ord + Hash {
        (
            (self.suite, self.by, self.backend, self.cache, self.timing),
            (&self.kernel, &self.variant, &self.op),
            (&self.element, &self.keys),
            (self.n, self.threads, self.chunks),
        )
    }

    /// The median; `None` without samples, or if a result was wrong.
    pub fn median_us(&self) -> Option<f64> {
        self.time.map(|time| time.median_us)
    }

    /// Bytes divided by the median, in 10^9 bytes per second.
    pub fn gb_per_s(&self) -> Option<f64> {
        Some(self.bytes as f64 / self.median_us()? / 1e3)
    }
}

impl Results {
    /// Whether no run gave a wrong result.
    pub fn is_right(&self) -> bool {
        self.rows.iter().all(|row| row.wrong.is_none())
    }
}
