//! The command line.

use std::fmt::Display;
use std::path::PathBuf;

use clap::{ArgGroup, Args, Parser, Subcommand, ValueEnum};
use warpfold::Policy;

use crate::sweep::options::SweepOptions;

/// Measures warpfold beside its peers and the hardware's limit.
#[derive(Debug, Parser)]
#[command(name = "warpfold-bench", version)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Sweeps over sizes, types and kernels, beside peers and the hardware's limit, with a report
    Bench(Box<SweepOptions>),
    /// The reduction ladder: every rung on the same random integers, timed in turn.
    Ladder(LadderOptions),
    /// Reduction by key: the sums of particles in their cells, by every algorithm
    Keyed(KeyedOptions),
    /// A record of the ladder as a picture: bars of GB/s
    Plot(PlotOptions),
    /// What each kernel does and where its time goes, by Nsight Compute
    Profile(ProfileOptions),
    /// Launch kernels once each and check their answers: what a profiler or a sanitizer runs
    Launch(LaunchOptions),
}

#[derive(Args, Debug)]
pub struct LadderOptions {
    /// Integers to reduce: 400000000, 400_000_000 or 2^28
    #[arg(long, value_name = "N", value_parser = count, default_value = "400000000")]
    pub n: usize,

    /// Which kernels
    #[arg(long, default_value = "ladder")]
    pub suite: Suite,

    /// Threads per block, a table for each [default: 256 for the ladder, 512 for kepler]
    #[arg(long, value_name = "T,..", value_delimiter = ',')]
    pub threads: Vec<u32>,

    /// Elements per thread of reduce_5, both its forms for each [default: the ladder's own rows]
    #[arg(long, value_name = "C,..", value_delimiter = ',')]
    pub chunks: Vec<u32>,

    /// Time the same kernels from nvcc, and CUB's sum, in the same rounds (needs nvcc)
    #[arg(long)]
    pub peers: bool,

    /// Timed rounds, at least 20
    #[arg(long, value_name = "R", default_value_t = 20, value_parser = clap::value_parser!(u32).range(20..=100_000))]
    pub repeats: u32,

    /// Rounds before the timed ones
    #[arg(long, value_name = "W", default_value_t = 5, value_parser = clap::value_parser!(u32).range(..=100_000))]
    pub warmup: u32,

    /// CUDA's index of the device [default: the first, or the CPU where there is none]
    #[arg(long, value_name = "I")]
    pub device: Option<u32>,

    /// Of the random integers [default: a fresh one, printed]
    #[arg(long, value_name = "S")]
    pub seed: Option<u64>,

    /// Write everything, with every sample, to this file
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}

/// Kernels that are measured together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Suite {
    /// Every rung.
    Ladder,
    /// Shuffles and atomics, by one element at a time, by two and by four.
    Kepler,
}

#[derive(Args, Debug)]
pub struct KeyedOptions {
    /// Cells along each side of the box
    #[arg(long, value_name = "C", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=500))]
    pub side: u32,

    /// Particles per cell
    #[arg(long, value_name = "P", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub particles: u32,

    /// Threads per block
    #[arg(long, value_name = "T", default_value_t = 256)]
    pub threads: u32,

    /// Time the same kernels from nvcc, and CUB's ReduceByKey, in the same rounds (needs nvcc)
    #[arg(long)]
    pub peers: bool,

    /// Timed rounds, at least 20
    #[arg(long, value_name = "R", default_value_t = 20, value_parser = clap::value_parser!(u32).range(20..=100_000))]
    pub repeats: u32,

    /// Rounds before the timed ones
    #[arg(long, value_name = "W", default_value_t = 3, value_parser = clap::value_parser!(u32).range(..=100_000))]
    pub warmup: u32,

    /// CUDA's index of the device [default: the first, or the CPU where there is none]
    #[arg(long, value_name = "I")]
    pub device: Option<u32>,

    /// Of the random particles [default: a fresh one, printed]
    #[arg(long, value_name = "S")]
    pub seed: Option<u64>,

    /// Write everything, with every sample, to this file
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}

/// A type of elements, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "lower")]
pub enum ElementType {
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    F16,
    Bf16,
    F32,
    F64,
}

#[derive(Args, Debug)]
pub struct PlotOptions {
    /// What `warpfold-bench ladder --json` wrote
    #[arg(value_name = "RECORD.json")]
    pub record: PathBuf,

    /// Write the picture to this file
    #[arg(long, value_name = "FILE")]
    pub svg: PathBuf,

    /// Draw the rows of this number of threads per block [default: the first in the record]
    #[arg(long, value_name = "T")]
    pub threads: Option<u32>,
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
    /// The seed that was given, or one that differs from run to run.
    pub fn seed(&self) -> u64 {
        // 32 bits are short enough to be typed again.
        self.seed.unwrap_or_else(|| rand::random::<u32>().into())
    }

    /// The numbers of threads, each once.
    pub fn threads(&self) -> Vec<u32> {
        let own = match self.suite {
            Suite::Ladder => Policy::LADDER_THREADS,
            Suite::Kepler => Policy::KEPLER_THREADS,
        };
        let asked = match self.threads.as_slice() {
            [] => &[own],
            asked => asked,
        };
        let mut threads = Vec::new();
        for &t in asked {
            if !threads.contains(&t) {
                threads.push(t);
            }
        }
        threads
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
    use clap::error::ErrorKind;

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
    fn defaults() {
        let options = parse("").unwrap();
        assert_eq!(
            (options.n, options.threads(), options.repeats),
            (400_000_000, vec![256], 20)
        );
        assert!(options.chunks.is_empty() && options.device.is_none() && !options.peers);
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

    #[test]
    fn lists_are_split_and_repetitions_dropped() {
        let options = parse("--threads 256,512,256 --chunks 4,8").unwrap();
        assert_eq!(
            (options.threads(), options.chunks),
            (vec![256, 512], vec![4, 8])
        );
    }

    #[test]
    fn suites_have_their_own_threads() {
        let options = parse("--suite kepler").unwrap();
        assert_eq!(
            (options.suite, options.threads()),
            (Suite::Kepler, vec![512])
        );
        let options = parse("--suite kepler --threads 256").unwrap();
        assert_eq!(options.threads(), [256]);
        assert!(parse("--suite maxwell").is_err());
    }

    #[test]
    fn too_few_rounds_are_refused() {
        assert_eq!(
            parse("--repeats 19").unwrap_err().kind(),
            ErrorKind::ValueValidation
        );
        assert_eq!(parse("--n 0").unwrap_err().exit_code(), 2);
        assert_eq!(parse("--treads 256").unwrap_err().exit_code(), 2);
    }

    #[test]
    fn seeds_differ_unless_given() {
        assert_eq!(parse("--seed 9").unwrap().seed(), 9);
        let options = parse("").unwrap();
        let seeds: std::collections::HashSet<_> = (0..8).map(|_| options.seed()).collect();
        assert!(seeds.len() > 1);
    }
}
