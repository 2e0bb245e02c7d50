//! `groups.json`: the times of reductions by keys.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::machine::Machine;

/// One run of `groups`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Groups {
    /// When the run began, RFC 3339, UTC.
    pub date: String,
    /// The command line as typed.
    pub command_line: String,
    /// The computer.
    pub machine: Machine,
    /// The name of the device.
    pub device: String,
    /// The version of CUB; null without it.
    pub cub: Option<String>,
    /// The rounds of which the median is taken.
    pub rounds: usize,
    /// Each number of groups with each distribution.
    pub rows: Vec<Group>,
}

/// The median times in microseconds of sums of `f32` by one array of keys.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Group {
    /// How often keys occur.
    pub distribution: Distribution,
    /// The number of pairs.
    pub n: usize,
    /// The number of different keys.
    pub groups: usize,
    /// The search for the groups.
    pub group_us: f64,
    /// A reproducible reduction that sorts the items.
    pub first_reduce_us: f64,
    /// A reproducible reduction of items that are sorted.
    pub reduce_us: f64,
    /// A reduction by atomics.
    pub combine_us: f64,
    /// One reproducible call that does all, to given memory.
    pub group_by_us: f64,
    /// The same on a device of the level `Fast`.
    pub group_by_fast_us: f64,
    /// CUB's sort and `ReduceByKey`.
    pub cub_us: Option<f64>,
}

/// How often keys occur.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Distribution {
    /// All equally often.
    Uniform,
    /// The most frequent key twice as often as the second, and so on (Zipf's law with exponent 1, approximately).
    Zipf,
}

impl fmt::Display for Distribution {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.pad(match self {
            Self::Uniform => "uniform",
            Self::Zipf => "zipf",
        })
    }
}
