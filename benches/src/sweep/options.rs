//! The command line of `bench`.

use std::collections::HashSet;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::{Args, ValueEnum};
use warpfold::file::DType;
use warpfold_results::schema::{By, Suite};

use crate::options::count;

/// The element types of the suites ladder, kepler and copy.
pub const KERNEL_TYPES: [DType; 1] = [DType::I32];

/// The element types of reductions by key.
pub const KEYED_TYPES: [DType; 2] = [DType::F32, DType::F64];

/// The default budget without a CUDA device, where large arrays take long.
const PROCESSOR_BUDGET: Duration = Duration::from_secs(120);

#[derive(Args, Clone, Debug, Default)]
pub struct SweepOptions {
    /// Suites to run
    #[arg(
        long,
        value_name = "SUITE,..",
        value_delimiter = ',',
        default_value = "all"
    )]
    pub suite: Vec<SuiteName>,

    /// Numbers of elements: 400000000, 2^20, or a range of powers of two, 2^10..2^28; reductions by key take
    /// the nearest number that fills a box of cells, 4 to 16 in each [default: depends on the suite]
    #[arg(long, value_name = "N,..", value_delimiter = ',')]
    pub sizes: Vec<Sizes>,

    /// Element types of whole-array reductions and of reductions by key: i8, i16, i32, i64, u8, u16, u32,
    /// u64, f16, bf16, f32, f64 [default: depends on the suite]
    #[arg(long, value_name = "T,..", value_delimiter = ',')]
    pub types: Vec<DType>,

    /// Operators of whole-array reductions
    #[arg(
        long,
        value_name = "OP,..",
        value_delimiter = ',',
        default_value = "sum,min,arg_min,dot,mean_variance"
    )]
    pub ops: Vec<Operation>,

    /// Names of kernels, e.g. reduce_5 or block_atomic_vec4; for the suite operators names of operators, e.g.
    /// best [default: all]
    #[arg(long, value_name = "KERNEL,..", value_delimiter = ',')]
    pub algorithms: Vec<String>,

    /// Threads per block [default: 256 for the ladder and keys, 512 for kepler]
    #[arg(long, value_name = "T,..", value_delimiter = ',')]
    pub threads: Vec<u32>,

    /// Elements per thread of both forms of reduce_5 [default: those of the ladder]
    #[arg(long, value_name = "C,..", value_delimiter = ',')]
    pub chunks: Vec<u32>,

    /// Also time whole-array reductions with these threads per block
    #[arg(long, value_name = "T,..", value_delimiter = ',')]
    pub block_threads: Vec<u32>,

    /// Where to run [default: the CUDA device; without one the CPU and the simulator]
    #[arg(long, value_name = "BACKEND,..", value_delimiter = ',')]
    pub backend: Vec<BackendName>,

    /// Threads for reductions on the CPU [default: one for each core]
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u16).range(1..=4096))]
    pub cpu_threads: Option<u16>,

    /// Peers to compare with; the report names those that are absent
    #[arg(
        long,
        value_name = "PEER,..",
        value_delimiter = ',',
        default_value = "none"
    )]
    pub peers: Vec<PeerName>,

    /// Print no tables and no progress
    #[arg(long)]
    pub quiet: bool,

    /// Afterwards profile the kernels of the suites ladder and kepler with Nsight Compute, if it is installed
    #[arg(long)]
    pub profile: bool,

    /// Fewer sizes and rounds, for a first look in seconds
    #[arg(long)]
    pub quick: bool,

    /// Limit of the total time: 120s, 10m. Reduces rounds, then leaves out sizes, which the report notes
    /// [default: none on a CUDA device, else 2m]
    #[arg(long, value_name = "TIME", value_parser = budget)]
    pub budget: Option<Duration>,

    /// Elements of whole-array reductions, instead of random ones: i32, i64, u32, u64, f32 or f64
    #[arg(long, value_name = "FILE.npy")]
    pub input: Option<PathBuf>,

    /// Folder for results.json, results.csv, report.html and figures as SVG and PNG; created if missing
    #[arg(long, value_name = "DIR", default_value = "bench-results")]
    pub out: PathBuf,

    /// The results.json of an earlier run to compare with
    #[arg(long, value_name = "OLD.json")]
    pub compare: Option<PathBuf>,

    /// Exit with 1 if a row is significantly slower than in the earlier run
    #[arg(long, requires = "compare")]
    pub fail_on_regression: bool,

    /// Largest slowdown in percent that is not a regression
    #[arg(long, value_name = "PERCENT", default_value_t = 3.0)]
    pub tolerance: f64,

    /// Add a row that leaves out an element, to test the checks
    #[arg(long, hide = true)]
    pub wrong_kernel: bool,

    /// Index of the CUDA device [default: the first]
    #[arg(long, value_name = "I")]
    pub device: Option<u32>,

    /// Random seed [default: random, recorded]
    #[arg(long, value_name = "S")]
    pub seed: Option<u64>,
}

