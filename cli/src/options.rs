//! The command line's syntax and help.

use std::path::PathBuf;
use std::str::FromStr;

use bytesize::ByteSize;
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use warpfold::file::DType;

const AFTER_HELP: &str = "\
Floats are printed with enough digits to read back the same bits. -0.0 is smaller than 0.0. If any element
is NaN, the result is NaN, except for count. Results of floats have the same bits on every device, with any
--device-memory, and for any number of GPUs and processes; sums by key only on the CPU in one process.

For empty input the sum, the dot product, the count and the norms 1 and 2 are 0, and the product is 1; all
other commands fail.

With --axis, --segments or --rows each part has a result, with the bits of the command for that part alone.
Exceptions: var and norm convert integers to f64 first, and product converts f16 and bf16 to f32 first. Parts
that are too short for a result have -, in JSON null. Of more than 1000 results, the first and last are printed.

Exit code:
  0  success
  1  failure; standard error has the reason
  2  wrong arguments";

/// Reductions of arrays in files, on a GPU or on the CPU
#[derive(Debug, Parser)]
#[command(name = "warpfold", version, after_help = AFTER_HELP)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// The sum in 64 bits: i64 for signed integers, u64 for unsigned integers, f64 for floats
    Sum(ReduceOptions),
    /// The product, in the type of the elements; integers wrap
    Product(ReduceOptions),
    /// The smallest element
    Min(ReduceOptions),
    /// The largest element
    Max(ReduceOptions),
    /// The smallest and the largest element
    MinMax(ReduceOptions),
    /// The index of the smallest element, from 0, and the element; the first of equal elements
    Argmin(ReduceOptions),
    /// The index of the largest element, from 0, and the element; the first of equal elements
    Argmax(ReduceOptions),
    /// The mean, as an f64
    Mean(ReduceOptions),
    /// The variance, as an f64
    Var(VarOptions),
    /// The dot product of two arrays in two files, in 64 bits as for `sum`
    Dot(Input),
    /// A norm; the default is the square root of the sum of the squares, as an f64
    Norm(NormOptions),
    /// The number of elements that are equal to, less than or greater than a value, NaN, or not zero
    Count(CountOptions),
    /// The sum, minimum or maximum of the elements of each key: key 0, key 1 and so on
    ReduceByKey(ByKeyOptions),
    /// The number of elements of each key: a histogram. The elements are the keys, integers of any type
    CountByKey(CountByKeyOptions),
    /// The sum, number, mean, minimum or maximum of the values of each key: `group-by KEYS VALUES`. Keys are integers of
    /// any value, in any order. A line has a key and the results
    GroupBy(GroupByOptions),
    /// List the CPU and the CUDA devices, or the reason why there is none
    Devices(DevicesOptions),
    /// Print a script that completes this command line in a shell
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print the manual page in roff, for example for `warpfold man | man -l -`
    Man {
        /// The command to describe [default: the program]
        command: Option<String>,
    },
}

impl Command {
    /// The command's name on the command line.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Sum(_) => "sum",
            Self::Product(_) => "product",
            Self::Min(_) => "min",
            Self::Max(_) => "max",
            Self::MinMax(_) => "min-max",
            Self::Argmin(_) => "argmin",
            Self::Argmax(_) => "argmax",
            Self::Mean(_) => "mean",
            Self::Var(_) => "var",
            Self::Dot(_) => "dot",
            Self::Norm(_) => "norm",
            Self::Count(_) => "count",
            Self::ReduceByKey(_) => "reduce-by-key",
            Self::CountByKey(_) => "count-by-key",
            Self::GroupBy(_) => "group-by",
            Self::Devices(_) => "devices",
            Self::Completions { .. } => "completions",
            Self::Man { .. } => "man",
        }
    }

    /// The input of a reduction; `None` for other commands.
    pub fn input(&self) -> Option<&Input> {
        match self {
            Self::Sum(ReduceOptions { input, .. })
            | Self::Product(ReduceOptions { input, .. })
            | Self::Min(ReduceOptions { input, .. })
            | Self::Max(ReduceOptions { input, .. })
            | Self::MinMax(ReduceOptions { input, .. })
            | Self::Argmin(ReduceOptions { input, .. })
            | Self::Argmax(ReduceOptions { input, .. })
            | Self::Mean(ReduceOptions { input, .. })
            | Self::Dot(input)
            | Self::Var(VarOptions { input, .. })
            | Self::Norm(NormOptions { input, .. })
            | Self::Count(CountOptions { input, .. })
            | Self::ReduceByKey(ByKeyOptions { input, .. })
            | Self::CountByKey(CountByKeyOptions { input, .. })
            | Self::GroupBy(GroupByOptions { input, .. }) => Some(input),
            Self::Devices(_) | Self::Completions { .. } | Self::Man { .. } => None,
        }
    }

    /// The parts that each have a result; `None` if the whole array has one.
    pub fn parts(&self) -> Option<&PartOptions> {
        let parts = match self {
            Self::Sum(ReduceOptions { parts, .. })
            | Self::Product(ReduceOptions { parts, .. })
            | Self::Min(ReduceOptions { parts, .. })
            | Self::Max(ReduceOptions { parts, .. })
            | Self::MinMax(ReduceOptions { parts, .. })
            | Self::Argmin(ReduceOptions { parts, .. })
            | Self::Argmax(ReduceOptions { parts, .. })
            | Self::Mean(ReduceOptions { parts, .. })
            | Self::Var(VarOptions { parts, .. })
            | Self::Norm(NormOptions { parts, .. })
            | Self::Count(CountOptions { parts, .. }) => parts,
            Self::Dot(_)
            | Self::ReduceByKey(_)
            | Self::GroupBy(_)
            | Self::CountByKey(_)
            | Self::Devices(_)
            | Self::Completions { .. }
            | Self::Man { .. } => return None,
        };
        let By {
            axis,
            segments,
            rows,
        } = &parts.by;
        (axis.is_some() || segments.is_some() || rows.is_some()).then_some(parts)
    }
}

