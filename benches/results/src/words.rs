//! Printed names and numbers.

use std::fmt;

use crate::schema::{Backend, By, Cache, Row, Suite, Timing};

/// Names as in `results.json`.
macro_rules! names {
    ($($name:ident { $($variant:ident => $text:literal)* })*) => { $(
        impl $name {
            /// The name in `results.json`.
            pub fn name(self) -> &'static str {
                match self { $($name::$variant => $text,)* }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.pad(self.name())
            }
        }
    )* };
}

names! {
    Suite {
        Ladder => "ladder" Kepler => "kepler" Copy => "copy" Keyed => "keyed" Whole => "whole"
        Operators => "operators"
    }
    By {
        Warpfold => "warpfold" Ceiling => "ceiling" Nvcc => "nvcc" Cub => "cub" Torch => "torch"
        Cupy => "cupy" Driver => "driver" Loop => "loop"
    }
    Backend { Cuda => "cuda" Cpu => "cpu" Sim => "sim" }
    Cache { Cold => "cold" Warm => "warm" }
    Timing {
        Device => "device" Launch => "launch" Stream => "stream" Graph => "graph" Call => "call"
        None => "none"
    }
}

impl By {
    /// The peers.
    pub const PEERS: [By; 6] = [By::Nvcc, By::Cub, By::Torch, By::Cupy, By::Driver, By::Loop];

    /// The printed name.
    pub fn title(self) -> &'static str {
        match self {
            By::Warpfold => "warpfold",
            By::Ceiling => "ceiling",
            By::Nvcc => "nvcc",
            By::Cub => "CUB",
            By::Torch => "PyTorch",
            By::Cupy => "CuPy",
            By::Driver => "driver",
            By::Loop => "plain loop",
        }
    }
}

impl Suite {
    /// All suites, in the order of the report.
    pub const ALL: [Suite; 6] = [
        Suite::Whole,
        Suite::Operators,
        Suite::Ladder,
        Suite::Kepler,
        Suite::Copy,
        Suite::Keyed,
    ];

    /// The printed name.
    pub fn title(self) -> &'static str {
        match self {
            Suite::Ladder => "The reduction ladder",
            Suite::Kepler => "Shuffles and atomics",
            Suite::Copy => "Copies",
            Suite::Keyed => "Reduction by key",
            Suite::Whole => "Whole-array reductions",
            Suite::Operators => "User-defined operators",
        }
    }
}

impl Backend {
    /// The printed name.
    pub fn title(self) -> &'static str {
        match self {
            Backend::Cuda => "CUDA",
            Backend::Cpu => "CPU",
            Backend::Sim => "simulator",
        }
    }
}

impl Cache {
    /// An explanation for the reader of a report.
    pub fn meaning(self) -> &'static str {
        match self {
            Cache::Cold => {
                "the caches were flushed before each run, and each launch of a run read a different copy of \
                 the input: every byte came from the device's memory"
            }
            Cache::Warm => {
                "each run found the input where the previous run had left it: in the caches, if it fits"
            }
        }
    }
}

impl Timing {
    /// An explanation for the reader of a report.
    pub fn meaning(self) -> &'static str {
        match self {
            Timing::Device => {
                "the device's time in a busy stream, without launch latency. A sample is the time between \
                 two events around a batch of launches, divided by their number: 16 for inputs of up to 8 \
                 MiB, fewer for larger ones, 1 from 128 MiB on"
            }
            Timing::Launch => {
                "the time between two events around a call on an idle stream, with launch latency; a sample \
                 is the median of nine calls"
            }
            Timing::Stream => {
                "the time between two events around each of 32 successive calls on a stream, without a wait \
                 between them; a sample is their median. It is the larger of the host's time to enqueue a \
                 call and the device's time to run it"
            }
            Timing::Graph => {
                "the time of a CUDA graph of several reductions, divided by their number; a launch costs \
                 almost no time"
            }
            Timing::Call => "the host's time from the call until the value is available",
            Timing::None => "not timed: the simulator only counts",
        }
    }
}

/// `cold, device`
pub fn conditions(cache: Cache, timing: Timing) -> String {
    format!("{cache}, {timing}")
}

impl Row {
    /// The kernel's name with its variant and chunks.
    pub fn label(&self) -> String {
        let mut label = self.kernel.clone();
        if let Some(variant) = &self.variant {
            label += &format!(", {variant}");
        }
        if let Some(chunks) = self.chunks {
            label += &format!(", {chunks} chunks");
        }
        label
    }

    /// `sum f32`; only the element if there is no operator.
    pub fn subject(&self) -> String {
        match &self.op {
            Some(op) => format!("{op} {}", self.element),
            None => self.element.clone(),
        }
    }
}

/// `400,000,000`
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<_> = digits
        .as_bytes()
        .rchunks(3)
        .rev()
        .map(String::from_utf8_lossy)
        .collect();
    groups.join(",")
}

/// `2²⁰` for powers of two from 32; other numbers as in [`thousands`].
pub fn size(n: u64) -> String {
    if n.is_power_of_two() && n >= 32 {
        power(n.ilog2())
    } else {
        thousands(n)
    }
}

/// `2²⁰` for 20.
pub fn power(exponent: u32) -> String {
    let raised = exponent.to_string();
    let raised = raised.chars().map(|digit| match digit {
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        '4' => '⁴',
        '5' => '⁵',
        '6' => '⁶',
        '7' => '⁷',
        '8' => '⁸',
        '9' => '⁹',
        _ => '⁰',
    });
    std::iter::once('2').chain(raised).collect()
}

/// Three or four significant digits: `0.512`, `8.25`, `97.6`, `4650`.
pub fn number(value: f64) -> String {
    let decimals = match value.abs() {
        small if small < 1.0 => 3,
        small if small < 10.0 => 2,
        small if small < 1000.0 => 1,
        _ => 0,
    };
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_agree_with_the_json() {
        fn check<T: serde::Serialize + fmt::Display>(all: &[T]) {
            for one in all {
                assert_eq!(serde_json::to_value(one).unwrap(), one.to_string());
            }
        }
        check(&Suite::ALL);
        check(&By::PEERS);
        check(&[By::Warpfold, By::Ceiling]);
        check(&[Backend::Cuda, Backend::Cpu, Backend::Sim]);
        check(&[Cache::Cold, Cache::Warm]);
        check(&[Timing::Device, Timing::Launch, Timing::Stream]);
        check(&[Timing::Graph, Timing::Call, Timing::None]);
    }

    #[test]
    fn printed_numbers() {
        assert_eq!(thousands(400_000_000), "400,000,000");
        assert_eq!(thousands(999), "999");
        assert_eq!(thousands(0), "0");
        assert_eq!(size(1 << 20), "2²⁰");
        assert_eq!(size(1000), "1,000");
        assert_eq!(size(0), "0");
        assert_eq!(number(0.5), "0.500");
        assert_eq!(number(97.64), "97.6");
        assert_eq!(number(4650.1), "4650");
    }
}