/// A suite, or all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SuiteName {
    /// The rungs of the ladder
    Ladder,
    /// Shuffles and atomics, with loads of one, two and four elements
    Kepler,
    /// Copies with accesses of 4, 8 and 16 bytes
    Copy,
    /// Reduction by key
    Keyed,
    /// Whole-array reductions by the library's calls
    Whole,
    /// User-defined operators and elements, and CUB with the same functors
    Operators,
    /// All of these
    All,
}

/// An operator whose result is an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Op {
    Sum,
    Min,
    Max,
}

impl Op {
    pub const ALL: [Op; 3] = [Op::Sum, Op::Min, Op::Max];

    /// The name in entries.
    pub fn name(self) -> &'static str {
        match self {
            Op::Sum => "sum",
            Op::Min => "min",
            Op::Max => "max",
        }
    }
}

/// An operator of the suite whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum Operation {
    Sum,
    Min,
    Max,
    ArgMin,
    ArgMax,
    Dot,
    MeanVariance,
}

impl Operation {
    /// The operator that gives the answer's element: `min` for `arg_min`; `None` without an element.
    pub fn element_op(self) -> Option<Op> {
        match self {
            Operation::Sum => Some(Op::Sum),
            Operation::Min | Operation::ArgMin => Some(Op::Min),
            Operation::Max | Operation::ArgMax => Some(Op::Max),
            Operation::Dot | Operation::MeanVariance => None,
        }
    }

    /// The number of input arrays.
    pub fn arrays(self) -> usize {
        match self {
            Operation::Dot => 2,
            _ => 1,
        }
    }
}

/// Where to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum BackendName {
    Cuda,
    Cpu,
    Sim,
}

/// A peer, none or all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PeerName {
    /// No peer
    None,
    /// CUB, compiled by the nvcc of this machine
    Cub,
    /// The same kernels in CUDA C++, compiled by the nvcc of this machine
    Nvcc,
    /// torch.sum etc., if python3 has torch
    Torch,
    /// cupy.sum etc., if python3 has cupy
    Cupy,
    /// All of these
    All,
}

/// One size, or a range of powers of two.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sizes(Vec<usize>);

impl Sizes {
    pub fn one(n: usize) -> Self {
        Self(vec![n])
    }
}

impl FromStr for Sizes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let Some((first, last)) = text.split_once("..") else {
            return Ok(Self::one(count(text)?));
        };
        let (first, last) = (power_of_two(first)?, power_of_two(last)?);
        if first > last {
            return Err("the first size is larger than the last".into());
        }
        Ok(Self((first..=last).map(|power| 1 << power).collect()))
    }
}

/// Parses a power of two and returns its exponent.
fn power_of_two(text: &str) -> Result<u32, String> {
    let n = count(text)?;
    match n.is_power_of_two() {
        true => Ok(n.ilog2()),
        false => Err(format!(
            "{text} is not a power of two; a range is e.g. 2^10..2^28"
        )),
    }
}

fn budget(text: &str) -> Result<Duration, String> {
    match humantime::parse_duration(text) {
        Ok(time) if time.is_zero() => Err("the budget is 0; must be positive".into()),
        Ok(time) => Ok(time),
        Err(error) => Err(format!("{error}; write e.g. 120s or 10m")),
    }
}

impl SweepOptions {
    /// The requested types among those that a suite has; all of them by default.
    pub fn types_of(&self, suite_types: &[DType]) -> Vec<DType> {
        let is_requested = |one: &&DType| self.types.is_empty() || self.types.contains(one);
        suite_types.iter().filter(is_requested).copied().collect()
    }

