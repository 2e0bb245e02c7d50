//! Names of things in words.

use std::fmt;

use crate::schema::{Backend, By, Cache, Row, Suite, Timing};

/// Names as `results.json` has them.
macro_rules! names {
    ($($name:ident { $($variant:ident => $text:literal)* })*) => { $(
        impl $name {
            /// As `results.json` has it.
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
    /// All that may be compared with.
    pub const PEERS: [By; 6] = [By::Nvcc, By::Cub, By::Torch, By::Cupy, By::Driver, By::Loop];

    /// As its makers write it.
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
    /// In the order of the report.
    pub const ALL: [Suite; 6] = [
        Suite::Whole,
        Suite::Operators,
        Suite::Ladder,
        Suite::Kepler,
        Suite::Copy,
        Suite::Keyed,
    ];

    /// What it is about.
    pub fn title(self) -> &'static str {
        match self {
            Suite::Ladder => "The reduction ladder",
            Suite::Kepler => "Shuffles and atomics",
            Suite::Copy => "Copies",
            Suite::Keyed => "Reduction by key",
            Suite::Whole => "Whole-array reductions",
            Suite::Operators => "Operators of a user's own",
        }
    }
}

impl Backend {
    /// Where that is.
    pub fn title(self) -> &'static str {
        match self {
            Backend::Cuda => "CUDA",
            Backend::Cpu => "CPU",
            Backend::Sim => "simulator",
        }
    }
}

impl Cache {
    /// What it means, for a reader who has not read the code.
    pub fn meaning(self) -> &'static str {
        match self {
            Cache::Cold => {
                "the caches were flushed before each run, of whose launches each read a copy of its own: every byte \
                 came from the device's memory"
            }
            Cache::Warm => {
                "each run found the input where the run before had left it: in the caches, if it fits"
            }
        }
    }
}

impl Timing {
    /// What it means, for a reader who has not read the code.
    pub fn meaning(self) -> &'static str {
        match self {
            Timing::Device => {
                "the device's own time in a busy stream: no launch latency is in it. A sample is the share of a \
                 launch in a batch between two events, of 16 launches over inputs of up to 8 MiB, and of one from 128 \
                 MiB on"
            }
            Timing::Launch => {
                "between two events around a call on an idle stream, in the median of nine: the latency of its \
                 launches is in it"
            }
            Timing::Stream => {
                "call after call: between two events around each of 32 calls that follow one another on the \
                 stream without a wait, in their median. It is what a call costs a program that keeps its \
                 stream fed: the larger of what the host takes to make it and what the device takes to do it"
            }
            Timing::Graph => {
                "the share of one reduction in a CUDA graph of several: launches cost next to nothing"
            }
            Timing::Call => "by the host's clock, from the call until the value is there",
            Timing::None => "not timed: the simulator counts",
        }
    }
}

/// `cold, device`
pub fn conditions(cache: Cache, timing: Timing) -> String {
    format!("{cache}, {timing}")
}

impl Row {
    /// The kernel's name, with what tells it from rows of the same kernel.
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

    /// `sum f32`; only the element, where there is no operator.
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

/// `2²⁰`; in thousands what is no power of two, or a short one.
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

/// Four digits or so: `0.512`, `8.25`, `97.6`, `4650`.
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
    fn names_are_those_of_the_json() {
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
    fn numbers_for_people() {
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
