//! The command line.

use std::fmt::Display;
use std::path::PathBuf;

use clap::{ArgGroup, Args, Parser, Subcommand, ValueEnum};
use warpfold::Policy;
use warpfold::file::DType;

use crate::sweep::options::{Operation, PeerName, Sizes, SweepOptions, Wanted};

/// Measures warpfold beside its peers and the hardware's limit.
#[derive(Debug, Parser)]
#[command(name = "warpfold-bench", version)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    #[cfg(feature = "sweeps")]
    /// Sweeps over sizes, types and kernels, beside peers and the hardware's limit, with a report
    Bench(Box<SweepOptions>),
    /// The reduction ladder at one size, as a table: every rung on the same random integers, timed in turn
    Ladder(LadderOptions),
    #[cfg(feature = "sweeps")]
    /// What each kernel does and where its time goes, by Nsight Compute
    Profile(ProfileOptions),
    #[cfg(feature = "sweeps")]
    /// Launch kernels once each and check their answers: what a profiler or a sanitizer runs
    Launch(LaunchOptions),
}

/// Integers that the ladder reduces by default.
const LADDER_N: usize = 400_000_000;

/// The same on the CPU, whose rows are a first look.
const CPU_N: usize = 1 << 26;

#[derive(Args, Debug)]
pub struct LadderOptions {
    /// Integers to reduce: 400000000, 400_000_000 or 2^28 [default: 400000000, on the CPU 2^26]
    #[arg(long, value_name = "N", value_parser = count)]
    pub n: Option<usize>,

    /// Threads per block [default: 256]
    #[arg(long, value_name = "T,..", value_delimiter = ',')]
    pub threads: Vec<u32>,

    /// Time the same kernels from nvcc, and CUB's sum, in the same rounds (needs nvcc)
    #[arg(long)]
    pub peers: bool,

    /// CUDA's index of the device [default: the first, or the CPU where there is none]
    #[arg(long, value_name = "I")]
    pub device: Option<u32>,

    /// Random seed [default: random, printed]
    #[arg(long, value_name = "S")]
    pub seed: Option<u64>,

    /// Write everything, with every sample, to this file: the results.json of `bench`
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}

#[derive(Args, Debug)]
#[command(group = ArgGroup::new("what").required(true).multiple(true).args(["ladder", "kepler", "entries", "read"]))]
pub struct ProfileOptions {
    /// Every rung on i32, the trees on f32 and f64 too
    #[arg(long)]
    pub ladder: bool,

    /// Shuffles and atomics, by one i32 at a time, by two and by four
    #[arg(long)]
    pub kepler: bool,

    /// These entries, as reduce_2_sum_i32, block_atomic_vec4_min_f32 or single_pass_max_f64
    #[arg(long, value_name = "E,..", value_delimiter = ',')]
    pub entries: Vec<String>,

    /// Show the profile.json of an earlier run
    #[arg(long, value_name = "FILE", conflicts_with_all = ["ladder", "kepler", "entries", "lines"])]
    pub read: Option<PathBuf>,

    /// Elements where instructions are counted; a power of two fills all blocks
    #[arg(long, value_name = "N", value_parser = count, default_value = "2^20")]
    pub n: usize,

    /// Threads per block where instructions are counted
    #[arg(
        long,
        value_name = "T,..",
        value_delimiter = ',',
        default_value = "128,256,512,1024"
    )]
    pub threads: Vec<u32>,

    /// Elements where time is measured
    #[arg(long, value_name = "N", value_parser = count, default_value = "400000000")]
    pub timed_n: usize,

    /// Threads per block where time is measured
    #[arg(long, value_name = "T", default_value = "256")]
    pub timed_threads: u32,

    /// Do one of the two
    #[arg(long)]
    pub only: Option<Only>,

    /// Show in place of both in which lines of the source the time goes: where
    /// `cargo xtask profile --lines` has built the kernels
    #[arg(long, conflicts_with = "only")]
    pub lines: bool,

    /// Keep what Nsight Compute printed, the figures, the tables and a page in this folder
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,

    /// CUDA's index of the device [default: the first]
    #[arg(long, value_name = "I")]
    pub device: Option<u32>,

    /// Of the random integers [default: a fresh one]
    #[arg(long, value_name = "S")]
    pub seed: Option<u64>,
}

