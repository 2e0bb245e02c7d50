//! What can be asked for.

use std::path::PathBuf;
use std::str::FromStr;

use bytesize::ByteSize;
use clap::{Args, Parser, Subcommand, ValueEnum};
use warpfold::file::DType;

const AFTER: &str = "\
Floats are printed so that they read back to the same bits. -0.0 is smaller than 0.0, and one NaN makes
the smallest, the largest, the sum and the like NaN. Sums of floats have the same bits every time on the
same device and with the same --device-memory; sums by key have them on the CPU alone.

Of no elements the sum, the count and the norms 1 and 2 are 0, and the product is 1; all else fails.

Exit code:
  0  done
  1  something failed, and stderr says what
  2  wrong usage";

/// Reductions of arrays in files, on a GPU or on the CPU
#[derive(Debug, Parser)]
#[command(name = "warpfold", version, after_help = AFTER)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// The sum, in 64 bits: an i64 of signed integers, a u64 of unsigned ones, an f64 of floats
    Sum(Input),
    /// The product, in the type of the elements; integers wrap
    Product(Input),
    /// The smallest element
    Min(Input),
    /// The largest element
    Max(Input),
    /// The smallest and the largest element
    MinMax(Input),
    /// Where the smallest element is, counted from 0, and the element; of equal ones the first
    Argmin(Input),
    /// Where the largest element is, counted from 0, and the element; of equal ones the first
    Argmax(Input),
    /// The mean, as an f64
    Mean(Input),
    /// The variance, as an f64
    Var(VarOptions),
    /// The norm: by default the root of the sum of the squares, as an f64
    Norm(NormOptions),
    /// How many elements are equal to, less or greater than a value, NaN, or not zero
    Count(CountOptions),
    /// The sum, minimum or maximum of the elements of each key: of key 0, of key 1 and so on
    ReduceByKey(ByKeyOptions),
}

impl Command {
    /// Its name on the command line.
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
            Self::Norm(_) => "norm",
            Self::Count(_) => "count",
            Self::ReduceByKey(_) => "reduce-by-key",
        }
    }

    pub fn input(&self) -> &Input {
        match self {
            Self::Sum(input)
            | Self::Product(input)
            | Self::Min(input)
            | Self::Max(input)
            | Self::MinMax(input)
            | Self::Argmin(input)
            | Self::Argmax(input)
            | Self::Mean(input)
            | Self::Var(VarOptions { input, .. })
            | Self::Norm(NormOptions { input, .. })
            | Self::Count(CountOptions { input, .. })
            | Self::ReduceByKey(ByKeyOptions { input, .. }) => input,
        }
    }
}

#[derive(Args, Debug)]
#[command(after_help = AFTER)]
pub struct Input {
    /// The array: a .npy file, or any other file as raw little-endian elements (--dtype)
    pub file: PathBuf,

    /// The type of the elements: i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32 or f64. A .npy file
    /// says its own, and another is a failure
    #[arg(long, value_name = "TYPE")]
    pub dtype: Option<DType>,

    /// auto, cuda:N or cpu: the first GPU or else the CPU, the GPU with this number, or the CPU
    #[arg(long, default_value = "auto")]
    pub device: Choice,

    /// The most memory for elements and cells on the device, as 512MiB; files go through it in chunks of
    /// at most 64 MiB, or 8 MiB on the CPU
    #[arg(long, value_name = "SIZE", default_value = "2GiB")]
    pub device_memory: ByteSize,

    /// Print one JSON object; NaN and infinities are strings there
    #[arg(long)]
    pub json: bool,
}

#[derive(Args, Debug)]
pub struct VarOptions {
    #[command(flatten)]
    pub input: Input,

    /// The sum of the squares is divided by the number of elements less N: 1 for a sample's
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub ddof: u64,
}

#[derive(Args, Debug)]
pub struct NormOptions {
    #[command(flatten)]
    pub input: Input,

    /// The sum of the absolute values, the root of the sum of the squares, or the largest absolute value
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
    pub question: Question,
}

/// Values are of the type of the elements, which the file says: they are read once it is open.
#[derive(Args, Debug)]
#[group(required = true, multiple = false)]
pub struct Question {
    /// The elements that equal V
    #[arg(long, value_name = "V", allow_hyphen_values = true)]
    pub equal: Option<String>,

    /// The elements that are less than V
    #[arg(long, value_name = "V", allow_hyphen_values = true)]
    pub less: Option<String>,

    /// The elements that are greater than V
    #[arg(long, value_name = "V", allow_hyphen_values = true)]
    pub greater: Option<String>,

    /// The elements that are NaN
    #[arg(long)]
    pub nan: bool,

    /// The elements that are not zero; a NaN is not
    #[arg(long)]
    pub nonzero: bool,
}

#[derive(Args, Debug)]
pub struct ByKeyOptions {
    #[command(flatten)]
    pub input: Input,

    /// The key of each element: a .npy file of u32, u64, i32 or i64
    #[arg(long, value_name = "KEYS.npy")]
    pub keys: PathBuf,

    /// How many cells, for the keys from 0 on; elements of other keys are left out, and counted
    /// [default: one more than the largest key]
    #[arg(long, value_name = "N")]
    pub cells: Option<u64>,

    /// How the elements of a key are combined, in 64 bits as by `sum`. Of no elements: 0, or the
    /// type's largest or smallest value
    #[arg(long, default_value = "sum")]
    pub op: Op,

    /// Write the cells to a .npy file instead of printing them
    #[arg(long, value_name = "OUT.npy")]
    pub output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Op {
    Sum,
    Min,
    Max,
}

/// Where to compute.
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
            _ => Err("devices are auto, cuda:N and cpu"),
        }
    }
}
