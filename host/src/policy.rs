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

/// What a thread of a single pass has under way at once.
const LOADS: usize = 4;
const LOAD_BYTES: usize = 16;

impl Policy {
    /// For every n, type and operator. Short inputs have one block of other numbers of threads.
    pub const DEFAULT: Self = Self {
        algorithm: Algorithm::SinglePass,
        threads: 512,
    };

    /// The fastest rung of the ladder.
    ///
    /// Evidence: the sum of 400 million `i32` on an H200 (`benches/records/h200/2026-11-20`; the
    /// read ceiling was 0.344 ms) took 0.353 ms with 8 chunks and 256 threads, and 0.353 with
    /// 16 chunks; 0.466 with 4. With 512 and 1024 threads, 8 chunks took 0.355 and 0.400.
    pub const LADDER: Self = Self {
        algorithm: Algorithm::Reduce5 { chunks: 8 },
        threads: 256,
    };

    /// As the post "Faster Parallel Reductions on Kepler" launches its kernels: 512 threads, at most
    /// 1024 blocks, and one of 1024 threads for their partials.
    pub const KEPLER: Self = Self {
        algorithm: Algorithm::Stable { vector: 4 },
        threads: 512,
    };

    /// The most blocks of a single pass: as many partials there is room for.
    pub const SINGLE_PASS_MAX_BLOCKS: u32 = 4096;

    /// The threads per block of a single pass over `n` elements of `T`, when the caller does not say.
    ///
    /// Up to 64 KiB one block does it all, since to wait for other blocks takes longer: with four loads of
    /// 16 bytes for each of its threads, or with one, as long as 256 threads are enough. Beyond that
    /// [`DEFAULT`](Self::DEFAULT)'s.
    ///
    /// Evidence: sums of 2^12 `i32` on an H200 take 0.98 of CUB's time with 256 threads (`whole-integers.txt`
    /// of 2026-11-22), and took 1.03 with 1024.
    pub(crate) fn single_pass_threads<T>(n: usize) -> u32 {
        const MOST: usize = 1024;
        const ENOUGH: usize = 256;
        let bytes = n.saturating_mul(size_of::<T>());
        if bytes > MOST * LOADS * LOAD_BYTES {
            return Self::DEFAULT.threads;
        }
        let one_load = bytes.div_ceil(LOAD_BYTES).next_power_of_two();
        let all_loads = bytes.div_ceil(LOADS * LOAD_BYTES).next_power_of_two();
        one_load.min(ENOUGH).max(all_loads).clamp(32, MOST) as u32
    }

    /// The blocks of a single pass over `n` elements of `T`, when the caller does not say: as many as
    /// have four loads of 16 bytes for each thread, up to 1024 threads for each multiprocessor.
    ///
    /// Evidence: sums of `i32` on an H200 (`benches/records/h200/2026-11-22/whole-grids.txt`), in grids of
    /// 512 threads. Of 2^26 and 2^28 elements, 264 and 528 blocks take as long, 132 take 4 % longer; of
    /// 2^10 to 2^18, each doubling of the blocks from 132 on costs a microsecond or a half.
    pub(crate) fn single_pass_blocks<T>(n: usize, threads: u32, multiprocessors: u32) -> u32 {
        const THREADS_PER_MULTIPROCESSOR: u32 = 1024;
        let tile = threads as usize * LOADS * LOAD_BYTES / size_of::<T>();
        let most = multiprocessors * (THREADS_PER_MULTIPROCESSOR / threads).max(1);
        let blocks = n.div_ceil(tile).min(most as usize) as u32;
        blocks.clamp(1, Self::SINGLE_PASS_MAX_BLOCKS)
    }

    /// The algorithm for an operator and an element type, when the caller does not say: the single
    /// pass, but for what has none (places combined again).
    pub(crate) fn algorithm_of<T: Element, O: Operator<T>>() -> Algorithm {
        match launch::single_pass_entry(O::NAME, T::NAME) {
            Ok(_) => Self::DEFAULT.algorithm,
            Err(_) => Self::KEPLER.algorithm,
        }
    }

    /// The threads per block of an algorithm, when the caller does not say.
    pub(crate) const fn threads_of(algorithm: Algorithm) -> u32 {
        match algorithm {
            Algorithm::SinglePass => Self::DEFAULT.threads,
            Algorithm::Stable { .. }
            | Algorithm::WarpAtomic { .. }
            | Algorithm::BlockAtomic { .. } => Self::KEPLER.threads,
            _ => Self::LADDER.threads,
        }
    }
}
