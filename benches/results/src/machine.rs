//! The machine and the device of a run.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The computer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// The operating system's name and version.
    pub os: String,
    /// The processor's model name.
    pub cpu: String,
    /// Hardware threads.
    pub logical_cpus: usize,
    /// The size of the memory.
    pub memory_bytes: u64,
    /// Memory available to a new program when the run began, or the container's limit if that is less.
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

/// The properties of a CUDA device, as the driver reports them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cuda {
    /// `NVIDIA H200`
    pub name: String,
    /// The CUDA device index.
    pub index: u32,
    /// `(9, 0)`
    pub compute_capability: (u32, u32),
    /// The number of multiprocessors.
    pub multiprocessors: u32,
    /// The size of the device's memory.
    pub memory_bytes: u64,
    /// The size of the L2 cache.
    pub l2_bytes: u64,
    /// The highest clock of the multiprocessors.
    pub clock_khz: u32,
    /// The highest clock of the memory.
    pub memory_clock_khz: u32,
    /// The width of the memory bus.
    pub memory_bus_bits: u32,
    /// The highest CUDA version that the driver supports: `13.0`.
    pub driver: String,
    /// The architecture of the module with the kernels: `sm_90`.
    pub ptx_arch: String,
    /// The kind of the timed stream: `blocking` (it waits for CUDA's null stream) or `non-blocking`.
    pub stream: String,
}
