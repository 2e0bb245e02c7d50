//! What was measured on.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The computer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// The operating system, in its own words.
    pub os: String,
    /// The processor, in its own words.
    pub cpu: String,
    /// Threads that run at once.
    pub logical_cpus: usize,
    /// All of its memory.
    pub memory_bytes: u64,
    /// Free for a new program when the run began: what is available, or what the container allows.
    pub free_memory_bytes: u64,
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let gib = self.memory_bytes as f64 / f64::from(1 << 30);
        write!(
            f,
            "{}, {} x {}, {gib:.1} GiB",
            self.os, self.logical_cpus, self.cpu
        )
    }
}

/// What the driver says of a CUDA device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cuda {
    /// `NVIDIA H200`
    pub name: String,
    /// CUDA's index of it.
    pub index: u32,
    /// `(9, 0)`
    pub compute_capability: (u32, u32),
    /// How many it has.
    pub multiprocessors: u32,
    /// Of the device.
    pub memory_bytes: u64,
    /// Of the L2 cache.
    pub l2_bytes: u64,
    /// The highest clock of the multiprocessors.
    pub clock_khz: u32,
    /// The highest clock of the memory.
    pub memory_clock_khz: u32,
    /// Of the memory's bus.
    pub memory_bus_bits: u32,
    /// The CUDA version that the driver serves: `13.0`.
    pub driver: String,
    /// The module the kernels come from: `sm_90`.
    pub ptx_arch: String,
    /// Of the stream that is timed: `blocking` (it waits for CUDA's null stream) or
    /// `non-blocking`.
    pub stream: String,
}
