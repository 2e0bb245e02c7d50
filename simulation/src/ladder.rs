//! Counters of each rung, for one block of each.

mod differences;
mod table;

use cuda_sim::{Counters, Counts, InstructionKind, Simulator, Space};
use kernels_gpu::entry::{Entry, teaching};

use crate::case::{Case, Wrong};
pub use table::Style;

/// The number of loads for each thread, for kernels whose grid can have any size.
const OPEN_LOADS: u32 = 4;

/// The rungs and the read ceiling, for all operators and element types.
pub fn entries() -> impl Iterator<Item = &'static Entry> {
    let is_rung = |entry: &&Entry| entry.kernel.starts_with("re");
    teaching::KERNELS.entries.iter().filter(is_rung)
}

/// The rung of a kernel, an operator and an element type.
pub fn entry(kernel: &str, op: &str, element: &str) -> Option<Entry> {
    let is_it = |entry: &&Entry| (entry.kernel, entry.op, entry.items) == (kernel, op, element);
    entries().find(is_it).copied()
}

/// Counts one launch over `n` elements, with the smallest grid or the given number of blocks.
///
/// # Errors
///
/// The launch and its result are checked as in other launches.
///
/// # Panics
///
/// If a grid cannot have enough blocks.
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
    Ok(report.counters.expect("counters are enabled"))
}

/// The rungs of one operator and element type, one block of each.
#[derive(Clone, Debug)]
pub struct Ladder {
    op: String,
    element: String,
    threads: u32,
    rungs: Vec<Rung>,
}

/// A full block of one kernel: each thread loads as many elements as it can.
#[derive(Clone, Debug)]
pub struct Rung {
    /// The kernel's name.
    pub kernel: &'static str,
    /// The number of elements that the block reduces.
    pub elements: u64,
    /// The counters.
    pub counters: Counters,
}

impl Ladder {
    /// Runs a block of each of the ladder's kernels for the operator and the element type.
    ///
    /// # Errors
    ///
    /// The error of a launch.
    pub fn new(op: &str, element: &str, threads: u32) -> Result<Self, Wrong> {
        let mut rungs: Vec<Rung> = Vec::new();
        for entry in entries() {
            if (entry.op, entry.items) == (op, element) {
                let rung = Rung::new(*entry, threads)?;
                rungs.insert(place(&rungs, rung.kernel), rung);
            }
        }
        Ok(Self {
            op: op.into(),
            element: element.into(),
            threads,
            rungs,
        })
    }

    /// The rungs in ascending order.
    pub fn rungs(&self) -> &[Rung] {
        &self.rungs
    }

    /// The rung that another rung improves, or is a variant of.
    pub fn before(&self, rung: usize) -> Option<&Rung> {
        let before = match self.rungs[rung].kernel {
            "reduce_1" => "reduce_0",
            "reduce_3" => "reduce_2",
            "reduce_5" | "reduce_5_x1" => "reduce_4",
            _ => self.rungs[rung.checked_sub(1)?].kernel,
        };
        self.rungs.iter().find(|rung| rung.kernel == before)
    }
}

/// The sort key of a kernel: a variant, such as `reduce_4_redux`, follows its rung and earlier variants.
fn place(rungs: &[Rung], kernel: &str) -> usize {
    let variant = |of: &str| {
        let rest = kernel.strip_prefix(of);
        rest.is_some_and(|rest| rest.starts_with('_'))
    };
    let of = rungs.iter().find(|rung| variant(rung.kernel));
    let of = of.map_or("", |rung| rung.kernel);
    let last = rungs.iter().rposition(|rung| rung.kernel.starts_with(of));
    last.map_or(0, |last| last + 1)
}

impl Rung {
    fn new(entry: Entry, threads: u32) -> Result<Self, Wrong> {
        let per_thread = match entry.needs.per_thread {
            Some(elements) => elements as usize,
            None => OPEN_LOADS as usize * entry.load_items(),
        };
        let elements = per_thread * threads as usize;
        Ok(Self {
            kernel: entry.kernel,
            elements: elements as u64,
            counters: counters(entry, threads, elements, Some(1))?,
        })
    }

    fn global_loads(&self) -> Counts {
        self.counters.of(InstructionKind::Load(Space::Global))
    }

    fn atomics(&self, space: Space) -> Counts {
        self.counters.of(InstructionKind::Atomic(space))
    }

    /// Shuffles, and the instruction that replaces five of them.
    fn exchanges(&self) -> u64 {
        self.counters.of(InstructionKind::Shuffle).requests
            + self.counters.of(InstructionKind::Redux).requests
    }
}
