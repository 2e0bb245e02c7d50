//! `accuracy.json`: the errors of sums, by this library and by others. Every type in it, and how it is shown.
//!
//! | module | contents |
//! |---|---|
//! | `value` | floats with their bits; errors in units in the last place |
//! | `table` | the table for a terminal and for a page |
//! | [`read`](mod@read) | reading and checking a file |

pub mod read;
mod table;
#[cfg(test)]
mod tests;
mod value;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use self::table::{header, insert, largest, table};
pub use self::value::{Digits, Error, Value};
use crate::machine::{Cuda, Machine};

/// The version of the schema; it must be increased when the meaning of a field changes.
pub const SCHEMA: &str = "warpfold-bench/accuracy/1";

/// One run of `accuracy`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Accuracy {
    /// [`SCHEMA`].
    pub schema: String,
    /// When the run began, RFC 3339, UTC.
    pub date: String,
    /// The version of the bench.
    pub version: String,
    /// The commit that the bench was built from, with a mark if there were uncommitted changes, or `unknown`.
    pub commit: String,
    /// The compiler that built the bench.
    pub compiler: String,
    /// The command line as typed.
    pub command_line: String,
    /// The computer.
    pub machine: Machine,
    /// The CUDA device; null on the CPU.
    pub device: Option<Cuda>,
    /// The seed of the random elements.
    pub seed: u64,
    /// The other libraries: their versions, or why they are absent.
    pub peers: Vec<Peer>,
    /// Other remarks for the reader.
    pub notes: Vec<String>,
    /// Each array, with its sums.
    pub cases: Vec<Case>,
}

/// A version, or the reason why there is none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Peer {
    /// Whose sum it is.
    pub by: By,
    /// The version of the library and of its compiler.
    pub version: Option<String>,
    /// Why the sum is absent.
    pub absent: Option<String>,
}

/// An array and its sums.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Case {
    /// What the elements are.
    pub data: Data,
    /// `f32` or `f64`
    pub element: String,
    /// The number of elements.
    pub n: u64,
    /// The condition number: the sum of the magnitudes divided by the magnitude of the sum.
    pub condition: f64,
    /// The exact sum, rounded once to the nearest value of the type.
    pub exact: Value,
    /// The sums by everybody who is present.
    pub sums: Vec<Sum>,
}

/// A sum and its author.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sum {
    /// The author.
    pub by: By,
    /// The sum.
    pub value: Value,
}

/// The elements of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Data {
    /// Random numbers from 0 to 1.
    Uniform,
    /// Random numbers of mean 0 and variance 1: sums of 12 uniform numbers, less 6.
    Normal,
    /// Random numbers and their negatives, and one of 32 pairs far smaller, in random order.
    Cancelling,
    /// A large number (`f32`: 1e8, `f64`: 1e16), then random numbers from 0 to 1.
    Large,
    /// The condition number 1e4, in random order.
    Condition4,
    /// The condition number 1e8, in random order.
    Condition8,
    /// The condition number 1e16, in random order.
    Condition16,
    /// The condition number 1e24, in random order.
    Condition24,
    /// The condition number 1e30, in random order.
    Condition30,
}

impl Data {
    /// All data, in the order of the table.
    pub const ALL: [Data; 9] = [
        Data::Uniform,
        Data::Normal,
        Data::Cancelling,
        Data::Large,
        Data::Condition4,
        Data::Condition8,
        Data::Condition16,
        Data::Condition24,
        Data::Condition30,
    ];

    /// The prescribed condition number.
    pub fn condition(self) -> Option<f64> {
        match self {
            Data::Uniform | Data::Normal | Data::Cancelling | Data::Large => None,
            Data::Condition4 => Some(1e4),
            Data::Condition8 => Some(1e8),
            Data::Condition16 => Some(1e16),
            Data::Condition24 => Some(1e24),
            Data::Condition30 => Some(1e30),
        }
    }
}

impl fmt::Display for Data {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match (self, self.condition()) {
            (_, Some(condition)) => write!(f, "condition {condition:e}"),
            (Data::Uniform, _) => f.write_str("uniform"),
            (Data::Normal, _) => f.write_str("normal"),
            (Data::Cancelling, _) => f.write_str("x and -x"),
            (_, None) => f.write_str("one large"),
        }
    }
}

/// The author of a sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum By {
    /// This library's level `Fast`.
    Fast,
    /// This library's level `Reproducible`, the default.
    Reproducible,
    /// This library's level `Exact`.
    Exact,
    /// `cub::DeviceReduce::Sum`
    Cub,
    /// The same with the requirement `gpu_to_gpu`.
    CubGpuToGpu,
    /// `torch.sum`
    Torch,
    /// `numpy.sum`
    Numpy,
    /// A loop over the elements, in the type of the elements.
    Loop,
    /// Python's `math.fsum`
    Fsum,
}

impl By {
    /// All authors, in the order of the table.
    pub const ALL: [By; 9] = [
        By::Fast,
        By::Reproducible,
        By::Exact,
        By::Cub,
        By::CubGpuToGpu,
        By::Torch,
        By::Numpy,
        By::Loop,
        By::Fsum,
    ];

    /// The printed name.
    pub fn title(self) -> &'static str {
        match self {
            By::Fast => "Fast",
            By::Reproducible => "Reproducible",
            By::Exact => "Exact",
            By::Cub => "CUB",
            By::CubGpuToGpu => "CUB gpu_to_gpu",
            By::Torch => "torch.sum",
            By::Numpy => "numpy.sum",
            By::Loop => "loop",
            By::Fsum => "math.fsum",
        }
    }
}

impl Case {
    /// The error of this author's sum; `None` if it is absent.
    pub fn error(&self, by: By) -> Option<Error> {
        let sum = self.sums.iter().find(|sum| sum.by == by)?;
        Some(sum.value.error(self.exact))
    }
}
