//! The command line of `bench`.

use std::collections::HashSet;
use std::fmt::{self, Display};
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::{Args, ValueEnum};
use warpfold::file::DType;
use warpfold_results::schema::{By, Suite};

use crate::options::count;

/// What the suites of single kernels are of.
pub const OF_INTEGERS: [DType; 1] = [DType::I32];

/// What reductions by key are timed of.
pub const OF_FLOATS: [DType; 2] = [DType::F32, DType::F64];

/// Without a CUDA device, by default: large arrays take long, and are not worth it.
const PROCESSOR_BUDGET: Duration = Duration::from_secs(120);

#[derive(Args, Clone, Debug, Default)]
pub struct SweepOptions {
    /// What to measure
    #[arg(
        long,
        value_name = "SUITE,..",
        value_delimiter = ',',
        default_value = "all"
    )]
    pub suite: Vec<Wanted>,

    /// Elements: 400000000, 2^20, or every power of two in 2^10..2^28; of reductions by key the nearest
    /// that fill a box of cells, with 4 to 16 in each [default: each suite's own]
    #[arg(long, value_name = "N,..", value_delimiter = ',')]
    pub sizes: Vec<Sizes>,

    /// Element types of whole-array reductions and of reductions by key: i8, i16, i32, i64, u8, u16, u32, u64, f16,
    /// bf16, f32, f64 [default: each suite's own]
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

    /// Kernels, by name: `reduce_5`, `block_atomic_vec4`; in suite operators its operators: `best`
    /// [default: all]
    #[arg(long, value_name = "KERNEL,..", value_delimiter = ',')]
    pub algorithms: Vec<String>,

    /// Threads per block [default: 256 for the ladder and keys, 512 for kepler]
    #[arg(long, value_name = "T,..", value_delimiter = ',')]
    pub threads: Vec<u32>,

    /// Elements per thread of reduce_5, both its forms for each [default: the ladder's own rows]
    #[arg(long, value_name = "C,..", value_delimiter = ',')]
    pub chunks: Vec<u32>,

    /// Grids to time whole-array reductions in beside the default one: 512x528 is 528 blocks of 512 threads
    #[arg(long, value_name = "THREADSxBLOCKS,..", value_delimiter = ',')]
    pub grids: Vec<Grid>,

    /// Where to run [default: the CUDA device; without one the CPU and the simulator]
    #[arg(long, value_name = "BACKEND,..", value_delimiter = ',')]
    pub backend: Vec<BackendName>,

    /// Threads of reductions on the CPU [default: one for each core]
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u16).range(1..=4096))]
    pub cpu_threads: Option<u16>,

    /// What to compare with; what is not there is said to be absent
    #[arg(
        long,
        value_name = "PEER,..",
        value_delimiter = ',',
        default_value = "none"
    )]
    pub peers: Vec<PeerName>,

    /// Print no tables, and show no progress
    #[arg(long)]
    pub quiet: bool,

    /// Show the kernels of the suites ladder and kepler to Nsight Compute afterwards, where it is there
    #[arg(long)]
    pub profile: bool,

    /// Fewer sizes and rounds: a look, in seconds
    #[arg(long)]
    pub quick: bool,

    /// The most time to take: 120s, 10m. Rounds get fewer, then sizes are left out, and the report says so
    /// [default: none on a CUDA device, else 2m]
    #[arg(long, value_name = "TIME", value_parser = budget)]
    pub budget: Option<Duration>,

    /// Elements of whole-array reductions, in place of random ones: i32, i64, u32, u64, f32 or f64
    #[arg(long, value_name = "FILE.npy")]
    pub input: Option<PathBuf>,

    /// Folder of results.json, results.csv, report.html and its figures as SVG and PNG; made where it is missing
    #[arg(long, value_name = "DIR", default_value = "bench-results")]
    pub out: PathBuf,

    /// The results.json of an earlier run, to set this one beside
    #[arg(long, value_name = "OLD.json")]
    pub compare: Option<PathBuf>,

    /// Exit with 1 where a row is slower than in the earlier run, beyond doubt
    #[arg(long, requires = "compare")]
    pub fail_on_regression: bool,

    /// How much slower, in percent, is no regression yet
    #[arg(long, value_name = "PERCENT", default_value_t = 3.0)]
    pub tolerance: f64,

    /// Add a row that leaves an element out, to see it refused
    #[arg(long, hide = true)]
    pub wrong_kernel: bool,

    /// CUDA's index of the device [default: the first]
    #[arg(long, value_name = "I")]
    pub device: Option<u32>,

    /// Random seed [default: random, recorded]
    #[arg(long, value_name = "S")]
    pub seed: Option<u64>,
}

