//! The command line.

use std::fmt::Display;
use std::path::PathBuf;

use clap::{ArgGroup, Args, Parser, Subcommand, ValueEnum};
use warpfold::Policy;
use warpfold::file::DType;

#[cfg(feature = "sweeps")]
use crate::accuracy::options::AccuracyOptions;
use crate::sweep::options::{Operation, PeerName, Sizes, SuiteName, SweepOptions};

/// Measures warpfold, its peers and the hardware's limit.
#[derive(Debug, Parser)]
#[command(name = "warpfold-bench", version)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    #[cfg(feature = "sweeps")]
    /// Sweep over sizes, types and kernels, compare with peers and the hardware's limit, and write a report
    Bench(Box<SweepOptions>),
    /// Time every rung of the reduction ladder on the same random integers, and print a table
    Ladder(LadderOptions),
    #[cfg(feature = "sweeps")]
    /// Compare sums by the library's levels of determinism, and by other libraries, with the exact sum
    Accuracy(AccuracyOptions),
    #[cfg(feature = "sweeps")]
    /// Count each kernel's instructions and measure where its time goes, with Nsight Compute
    Profile(ProfileOptions),
    #[cfg(feature = "sweeps")]
    /// Time exact sums beside the default and a read of as many bytes
    Exact(ExactOptions),
    #[cfg(feature = "many")]
    /// Time and check reductions of one array on several GPUs, in one process or started by a launcher
    Many(ManyOptions),
    #[cfg(feature = "sweeps")]
    /// Time segmented reductions beside a read of as many bytes
    Segments(SegmentsOptions),
    #[cfg(feature = "sweeps")]
    /// Time reductions along axes beside a read of as many bytes
    Axes(PartsOptions),
    #[cfg(feature = "sweeps")]
    /// Time reductions of runs of equal keys beside a read of as many bytes
    Runs(PartsOptions),
    #[cfg(feature = "sweeps")]
    /// Time reductions by keys of any value in any order
    Groups(GroupsOptions),
    #[cfg(feature = "sweeps")]
    /// Show the records of segments, axes, runs and groups as tables and figures
    Parts(PagesOptions),
    #[cfg(feature = "sweeps")]
    /// Launch each kernel once and check its answer, for profilers and sanitizers
    Launch(LaunchOptions),
}

/// The ladder's default number of integers.
const LADDER_N: usize = 400_000_000;

/// The ladder's default number of integers on the CPU.
const CPU_N: usize = 1 << 26;

#[derive(Args, Debug)]
pub struct LadderOptions {
    /// Integers to reduce: 400000000, 400_000_000 or 2^28 [default: 400000000, on the CPU 2^26]
    #[arg(long, value_name = "N", value_parser = count)]
    pub n: Option<usize>,

    /// Threads per block [default: 256]
    #[arg(long, value_name = "T,..", value_delimiter = ',')]
    pub threads: Vec<u32>,

    /// Also time the same kernels compiled by nvcc, and CUB's sum (needs nvcc)
    #[arg(long)]
    pub peers: bool,

    /// Index of the CUDA device [default: the first, or the CPU without one]
    #[arg(long, value_name = "I")]
    pub device: Option<u32>,

    /// Random seed [default: random, printed]
    #[arg(long, value_name = "S")]
    pub seed: Option<u64>,