/// One half of what `profile` does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Only {
    /// What the instructions do.
    Counts,
    /// Where the time goes.
    Times,
}

#[derive(Args, Debug)]
pub struct LaunchOptions {
    /// The entries, as reduce_2_sum_i32, block_atomic_vec4_min_f32 or single_pass_max_f64
    #[arg(long, value_name = "E,..", value_delimiter = ',', required = true)]
    pub entries: Vec<String>,

    /// Elements to reduce
    #[arg(long, value_name = "N", value_parser = count, default_value = "2^20")]
    pub n: usize,

    /// Threads per block
    #[arg(long, value_name = "T", default_value = "256")]
    pub threads: u32,

    /// CUDA's index of the device [default: the first, or the CPU where there is none]
    #[arg(long, value_name = "I")]
    pub device: Option<u32>,

    /// Of the random integers
    #[arg(long, value_name = "S", default_value = "1")]
    pub seed: u64,

    /// Write what was launched to this file
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}

impl LadderOptions {
    /// Integers to reduce on the CPU, at most as many as fit.
    pub fn on_cpu(&self, fits: usize) -> usize {
        self.n.unwrap_or(CPU_N).min(fits)
    }

    /// The same as options of `bench`.
    pub fn sweep(&self) -> SweepOptions {
        let (nvcc_and_cub, none) = (vec![PeerName::Nvcc, PeerName::Cub], Vec::new());
        let threads = match self.threads.as_slice() {
            [] => vec![Policy::LADDER_THREADS],
            asked => asked.to_vec(),
        };
        SweepOptions {
            suite: vec![Wanted::Ladder],
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

/// An argument that could be read but cannot be used; exit code 2, as clap's own.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct BadOption(String);

impl BadOption {
    /// With the text of the error that the option led to.
    pub fn new(error: impl Display) -> BadOption {
        BadOption(format!("{error:#}"))
    }
}

/// Tells the errors that an option led to from those that nobody could foresee.
pub fn bad_option(error: warpfold::Error) -> anyhow::Error {
    use warpfold::Error::{BlockSize, Blocks, Chunks, DeviceIndex, GridTooLarge};
    match error {
        BlockSize { .. }
        | Blocks { .. }
        | Chunks { .. }
        | DeviceIndex { .. }
        | GridTooLarge { .. } => BadOption::new(error).into(),
        _ => error.into(),
    }
}

/// A number of elements.
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
        Some(0) => Err("there is nothing to time in an empty array; n must be at least 1".into()),
        Some(count) => Ok(count),
        None => Err("not a number of elements such as 400000000, 400_000_000 or 2^28".into()),
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
        assert_eq!(options.asked_sizes(), [400_000_000]);
        assert_eq!(options.threads(&[]), [256]);
        assert!(!options.wants(By::Nvcc) && options.device.is_none() && options.seed.is_none());
        let options = sweep("--n 2^10 --threads 512,256,512 --peers --seed 9");
        assert_eq!(options.asked_sizes(), [1 << 10]);
        assert_eq!(options.threads(&[]), [512, 256]);
        assert!(options.wants(By::Nvcc) && options.wants(By::Cub) && !options.wants(By::Torch));
        assert_eq!(options.seed, Some(9));
        for bad in ["--n 0", "--treads 256"] {
            assert_eq!(parse(bad).unwrap_err().exit_code(), 2, "{bad}");
        }
    }

    #[test]
    fn counts() {
        assert_eq!(count("400_000_000"), Ok(400_000_000));
        assert_eq!(count("2^28"), Ok(1 << 28));
        assert!(count("0").unwrap_err().contains("at least 1"));
        for bad in ["", "-1", "1.5", "2^", "^2", "2^64", "2^99999999999", "ten"] {
            assert!(count(bad).is_err(), "{bad}");
        }
    }
}