#[derive(Args, Debug)]
pub struct ReduceOptions {
    #[command(flatten)]
    pub input: Input,

    #[command(flatten)]
    pub parts: PartOptions,
}

/// A result for each part of an array.
#[derive(Args, Debug)]
#[command(next_help_heading = "A result for each part")]
pub struct PartOptions {
    #[command(flatten)]
    pub by: By,

    /// Write the results to a .npy file instead of printing them: in the type of the results, 16-bit floats as f32;
    /// of argmin and argmax the indices. A part without a result has NaN
    #[arg(
        long,
        visible_alias = "out",
        value_name = "OUT.npy",
        conflicts_with = "each",
        requires = "By"
    )]
    pub output: Option<PathBuf>,
}

#[derive(Args, Debug)]
#[group(multiple = false)]
pub struct By {
    /// Reduce along these axes, for example 0 or 0,2: a result for each index of the other axes. Negative axes count
    /// from the last one. The array must be a .npy file
    #[arg(
        long,
        value_name = "AXES",
        value_delimiter = ',',
        allow_hyphen_values = true
    )]
    pub axis: Option<Vec<i64>>,

    /// Reduce each segment: segment s has the elements from offset s to offset s + 1. The file has i32, u32, i64 or
    /// u64 offsets, which do not decrease
    #[arg(long, value_name = "OFFSETS.npy")]
    pub segments: Option<PathBuf>,

    /// Reduce each row of LEN elements
    #[arg(long, value_name = "LEN")]
    pub rows: Option<u64>,
}

#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Input {
    /// The array: a .npy file, an .npz archive with one array, ARCHIVE.npz:NAME for one of several arrays,
    /// any other file as raw little-endian elements (--dtype), or - for standard input. Several files are
    /// concatenated to one array; they must have one type. A pattern with * or ? names all such files, in the order of
    /// their names
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,

    /// Print one result for each file, with the file's name at the end of the line
    #[arg(long)]
    pub each: bool,

    /// The type of the elements: i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32 or f64. Required for
    /// raw elements; a .npy file must have this type
    #[arg(long, value_name = "TYPE")]
    pub dtype: Option<DType>,

    /// Round nothing but the result: sums, means, dot products and norms of floats are then the nearest value to
    /// the exact one. Fails for commands that cannot promise it
    #[arg(long)]
    pub exact: bool,

    /// auto (the first GPU, or the CPU if there is none), cuda:N (the GPU with this index) or cpu
    #[arg(long, default_value = "auto")]
    pub device: Choice,

    /// Reduce on the GPUs 0 to N-1 in one process, each of which reads a part of the array. For several processes start
    /// the program by torchrun, srun or mpirun instead: each process then takes the GPU of its rank
    #[arg(long, value_name = "N", conflicts_with = "device", value_parser = clap::value_parser!(u32).range(1..))]
    pub gpus: Option<u32>,

    /// The memory limit for elements and cells on the device, for example 512MiB. Files are read in chunks
    /// of at most 64 MiB, or 8 MiB on the CPU. A segment, or what is reduced along the first axis, must fit
    #[arg(long, value_name = "SIZE", default_value = "2GiB")]
    pub device_memory: ByteSize,

    /// Print a JSON object (with --each, one per line); NaN and infinities are strings
    #[arg(long)]
    pub json: bool,

    /// Print the device to standard error; if it is the CPU because there is no GPU, also why and what to do
    #[arg(short, long)]
    pub verbose: bool,
}