    /// Write all results and samples to this file, in the format of results.json of `bench`
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub struct ExactOptions {
    /// Items of an array: 65536, 2^16
    #[arg(long, value_name = "N,..", value_parser = count, value_delimiter = ',', default_value = "2^16,2^24")]
    pub n: Vec<usize>,

    /// The CPU, also if there is a GPU
    #[arg(long)]
    pub cpu: bool,

    /// Also time CUB's sums of f32 and f64, by default and in the mode gpu_to_gpu (needs nvcc; the mode, CUB 3.1)
    #[arg(long, conflicts_with = "cpu")]
    pub peers: bool,

    /// Write all times to this file
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub struct ManyOptions {
    /// Elements of an array: 65536, 2^16
    #[arg(long, value_name = "N,..", value_parser = count, value_delimiter = ',', default_value = "2^20,2^24,2^28")]
    pub n: Vec<usize>,

    /// The GPUs of one process
    #[arg(long, value_name = "N", default_value = "2", value_parser = clap::value_parser!(u32).range(1..))]
    pub gpus: u32,

    /// Write all times to this file
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub struct SegmentsOptions {
    #[command(flatten)]
    pub parts: PartsOptions,

    /// Time sums of f32 of 2^24 to 2^32 items, as many as the device's memory allows, and print the time per byte
    #[arg(long, conflicts_with_all = ["n", "peers"])]
    pub growth: bool,
}

#[derive(Args, Debug, Default)]
pub struct PartsOptions {
    /// Items of all parts together
    #[arg(long, value_name = "N", value_parser = count, default_value = "2^28")]
    pub n: usize,

    /// Only rows with this text in their name, e.g. uniform
    #[arg(long, value_name = "TEXT")]
    pub only: Option<String>,

    /// Also time other libraries that have such a call: CUB (needs nvcc), PyTorch and CuPy (need python3)
    #[arg(long)]
    pub peers: bool,

    /// Write all times to this file
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub struct GroupsOptions {
    /// Pairs of a key and a value
    #[arg(long, value_name = "N", value_parser = count, default_value = "2^26")]
    pub n: usize,

    /// Only rows with this text in their name, e.g. zipf
    #[arg(long, value_name = "TEXT")]
    pub only: Option<String>,

    /// Also time CUB's sort and ReduceByKey (needs nvcc)
    #[arg(long)]
    pub peers: bool,

    /// Write all times to this file
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub struct PagesOptions {
    /// The folder with segments.json, axes.json, runs.json, growth.json and groups.json, or some of them
    #[arg(long, value_name = "DIR")]
    pub read: PathBuf,

    /// Write the figures of segments and runs to this folder
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,

    /// Write the tables into these pages, each between its two markers
    #[arg(long, value_name = "FILE,..", value_delimiter = ',')]
    pub page: Vec<PathBuf>,
}

#[derive(Args, Debug)]
#[command(group = ArgGroup::new("what").required(true).multiple(true)
    .args(["ladder", "kepler", "entries", "read"]))]
pub struct ProfileOptions {
    /// Every rung on i32; reduce_0, reduce_1, reduce_2 and reduce_4 also on f32 and f64
    #[arg(long)]
    pub ladder: bool,

    /// Shuffles and atomics on i32, with loads of one, two and four elements
    #[arg(long)]
    pub kepler: bool,

    /// These entries, e.g. reduce_2_sum_i32, block_atomic_vec4_min_f32 or single_pass_max_f64
    #[arg(long, value_name = "E,..", value_delimiter = ',')]
    pub entries: Vec<String>,

    /// Show the profile.json of an earlier run
    #[arg(long, value_name = "FILE", conflicts_with_all = ["ladder", "kepler", "entries", "lines"])]
    pub read: Option<PathBuf>,

    /// Number of elements for counting instructions; a power of two fills all blocks
    #[arg(long, value_name = "N", value_parser = count, default_value = "2^20")]
    pub n: usize,

    /// Threads per block for counting instructions
    #[arg(
        long,
        value_name = "T,..",
        value_delimiter = ',',
        default_value = "128,256,512,1024"
    )]
    pub threads: Vec<u32>,

    /// Number of elements for measuring time
    #[arg(long, value_name = "N", value_parser = count, default_value = "400000000")]
    pub timed_n: usize,

    /// Threads per block for measuring time
    #[arg(long, value_name = "T", default_value = "256")]
    pub timed_threads: u32,

    /// Only count instructions, or only measure time
    #[arg(long)]
    pub only: Option<Only>,

    /// Attribute the time to source lines instead; needs kernels built by `cargo xtask profile --lines`
    #[arg(long, conflicts_with = "only")]
    pub lines: bool,

    /// Write Nsight Compute's output, the figures, the tables and an HTML page to this folder
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,

    /// Index of the CUDA device [default: the first]
    #[arg(long, value_name = "I")]
    pub device: Option<u32>,

    /// Random seed [default: random, recorded]
    #[arg(long, value_name = "S")]
    pub seed: Option<u64>,
}

/// A part of a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Only {
    /// Counts of instructions
    Counts,
    /// Times
    Times,
}

#[derive(Args, Debug)]
pub struct LaunchOptions {
    /// Entries, e.g. reduce_2_sum_i32, block_atomic_vec4_min_f32 or single_pass_max_f64
    #[arg(long, value_name = "E,..", value_delimiter = ',', required = true)]
    pub entries: Vec<String>,

    /// Elements to reduce
    #[arg(long, value_name = "N", value_parser = count, default_value = "2^20")]
    pub n: usize,

    /// Threads per block
    #[arg(long, value_name = "T", default_value = "256")]
    pub threads: u32,

    /// Index of the CUDA device [default: the first, or the CPU without one]
    #[arg(long, value_name = "I")]
    pub device: Option<u32>,

    /// Random seed
    #[arg(long, value_name = "S", default_value = "1")]
    pub seed: u64,

    /// Write a list of the launches to this file, as JSON
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}

