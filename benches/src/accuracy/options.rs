//! The options of `accuracy`.

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;
use warpfold::Device;

use crate::options::{bad_option, count};

/// The numbers of elements, up to `--most`.
const SIZES: [usize; 5] = [1 << 10, 1 << 15, 1 << 20, 1 << 25, 1 << 30];

#[derive(Args, Debug)]
pub struct AccuracyOptions {
    /// The largest number of elements: 2^10, 2^15, 2^20, 2^25 and 2^30 up to this one are summed
    #[arg(long, value_name = "N", value_parser = most, default_value = "2^20")]
    pub most: usize,

    /// The device: auto, cpu, or cuda:N
    #[arg(long, value_name = "D", default_value = "auto")]
    pub device: Choice,

    /// Random seed [default: random, recorded]
    #[arg(long, value_name = "S")]
    pub seed: Option<u64>,

    /// Write accuracy.json, the table and the figures to this folder
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,

    /// Show the accuracy.json of an earlier run; --out then gets the table and the figures
    #[arg(long, value_name = "FILE", conflicts_with_all = ["most", "device", "seed"])]
    pub read: Option<PathBuf>,

    /// Write the table of the largest arrays into this page, between its two markers
    #[arg(long, value_name = "FILE")]
    pub page: Option<PathBuf>,
}

impl AccuracyOptions {
    /// The numbers of elements.
    pub fn sizes(&self) -> impl Iterator<Item = usize> {
        SIZES.into_iter().filter(|n| *n <= self.most)
    }
}

/// The device to compute on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    Auto,
    Cuda(u32),
    Cpu,
}

impl Choice {
    /// Opens the device; `Auto` is the CPU if there is no CUDA device.
    pub fn open(self) -> anyhow::Result<Device> {
        match self {
            Choice::Auto => Device::auto(),
            Choice::Cuda(index) => Device::nth(index),
            Choice::Cpu => Ok(Device::cpu()),
        }
        .map_err(bad_option)
    }
}

impl FromStr for Choice {
    type Err = &'static str;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let index = name.strip_prefix("cuda:").map(str::parse);
        match (name, index) {
            ("auto", _) => Ok(Self::Auto),
            ("cpu", _) => Ok(Self::Cpu),
            (_, Some(Ok(index))) => Ok(Self::Cuda(index)),
            _ => Err("use auto, cpu, or cuda:N"),
        }
    }
}

fn most(text: &str) -> Result<usize, String> {
    match count(text)? {
        few if few < SIZES[0] => Err(format!("{few} elements; must be at least {}", SIZES[0])),
        most => Ok(most),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_devices_are_parsed() {
        assert_eq!(most("2^20"), Ok(1 << 20));
        assert!(most("1000").unwrap_err().contains("at least 1024"));
        assert_eq!("cuda:3".parse(), Ok(Choice::Cuda(3)));
        assert_eq!("cpu".parse(), Ok(Choice::Cpu));
        for bad in ["cuda", "cuda:", "cuda:-1", "gpu"] {
            assert!(bad.parse::<Choice>().is_err(), "{bad}");
        }
    }
}