#[derive(Args, Debug)]
pub struct DevicesOptions {
    /// Print a JSON object
    #[arg(long)]
    pub json: bool,
}

#[derive(Args, Debug)]
pub struct VarOptions {
    #[command(flatten)]
    pub input: Input,

    #[command(flatten)]
    pub parts: PartOptions,

    /// Divide the sum of the squared deviations by the number of elements minus N; 1: the sample variance
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub ddof: u64,
}

#[derive(Args, Debug)]
pub struct NormOptions {
    #[command(flatten)]
    pub input: Input,

    #[command(flatten)]
    pub parts: PartOptions,

    /// 1: the sum of the absolute values; 2: the square root of the sum of the squares; inf: the largest
    /// absolute value
    #[arg(long, default_value = "2")]
    pub order: Order,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Order {
    #[value(name = "1")]
    One,
    #[value(name = "2")]
    Two,
    Inf,
}

#[derive(Args, Debug)]
pub struct CountOptions {
    #[command(flatten)]
    pub input: Input,

    #[command(flatten)]
    pub parts: PartOptions,

    #[command(flatten)]
    pub condition: Condition,
}

/// Values have the type of the elements, so they are parsed after the file's header has been read.
#[derive(Args, Debug)]
#[group(required = true, multiple = false)]
pub struct Condition {
    /// Count the elements that equal V
    #[arg(long, value_name = "V", allow_hyphen_values = true)]
    pub equal: Option<String>,

    /// Count the elements that are less than V
    #[arg(long, value_name = "V", allow_hyphen_values = true)]
    pub less: Option<String>,

    /// Count the elements that are greater than V
    #[arg(long, value_name = "V", allow_hyphen_values = true)]
    pub greater: Option<String>,

    /// Count the elements that are NaN
    #[arg(long)]
    pub nan: bool,

    /// Count the elements that are not zero; NaN counts
    #[arg(long)]
    pub nonzero: bool,
}

#[derive(Args, Debug)]
pub struct ByKeyOptions {
    #[command(flatten)]
    pub input: Input,

    /// The key of each element, an integer of any type: a .npy file, an array of an .npz archive, or - (which
    /// requires --cells)
    #[arg(long, value_name = "KEYS.npy")]
    pub keys: PathBuf,

    #[command(flatten)]
    pub cells: CellOptions,

    /// The operator that combines the elements of a key, in 64 bits as for `sum`. A key without elements has
    /// 0, or for min and max the largest or smallest value of the type
    #[arg(long, default_value = "sum")]
    pub op: Op,
}

#[derive(Args, Debug)]
pub struct CountByKeyOptions {
    #[command(flatten)]
    pub input: Input,

    #[command(flatten)]
    pub cells: CellOptions,
}

#[derive(Args, Debug)]
pub struct GroupByOptions {
    #[command(flatten)]
    pub input: Input,

    /// The results of each group, in 64 bits as for `sum`; mean: the sum divided by the count
    #[arg(
        long,
        value_name = "OP,..",
        value_delimiter = ',',
        default_value = "sum"
    )]
    pub ops: Vec<GroupOp>,

    /// Sort the groups by key; otherwise their order is unspecified. Several GPUs or processes always sort them
    #[arg(long)]
    pub sorted: bool,

    /// Write the groups to a .npy file of records, with the fields key and those of --ops, instead of printing them
    #[arg(long = "out", value_name = "OUT.npy", conflicts_with = "each")]
    pub output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum GroupOp {
    Sum,
    Count,
    Mean,
    Min,
    Max,
}

#[derive(Args, Debug)]
pub struct CellOptions {
    /// The number of cells, for the keys 0 to N-1; other keys are an error [default: the largest key plus 1]
    #[arg(long = "cells", value_name = "N")]
    pub number: Option<u64>,

    /// Ignore elements with other keys, such as negative ones; only their number is printed, to standard error
    #[arg(long)]
    pub ignore_others: bool,

    /// Write the cells to a .npy file instead of printing them
    #[arg(long, value_name = "OUT.npy", conflicts_with = "each")]
    pub output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Op {
    Sum,
    Min,
    Max,
}

/// The device to compute on.
#[derive(Clone, Copy, Debug)]
pub enum Choice {
    Auto,
    Cuda(u32),
    Cpu,
}

impl FromStr for Choice {
    type Err = &'static str;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let index = name.strip_prefix("cuda:").map(str::parse);
        match (name, index) {
            ("auto", _) => Ok(Self::Auto),
            ("cpu", _) => Ok(Self::Cpu),
            (_, Some(Ok(index))) => Ok(Self::Cuda(index)),
            _ => Err("use auto, cpu, or cuda:N with an index from `warpfold devices`"),
        }
    }
}
