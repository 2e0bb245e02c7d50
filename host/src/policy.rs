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
    /// Evidence: the sum of 400 million `i32` on an H200 (`benches/records/h200/2026-11-20`; the
    /// read ceiling was 0.344 ms) took 0.353 ms with 8 chunks and 256 threads, and 0.353 with
    /// 16 chunks; 0.466 with 4. With 512 and 1024 threads, 8 chunks took 0.355 and 0.400. Small
    /// n, other types and other operators have not been timed.
    pub const DEFAULT: Self = Self {
        algorithm: Algorithm::Reduce5 { chunks: 8 },
        threads: 256,
    };
}
