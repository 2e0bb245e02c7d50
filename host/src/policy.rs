//! Which algorithm and how many threads, when the caller does not say.

use crate::algorithm::Algorithm;
use crate::element::Element;
use crate::launch;
use crate::operator::Operator;

/// How a reduction is launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Policy {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// Threads per block, of every pass; of the first, where the second is one block by itself.
    pub threads: u32,
}

/// The blocks that walk over an input by shuffles and atomics, at most: their partials are as many
/// as a block has threads.
pub(crate) const GRID_STRIDE_BLOCKS: u32 = 1024;

/// The threads of the block that reduces those partials.
pub(crate) const SECOND_PASS_THREADS: u32 = 1024;

impl Policy {
    /// For every n, of the element types and operators that the ladder has.
    ///
    /// Evidence: the sum of 400 million `i32` on an H200 (`benches/records/h200/2026-11-20`; the
    /// read ceiling was 0.344 ms) took 0.353 ms with 8 chunks and 256 threads, and 0.353 with
    /// 16 chunks; 0.466 with 4. With 512 and 1024 threads, 8 chunks took 0.355 and 0.400. Small
    /// n, other types and other operators have not been timed.
    pub const DEFAULT: Self = Self {
        algorithm: Algorithm::Reduce5 { chunks: 8 },
        threads: 256,
    };

    /// As the post "Faster Parallel Reductions on Kepler" launches its kernels: 512 threads, at most
    /// 1024 blocks, and one of 1024 threads for their partials.
    pub const KEPLER: Self = Self {
        algorithm: Algorithm::Stable { vector: 4 },
        threads: 512,
    };

    /// The algorithm for an operator and an element type, when the caller does not say.
    pub(crate) fn algorithm_of<T: Element, O: Operator<T>>() -> Algorithm {
        match launch::entry::<T>(Self::DEFAULT.algorithm.kernel_name(), O::NAME) {
            Ok(_) => Self::DEFAULT.algorithm,
            Err(_) => Self::KEPLER.algorithm,
        }
    }

    /// The threads per block of an algorithm, when the caller does not say.
    pub(crate) const fn threads_of(algorithm: Algorithm) -> u32 {
        match algorithm {
            Algorithm::Stable { .. }
            | Algorithm::WarpAtomic { .. }
            | Algorithm::BlockAtomic { .. } => Self::KEPLER.threads,
            _ => Self::DEFAULT.threads,
        }
    }
}