    /// Refuses a suite requested by name without any of the requested types, and options without their suite.
    pub fn check(&self) -> Result<(), String> {
        let suites = [
            (SuiteName::Ladder, "ladder", &KERNEL_TYPES[..]),
            (SuiteName::Kepler, "kepler", &KERNEL_TYPES),
            (SuiteName::Copy, "copy", &KERNEL_TYPES),
            (SuiteName::Keyed, "keyed", &KEYED_TYPES),
        ];
        for (name, suite, types) in suites {
            if self.suite.contains(&name) && self.types_of(types).is_empty() {
                let names: Vec<_> = types.iter().map(|element| element.name()).collect();
                let names = names.join(" and ");
                return Err(format!("suite {suite} has elements of {names} only"));
            }
        }
        let is_whole = self.suites().contains(&Suite::Whole);
        let options_of_whole = [
            ("block-threads", !self.block_threads.is_empty()),
            ("cpu-threads", self.cpu_threads.is_some()),
        ];
        match options_of_whole
            .iter()
            .find(|(_, is_set)| *is_set && !is_whole)
        {
            Some((name, _)) => Err(format!("--{name} requires suite whole")),
            None => Ok(()),
        }
    }

    /// The requested suites, in the order of their runs.
    pub fn suites(&self) -> Vec<Suite> {
        let all = [
            (SuiteName::Whole, Suite::Whole),
            (SuiteName::Operators, Suite::Operators),
            (SuiteName::Ladder, Suite::Ladder),
            (SuiteName::Kepler, Suite::Kepler),
            (SuiteName::Copy, Suite::Copy),
            (SuiteName::Keyed, Suite::Keyed),
        ];
        let wants = |name| self.suite.contains(&SuiteName::All) || self.suite.contains(&name);
        let requested = all.into_iter().filter(|(name, _)| wants(*name));
        requested.map(|(_, suite)| suite).collect()
    }

    /// The requested sizes; by default every `step`-th power of two, in a quick run every other of these.
    pub fn sizes(&self, powers: RangeInclusive<u32>, step: usize) -> Vec<usize> {
        if self.sizes.is_empty() {
            let step = if self.quick { 2 * step } else { step };
            return powers.step_by(step).map(|power| 1 << power).collect();
        }
        self.requested_sizes()
    }

    /// The requested sizes, sorted and without duplicates.
    pub fn requested_sizes(&self) -> Vec<usize> {
        let mut sizes: Vec<_> = self
            .sizes
            .iter()
            .flat_map(|sizes| &sizes.0)
            .copied()
            .collect();
        sizes.sort_unstable();
        sizes.dedup();
        sizes
    }

    /// The requested numbers of threads per block, without duplicates; `default` if there are none.
    pub fn threads(&self, default: &[u32]) -> Vec<u32> {
        let mut threads = match self.threads.as_slice() {
            [] => default.to_vec(),
            requested => requested.to_vec(),
        };
        let mut seen = HashSet::new();
        threads.retain(|threads| seen.insert(*threads));
        threads
    }

    /// Whether to measure on a backend: by default the CUDA device; without one, the CPU and the simulator.
    pub fn measures_on(&self, backend: BackendName, has_gpu: bool) -> bool {
        match self.backend.as_slice() {
            [] => (backend == BackendName::Cuda) == has_gpu,
            requested => requested.contains(&backend),
        }
    }

    /// Refuses options that would have no effect.
    pub fn check_backends(&self, has_gpu: bool) -> Result<(), String> {
        if !self.block_threads.is_empty() && !self.measures_on(BackendName::Cuda, has_gpu) {
            return Err(
                "--block-threads requires a CUDA device, but nothing is measured on one".into(),
            );
        }
        if self.cpu_threads.is_some() && !self.measures_on(BackendName::Cpu, has_gpu) {
            return Err(
                "--cpu-threads requires --backend cpu: nothing is measured on the CPU".into(),
            );
        }
        Ok(())
    }

    /// Whether rows of this kind were requested.
    pub fn wants(&self, by: By) -> bool {
        let name = match by {
            By::Cub => PeerName::Cub,
            By::Nvcc => PeerName::Nvcc,
            By::Torch => PeerName::Torch,
            By::Cupy => PeerName::Cupy,
            By::Warpfold | By::Ceiling | By::Driver | By::Loop => return true,
        };
        self.peers.contains(&PeerName::All) || self.peers.contains(&name)
    }

    /// Whether a kernel of this name was requested.
    pub fn wants_kernel(&self, name: &str) -> bool {
        self.algorithms.is_empty() || self.algorithms.iter().any(|requested| requested == name)
    }

    /// The minimum and maximum of timed rounds of each group. Unit tests check answers, not times.
    pub fn rounds(&self) -> (usize, usize) {
        match self.quick {
            _ if cfg!(test) => (6, 6),
            true => (20, 40),
            false => (30, 300),
        }
    }