/// A suite, or all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Wanted {
    /// The rungs of the ladder
    Ladder,
    /// Shuffles and atomics, by one element at a time, by two and by four
    Kepler,
    /// Copies by accesses of 4, 8 and 16 bytes
    Copy,
    /// Reduction by key
    Keyed,
    /// Whole-array reductions as a program calls them
    Whole,
    /// Operators and elements of a crate of its own, beside CUB with the same functors
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

    /// As entries have it.
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
    /// The operator whose result is an element: that of the value, where this one finds its index.
    pub fn of_elements(self) -> Option<Op> {
        match self {
            Operation::Sum => Some(Op::Sum),
            Operation::Min | Operation::ArgMin => Some(Op::Min),
            Operation::Max | Operation::ArgMax => Some(Op::Max),
            Operation::Dot | Operation::MeanVariance => None,
        }
    }

    /// Arrays that it reduces.
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

/// What to compare with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PeerName {
    /// Nothing
    None,
    /// CUB, compiled by the nvcc of this machine
    Cub,
    /// The same kernels in CUDA C++, compiled by the nvcc of this machine
    Nvcc,
    /// torch.sum and its like, where python3 has torch
    Torch,
    /// cupy.sum and its like, where python3 has cupy
    Cupy,
    /// All of these
    All,
}

/// Threads per block, and blocks, of a whole-array reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    pub threads: u32,
    pub blocks: u32,
}

impl FromStr for Grid {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers = text.split_once('x').and_then(|(threads, blocks)| {
            Some(Grid {
                threads: threads.parse().ok()?,
                blocks: blocks.parse().ok()?,
            })
        });
        numbers.ok_or_else(|| "not threads and blocks such as 512x528".into())
    }
}

impl Display for Grid {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}x{}", self.threads, self.blocks)
    }
}

/// One size, or the powers of two from one to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sizes(Vec<usize>);

impl Sizes {
    /// This size alone.
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

/// The exponent.
fn power_of_two(text: &str) -> Result<u32, String> {
    let n = count(text)?;
    match n.is_power_of_two() {
        true => Ok(n.ilog2()),
        false => Err(format!(
            "a range is between powers of two, as 2^10..2^28; {text} is none"
        )),
    }
}

fn budget(text: &str) -> Result<Duration, String> {
    match humantime::parse_duration(text) {
        Ok(time) if time.is_zero() => Err("nothing can be measured in no time".into()),
        Ok(time) => Ok(time),
        Err(error) => Err(format!("{error}; a time is 120s or 10m")),
    }
}

impl SweepOptions {
    /// The types of a suite's elements that were asked for; its own where none were. Whole-array reductions are
    /// of all types.
    pub fn types_of(&self, own: &[DType]) -> Vec<DType> {
        let asked = |own: &&DType| self.types.is_empty() || self.types.contains(own);
        own.iter().filter(asked).copied().collect()
    }

    /// Refuses a suite that was asked for by its name, of types that it lacks.
    pub fn check(&self) -> Result<(), String> {
        let suites = [
            (Wanted::Ladder, "ladder", &OF_INTEGERS[..]),
            (Wanted::Kepler, "kepler", &OF_INTEGERS),
            (Wanted::Copy, "copy", &OF_INTEGERS),
            (Wanted::Keyed, "keyed", &OF_FLOATS),
        ];
        for (name, suite, own) in suites {
            if self.suite.contains(&name) && self.types_of(own).is_empty() {
                let names: Vec<_> = own.iter().map(|element| element.name()).collect();
                let own = names.join(" and ");
                return Err(format!("suite {suite} has elements of {own} only"));
            }
        }
        let is_whole = self.suites().contains(&Suite::Whole);
        let of_whole = [
            ("grids", !self.grids.is_empty()),
            ("cpu-threads", self.cpu_threads.is_some()),
        ];
        match of_whole.iter().find(|(_, is_asked)| *is_asked && !is_whole) {
            Some((name, _)) => Err(format!("--{name} is for suite whole")),
            None => Ok(()),
        }
    }

    /// In the order in which they are run.
    pub fn suites(&self) -> Vec<Suite> {
        let all = [
            (Wanted::Whole, Suite::Whole),
            (Wanted::Operators, Suite::Operators),
            (Wanted::Ladder, Suite::Ladder),
            (Wanted::Kepler, Suite::Kepler),
            (Wanted::Copy, Suite::Copy),
            (Wanted::Keyed, Suite::Keyed),
        ];
        let wants = |name| self.suite.contains(&Wanted::All) || self.suite.contains(&name);
        let wanted = all.into_iter().filter(|(name, _)| wants(*name));
        wanted.map(|(_, suite)| suite).collect()
    }

