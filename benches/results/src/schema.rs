//! `results.json`. These types are the schema: it is what they serialise to.
//!
//! Times are microseconds, sizes are bytes, speeds are 10^9 bytes per second, ratios are plain numbers,
//! n counts elements. What does not apply to a row is null.

use std::collections::BTreeMap;
use std::hash::Hash;

use serde::{Deserialize, Serialize};

use crate::machine::{Cuda, Machine};

/// The version of `results.json`; a change of meaning gives it a new number.
pub const SCHEMA: &str = "warpfold-bench/results/1";

/// One run of the bench.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Results {
    /// [`SCHEMA`].
    pub schema: String,
    /// When the run began, RFC 3339, UTC.
    pub date: String,
    /// Of the bench.
    pub version: String,
    /// The commit that it was built from, or `unknown`; says so if there were changes.
    pub commit: String,
    /// That built it: `rustc 1.95.0 (...)`.
    pub compiler: String,
    /// As it was typed.
    pub command_line: String,
    /// Whether the run came to its end; a run that was broken off keeps what it had.
    pub complete: bool,
    /// The computer.
    pub machine: Machine,
    /// The CUDA device of the rows by [`Backend::Cuda`]; null where none was used.
    pub device: Option<Cuda>,
    /// All that were asked for.
    pub peers: Vec<Peer>,
    /// How was measured.
    pub method: Method,
    /// The device's clocks between groups of rows; empty where they cannot be read.
    pub clocks: Vec<Clocks>,
    /// What else a reader must know.
    pub notes: Vec<String>,
    /// In the order of the run. The rows of a group had the same input. They were timed in turn, once a round each; those
    /// of other processes, PyTorch and CuPy, after the others, each in rounds of their own.
    pub rows: Vec<Row>,
    /// What Nsight Compute measured of kernels after the rows; empty, and absent in older files, where
    /// it was not asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub profiled: Vec<Profiled>,
}

/// Something to compare with, or the reason why it is not there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Peer {
    /// Whose rows these are.
    pub by: By,
    /// In its own words, with what it was built by: `CUB 3.0.1, nvcc release 13.0, V13.0.88 -O3`.
    pub version: Option<String>,
    /// Why it was not timed.
    pub absent: Option<String>,
}

/// How was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Method {
    /// Of the random elements.
    pub seed: u64,
    /// Where the elements came from, where they are not random.
    pub input: Option<String>,
    /// Rounds of each group before the timed ones: as many as it takes until the times have settled, at
    /// least and at most.
    pub warmup_rounds: (usize, usize),
    /// Timed rounds of each group, at least and at most.
    pub rounds: (usize, usize),
    /// Read before each run of [`Cache::Cold`], so that nothing of the input is left in the L2 cache.
    pub flush_bytes: u64,
    /// A row is marked as unstable where its median is not known to within this part of it: where its interval is wider,
    /// or the medians of the first and the second half of its samples are further apart.
    pub spread_limit: f64,
    /// What was allowed.
    pub budget_s: Option<f64>,
    /// What was used.
    pub took_s: f64,
}

/// What the device's driver says at one moment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Clocks {
    /// Since the beginning of the run.
    pub at_s: f64,
    /// The clock of the multiprocessors.
    pub sm_mhz: u32,
    /// The clock of the memory.
    pub memory_mhz: u32,
    /// Of the chip.
    pub temperature_c: Option<u32>,
    /// Of the board.
    pub power_w: Option<f64>,
    /// Why the clocks are lower than they could be; empty: they are not.
    pub throttled: Vec<String>,
}

/// One thing that was timed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Rows of one group had the same input, and were timed one after the other.
    pub group: usize,
    /// What the row belongs to.
    pub suite: Suite,
    /// Whose code it is.
    pub by: By,
    /// Where it ran.
    pub backend: Backend,
    /// `reduce_2`, `single_pass`, `DeviceReduce::Sum`, `read_ceiling`.
    pub kernel: String,
    /// What tells it from rows of the same kernel: a policy (`default`, `tuned`, `not_guaranteed`), a
    /// vector width.
    pub variant: Option<String>,
    /// `sum`; null for copies and ceilings.
    pub op: Option<String>,
    /// `f32`
    pub element: String,
    /// How many there are.
    pub n: u64,
    /// What must be read and written at least.
    pub bytes: u64,
    /// Per block.
    pub threads: Option<u32>,
    /// Of the first pass.
    pub blocks: Option<u32>,
    /// Elements per thread, where the kernel's name does not say it.
    pub chunks: Option<u32>,
    /// How the keys lie: `random`, `ordered`, `shifted`.
    pub keys: Option<String>,
    /// Where the input was when the clock started.
    pub cache: Cache,
    /// What the clock saw.
    pub timing: Timing,
    /// Every timed run, in the order of the rounds.
    pub samples_us: Vec<f64>,
    /// Present when a run gave a wrong answer; `time` is then null.
    pub wrong: Option<Wrong>,
    /// What the samples come to; null where there are none, and where an answer was wrong.
    pub time: Option<Time>,
    /// What the simulator counted, by name; empty on hardware.
    pub counts: BTreeMap<String, u64>,
}