    /// The limit of the total time.
    pub fn budget(&self, on_cuda: bool) -> Option<Duration> {
        self.budget.or((!on_cuda).then_some(PROCESSOR_BUDGET))
    }

    /// The minimum and maximum of warm-up rounds.
    pub fn warmup(&self) -> (usize, usize) {
        if cfg!(test) { (1, 1) } else { (3, 20) }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::options::{Cli, Command};

    fn parse(line: &str) -> Result<SweepOptions, clap::Error> {
        let words = ["warpfold-bench", "bench"];
        match Cli::try_parse_from(words.into_iter().chain(line.split_whitespace()))?.command {
            Command::Bench(options) => Ok(*options),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn sizes_are_numbers_powers_and_ranges() {
        let sizes = |line: &str| parse(line).unwrap().sizes(10..=12, 1);
        assert_eq!(sizes(""), [1 << 10, 1 << 11, 1 << 12]);
        assert_eq!(sizes("--quick"), [1 << 10, 1 << 12]);
        assert_eq!(sizes("--sizes 1000,7,1000"), [7, 1000]);
        assert_eq!(sizes("--sizes 2^3..2^5,16"), [8, 16, 32]);
        assert_eq!(sizes("--sizes 2^63..2^63"), [1 << 63]);
        for bad in ["0", "2^64", "2^5..2^3", "10..20", "2^3..", "..", "x"] {
            let error = parse(&format!("--sizes {bad}")).unwrap_err();
            assert_eq!(error.exit_code(), 2, "{bad}");
        }
    }

    #[test]
    fn all_is_every_suite_and_every_peer() {
        let options = parse("--peers all").unwrap();
        assert_eq!(options.suites().len(), 6);
        assert!([By::Cub, By::Nvcc, By::Torch, By::Cupy].map(|by| options.wants(by)) == [true; 4]);
        let options = parse("--suite copy,whole --peers cub").unwrap();
        assert_eq!(options.suites(), [Suite::Whole, Suite::Copy]);
        assert!(options.wants(By::Cub) && !options.wants(By::Nvcc) && options.wants(By::Ceiling));
        assert!(!parse("").unwrap().wants(By::Cub));
    }

    #[test]
    fn types_that_a_suite_lacks_are_refused_if_it_is_named() {
        let refused = |line: &str| parse(line).unwrap().check().err();
        let reason = refused("--suite whole,ladder --types f32").unwrap();
        assert_eq!(reason, "suite ladder has elements of i32 only");
        assert!(
            refused("--suite keyed --types i32")
                .unwrap()
                .contains("f32 and f64")
        );
        assert_eq!(refused("--suite keyed --types i32,f64"), None);
        assert_eq!(refused("--types u8"), None, "all suites with this type");
    }

    #[test]
    fn options_without_effect_are_refused() {
        let check = |line: &str, has_gpu| {
            let options = parse(line).unwrap();
            options
                .check()
                .and_then(|()| options.check_backends(has_gpu))
                .err()
        };
        for (line, has_gpu) in [
            ("--block-threads 64", false),
            ("--block-threads 64 --backend cpu", true),
            ("--block-threads 64 --suite copy", true),
            ("--cpu-threads 2", true),
            ("--cpu-threads 2 --backend sim", false),
            ("--cpu-threads 2 --suite ladder --backend cpu", false),
        ] {
            let reason = check(line, has_gpu).unwrap();
            assert!(reason.contains(&line[..6]), "{line}: {reason}");
        }
        assert_eq!(check("--block-threads 64", true), None);
        assert_eq!(check("--cpu-threads 2", false), None);
        assert_eq!(
            check(
                "--cpu-threads 2 --block-threads 64 --backend cpu,cuda",
                true
            ),
            None
        );
    }

    #[test]
    fn invalid_values_are_refused() {
        for bad in [
            "--suite maxwell",
            "--types f8",
            "--ops xor",
            "--backend tpu",
            "--peers thrust",
            "--block-threads 64x1",
            "--cpu-threads 0",
            "--budget 0s",
            "--budget soon",
            "--fail-on-regression",
        ] {
            assert_eq!(parse(bad).unwrap_err().exit_code(), 2, "{bad}");
        }
        let budget = parse("--budget 2m").unwrap().budget;
        assert_eq!(budget, Some(Duration::from_secs(120)));
    }
}
