//! What the simulator counts of each rung.

use cuda_sim::{Counters, Simulator};
use kernels_gpu::entry::{ENTRIES, Entry};

use crate::case::{Case, Wrong};

/// The entry for a kernel, an operator and an element type.
pub fn entry(kernel: &str, op: &str, element: &str) -> Option<Entry> {
    let mut entries = ENTRIES.iter();
    let found =
        entries.find(|entry| (entry.kernel, entry.op, entry.element) == (kernel, op, element))?;
    Some(*found)
}

/// Counts one launch over `n` elements, in the fewest blocks or in so many.
///
/// # Errors
///
/// The launch is checked like any other, and its answer too.
///
/// # Panics
///
/// When a grid has not so many blocks.
pub fn counters(
    entry: Entry,
    threads: u32,
    n: usize,
    blocks: Option<u32>,
) -> Result<Counters, Wrong> {
    let fewest = Case::new(entry, threads, n);
    let case = Case {
        blocks: blocks.unwrap_or(fewest.blocks),
        ..fewest
    };
    let report = case.run(Simulator::new().check_all().count())?;
    Ok(report.counters.expect("the simulator was asked to count"))
}
