//! Which rung and how many threads, when the caller does not say.

use crate::algorithm::Algorithm;

/// How a reduction is launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Policy {
    /// The rung.
    pub algorithm: Algorithm,
    /// Threads per block, of every pass.
    pub threads: u32,
}

impl Policy {
    /// For every element type, operator and n.
    ///
    /// Evidence: 400 million `i32` on an H200 (2026-11-20, a prototype of these kernels, median
    /// of event times) took 0.357 ms with 8 chunks and 256 threads; 0.455 with 4 chunks; 0.357
    /// and 0.391 with 8 chunks and 512 and 1024 threads. Small n have not been measured.
    pub const DEFAULT: Self = Self {
        algorithm: Algorithm::Reduce5 { chunks: 8 },
        threads: 256,
    };
}