    /// The sizes that were asked for, each once, in order; or every `step`-th power of two from one to
    /// the other, every other of them in a quick run.
    pub fn sizes(&self, powers: RangeInclusive<u32>, step: usize) -> Vec<usize> {
        if self.sizes.is_empty() {
            let step = if self.quick { 2 * step } else { step };
            return powers.step_by(step).map(|power| 1 << power).collect();
        }
        self.asked_sizes()
    }

    /// The sizes that were asked for, each once, in order.
    pub fn asked_sizes(&self) -> Vec<usize> {
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

    /// The numbers of threads per block that were asked for, each once; `own` where none were.
    pub fn threads(&self, own: &[u32]) -> Vec<u32> {
        let mut threads = match self.threads.as_slice() {
            [] => own.to_vec(),
            asked => asked.to_vec(),
        };
        let mut met = HashSet::new();
        threads.retain(|threads| met.insert(*threads));
        threads
    }

    /// Whether something is to be measured there: without a wish, on the CUDA device; without one, on the
    /// CPU and in the simulator.
    pub fn measures_on(&self, backend: BackendName, has_gpu: bool) -> bool {
        match self.backend.as_slice() {
            [] => (backend == BackendName::Cuda) == has_gpu,
            asked => asked.contains(&backend),
        }
    }

    /// Refuses what would be passed over in silence.
    pub fn check_backends(&self, has_gpu: bool) -> Result<(), String> {
        if !self.grids.is_empty() && !self.measures_on(BackendName::Cuda, has_gpu) {
            return Err("--grids are of a CUDA device, and nothing is measured on one".into());
        }
        if self.cpu_threads.is_some() && !self.measures_on(BackendName::Cpu, has_gpu) {
            return Err(
                "--cpu-threads: nothing is measured on the CPU without --backend cpu".into(),
            );
        }
        Ok(())
    }

    /// Whether rows by this peer were asked for.
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

    /// Whether a kernel of this name was asked for.
    pub fn wants_kernel(&self, name: &str) -> bool {
        self.algorithms.is_empty() || self.algorithms.iter().any(|wanted| wanted == name)
    }

    /// Timed rounds of each group, at least and at most.
    pub fn rounds(&self) -> (usize, usize) {
        if self.quick { (20, 40) } else { (30, 300) }
    }

    /// The most time to take.
    pub fn budget(&self, on_cuda: bool) -> Option<Duration> {
        self.budget.or((!on_cuda).then_some(PROCESSOR_BUDGET))
    }

    /// Rounds before them.
    pub fn warmup(&self) -> (usize, usize) {
        (3, 20)
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
    fn types_that_a_suite_lacks_are_refused_where_it_is_named() {
        let refused = |line: &str| parse(line).unwrap().check().err();
        let reason = refused("--suite whole,ladder --types f32").unwrap();
        assert_eq!(reason, "suite ladder has elements of i32 only");
        assert!(
            refused("--suite keyed --types i32")
                .unwrap()
                .contains("f32 and f64")
        );
        assert_eq!(refused("--suite keyed --types i32,f64"), None);
        assert_eq!(
            refused("--types u8"),
            None,
            "of all suites, those that have it"
        );
    }

    #[test]
    fn grids_are_threads_and_blocks() {
        let options = parse("--grids 512x528,64x1").unwrap();
        let names: Vec<_> = options.grids.iter().map(Grid::to_string).collect();
        assert_eq!(names, ["512x528", "64x1"]);
        assert_eq!(
            (options.grids[0].threads, options.grids[0].blocks),
            (512, 528)
        );
    }

    #[test]
    fn what_nothing_would_come_of_is_refused() {
        let check = |line: &str, has_gpu| {
            let options = parse(line).unwrap();
            options
                .check()
                .and_then(|()| options.check_backends(has_gpu))
                .err()
        };
        for (line, has_gpu) in [
            ("--grids 64x1", false),
            ("--grids 64x1 --backend cpu", true),
            ("--grids 64x1 --suite copy", true),
            ("--cpu-threads 2", true),
            ("--cpu-threads 2 --backend sim", false),
            ("--cpu-threads 2 --suite ladder --backend cpu", false),
        ] {
            let reason = check(line, has_gpu).unwrap();
            assert!(reason.contains(&line[..6]), "{line}: {reason}");
        }
        assert_eq!(check("--grids 64x1", true), None);
        assert_eq!(check("--cpu-threads 2", false), None);
        assert_eq!(
            check("--cpu-threads 2 --grids 64x1 --backend cpu,cuda", true),
            None
        );
    }

    #[test]
    fn what_is_unknown_is_refused() {
        for bad in [
            "--suite maxwell",
            "--types f8",
            "--ops xor",
            "--backend tpu",
            "--peers thrust",
            "--grids 512",
            "--grids 512x",
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