impl LadderOptions {
    /// The number of integers on the CPU, at most `limit`.
    pub fn on_cpu(&self, limit: usize) -> usize {
        self.n.unwrap_or(CPU_N).min(limit)
    }

    /// The equivalent options of `bench`.
    pub fn sweep(&self) -> SweepOptions {
        let (nvcc_and_cub, none) = (vec![PeerName::Nvcc, PeerName::Cub], Vec::new());
        let threads = match self.threads.as_slice() {
            [] => vec![Policy::LADDER_THREADS],
            threads => threads.to_vec(),
        };
        SweepOptions {
            suite: vec![SuiteName::Ladder],
            sizes: vec![Sizes::one(self.n.unwrap_or(LADDER_N))],
            types: vec![DType::I32],
            ops: vec![Operation::Sum],
            threads,
            peers: if self.peers { nvcc_and_cub } else { none },
            device: self.device,
            seed: self.seed,
            ..SweepOptions::default()
        }
    }
}

/// An argument of valid form and invalid value; exit code 2, like clap's errors.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct BadOption(String);

impl BadOption {
    /// With the text of the underlying error.
    pub fn new(error: impl Display) -> BadOption {
        BadOption(format!("{error:#}"))
    }
}

/// Converts the errors that an option causes to [`BadOption`].
pub fn bad_option(error: warpfold::Error) -> anyhow::Error {
    use warpfold::Error::{BlockSize, Chunks, DeviceIndex, GridTooLarge};
    match error {
        BlockSize { .. } | Chunks { .. } | DeviceIndex { .. } | GridTooLarge { .. } => {
            BadOption::new(error).into()
        }
        _ => error.into(),
    }
}

/// Parses a number of elements.
pub fn count(text: &str) -> Result<usize, String> {
    let digits = text.replace('_', "");
    let count = match digits.split_once('^') {
        None => digits.parse().ok(),
        Some((base, power)) => match (base.parse::<usize>(), power.parse()) {
            (Ok(base), Ok(power)) => base.checked_pow(power),
            _ => None,
        },
    };
    match count {
        Some(0) => Err("the number of elements is 0; must be at least 1".into()),
        Some(count) => Ok(count),
        None => Err("not a number of elements; write 400000000, 400_000_000 or 2^28".into()),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;
    use warpfold_results::schema::{By, Suite};

    use super::*;

    fn parse(arguments: &str) -> Result<LadderOptions, clap::Error> {
        let words = ["warpfold-bench", "ladder"]
            .into_iter()
            .chain(arguments.split_whitespace());
        match Cli::try_parse_from(words)?.command {
            Command::Ladder(options) => Ok(options),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn the_ladder_is_a_sweep_of_one_size() {
        let sweep = |line: &str| parse(line).unwrap().sweep();
        let options = sweep("");
        assert_eq!(options.suites(), [Suite::Ladder]);
        assert_eq!(options.requested_sizes(), [400_000_000]);
        assert_eq!(options.threads(&[]), [256]);
        assert!(!options.wants(By::Nvcc) && options.device.is_none() && options.seed.is_none());
        let options = sweep("--n 2^10 --threads 512,256,512 --peers --seed 9");
        assert_eq!(options.requested_sizes(), [1 << 10]);
        assert_eq!(options.threads(&[]), [512, 256]);
        assert!(options.wants(By::Nvcc) && options.wants(By::Cub) && !options.wants(By::Torch));
        assert_eq!(options.seed, Some(9));
        for bad in ["--n 0", "--treads 256"] {
            assert_eq!(parse(bad).unwrap_err().exit_code(), 2, "{bad}");
        }
    }

    #[cfg(feature = "sweeps")]
    #[test]
    fn growth_has_its_own_sizes_and_no_peers() {
        let parse = |line: &str| {
            let words = ["warpfold-bench", "segments"].into_iter();
            match Cli::try_parse_from(words.chain(line.split_whitespace()))?.command {
                Command::Segments(options) => Ok(options),
                other => panic!("{other:?}"),
            }
        };
        assert!(!parse("--peers --n 2^20").unwrap().growth);
        assert!(parse("--growth --only 256").unwrap().growth);
        for bad in ["--growth --n 2^20", "--growth --peers"] {
            let error: clap::Error = parse(bad).unwrap_err();
            assert_eq!(error.exit_code(), 2, "{bad}");
        }
    }

    #[test]
    fn counts_are_parsed() {
        assert_eq!(count("400_000_000"), Ok(400_000_000));
        assert_eq!(count("2^28"), Ok(1 << 28));
        assert!(count("0").unwrap_err().contains("at least 1"));
        for bad in ["", "-1", "1.5", "2^", "^2", "2^64", "2^99999999999", "ten"] {
            assert!(count(bad).is_err(), "{bad}");
        }
    }
}
