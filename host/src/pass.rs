//! The passes of a plan, and a check for every launch.

use crate::error::Error;

/// A launch of a plan: `blocks` blocks of `threads` threads over `n` elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pass {
    /// The blocks of the grid.
    pub blocks: u32,
    /// The threads of each block.
    pub threads: u32,
    /// The number of elements that this pass reads: the input, or the partials of the pass before.
    pub n: u64,
}

/// The limit on the CPU, so that it has the same errors as a GPU.
pub(crate) const CPU_MAX_THREADS: u32 = 1024;
#[cfg(feature = "teaching")]
pub(crate) const CPU_MAX_BLOCKS: u32 = i32::MAX as u32;

/// An error unless a block can have this number of threads.
pub(crate) fn check_threads(kernel: &'static str, threads: u32, limit: u32) -> Result<(), Error> {
    if threads.is_power_of_two() && (32..=limit).contains(&threads) {
        return Ok(());
    }
    Err(Error::BlockSize {
        kernel,
        threads,
        limit,
    })
}
