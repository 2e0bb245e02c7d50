//! A launch of a plan, and what is checked of every launch.

use crate::error::Error;

/// One launch of a plan: `blocks` blocks of `threads` threads over `n` elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pass {
    /// The blocks of the grid.
    pub blocks: u32,
    /// The threads of each block.
    pub threads: u32,
    /// The elements that this pass reads: the input, or the partials of the pass before.
    pub n: u64,
}

/// The limits of a GPU that the CPU device answers with, so that bad input is refused alike.
pub(crate) const CPU_MAX_THREADS: u32 = 1024;
#[cfg(feature = "teaching")]
pub(crate) const CPU_MAX_BLOCKS: u32 = i32::MAX as u32;

/// Whether a block may have so many threads.
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