/// What rows belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Suite {
    /// The reduction ladder, from `reduce_naive` to `reduce_5`.
    Ladder,
    /// Shuffles and atomics.
    Kepler,
    /// Copies by accesses of several widths.
    Copy,
    /// Reduction by key.
    Keyed,
    /// Whole-array reductions as a program calls them.
    Whole,
    /// Operators and elements of a crate of its own, whole arrays of them.
    Operators,
}

/// Whose code a row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum By {
    /// Ours.
    Warpfold,
    /// What none can be faster than: kernels that only read, and one that does nothing but be launched.
    Ceiling,
    /// The kernel of the same name, written in CUDA C++.
    Nvcc,
    /// CUB.
    Cub,
    /// PyTorch.
    Torch,
    /// CuPy.
    Cupy,
    /// The driver's own `cuMemcpy`.
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
    /// Nowhere but in memory: the caches had been flushed, and nothing had read that copy of it since.
    Cold,
    /// Where the run before it had left it: in the caches, if it fits.
    Warm,
}

/// What the clock saw.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Timing {
    /// The device's own time in a busy stream: no launch latency. A sample is the share of a launch in a batch between
    /// two events: of 16 launches over inputs of up to 8 MiB, of fewer over larger ones, and of one from 128 MiB on. (Of
    /// one launch always in results before 2026-11-24.)
    Device,
    /// Between two events around a call on an idle stream: with the latency of its launches. A sample is the
    /// median of nine.
    Launch,
    /// Call after call: between two events around each of 32 calls that follow one another on the stream
    /// without a wait. A sample is their median: what a call costs a program that keeps its stream fed, the
    /// larger of what the host takes to make it and what the device takes to do it.
    Stream,
    /// The share of one reduction in a CUDA graph of several.
    Graph,
    /// The host's clock, from the call to the value.
    Call,
    /// Nothing: a row of the simulator.
    None,
}

/// Wrong answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wrong {
    /// Wrong runs, warm-up included.
    pub runs: usize,
    /// All runs, warm-up included.
    pub of: usize,
    /// The first wrong answer.
    pub got: String,
    /// What it should have been.
    pub expected: String,
}

/// What samples come to.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Time {
    /// As many samples are shorter as are longer.
    pub median_us: f64,
    /// The 95 % interval of the median, by order statistics.
    pub interval_us: (f64, f64),
    /// The fastest.
    pub min_us: f64,
    /// The slowest.
    pub max_us: f64,
    /// Whether the median is not known to within [`Method::spread_limit`]: not to be relied on.
    pub unstable: bool,
}

/// One launch under Nsight Compute, which empties the caches before it and runs it once for every few
/// counters. Percentages are of the highest that the device could do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Profiled {
    /// The kernel's symbol: `reduce_2_sum_i32`.
    pub entry: String,
    /// Elements.
    pub n: u64,
    /// Per block.
    pub threads: u32,
    /// Of the grid.
    pub blocks: u32,
    /// How long the launch took.
    pub duration_us: f64,
    /// Throughput of the multiprocessors.
    pub compute_percent: f64,
    /// Throughput of caches and memory, whichever is the busiest.
    pub memory_percent: f64,
    /// From the device's memory.
    pub dram_read_bytes: u64,
    /// To the device's memory; null where it was not measured.
    pub dram_written_bytes: Option<u64>,
    /// How often shared memory had to be asked once more, since lanes met in a bank; null where it was
    /// not measured.
    pub bank_conflicts: Option<u64>,
    /// Sectors of 32 bytes that a warp's load from global memory takes, on average; null of a kernel
    /// without loads.
    pub load_sectors_per_request: Option<f64>,
    /// The same of stores.
    pub store_sectors_per_request: Option<f64>,
    /// Of each thread.
    pub registers: u32,
    /// Warps in flight, on average, of those that a multiprocessor has room for.
    pub occupancy_percent: f64,
    /// The most that registers, shared memory and threads per block allow; null where it was not
    /// measured.
    pub occupancy_limit_percent: Option<f64>,
}

impl Profiled {
    /// Bytes read and written over the duration, in 10^9 bytes per second.
    pub fn dram_gb_per_s(&self) -> Option<f64> {
        let bytes = self.dram_read_bytes + self.dram_written_bytes?;
        Some(bytes as f64 / self.duration_us / 1e3)
    }
}

impl Row {
    /// A row of ours on the CUDA device, without samples yet.
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

    /// What makes rows the same measurement in two runs: all but the times.
    pub fn key(&self) -> impl Ord + Hash {
        (
            (self.suite, self.by, self.backend, self.cache, self.timing),
            (&self.kernel, &self.variant, &self.op),
            (&self.element, &self.keys),
            (self.n, self.threads, self.chunks),
        )
    }

    /// Of a right row.
    pub fn median_us(&self) -> Option<f64> {
        self.time.map(|time| time.median_us)
    }

    /// Bytes over the median, in 10^9 bytes per second.
    pub fn gb_per_s(&self) -> Option<f64> {
        Some(self.bytes as f64 / self.median_us()? / 1e3)
    }
}

impl Results {
    /// Whether no run gave anything wrong.
    pub fn is_right(&self) -> bool {
        self.rows.iter().all(|row| row.wrong.is_none())
    }
}
