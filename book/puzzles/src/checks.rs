//! The checks, one function for each puzzle, named like it.

mod atomics;
mod keys;
mod ladder;
mod memory;
mod one_launch;
mod operators;
mod same_bits;
mod shared;
mod threads;
mod warps;

pub use atomics::*;
pub use keys::*;
pub use ladder::*;
pub use memory::*;
pub use one_launch::*;
pub use operators::*;
pub use same_bits::*;
pub use shared::*;
pub use threads::*;
pub use warps::*;

use crate::trial::counts;
use crate::{Refusal, Trial, Verdict, handle};
use cuda_sim::{Buffer, InstructionKind, Report, Space};
use kernels_gpu::mem::Global;

/// The threads of a block in most puzzles.
const THREADS: u32 = 256;

/// The warps of such a block.
const WARPS: u64 = THREADS as u64 / 32;

/// Lengths around those of warps and blocks; a full block first, whose drawings are full too.
const LENGTHS: [usize; 6] = [256, 1, 33, 257, 1000, 2048];

/// The sums of adjacent parts of this length.
fn sums_of_parts(x: &[i32], length: usize) -> Vec<i32> {
    x.chunks(length).map(|part| part.iter().sum()).collect()
}

/// A kernel from integers to a partial of each block, or of each warp.
type Partials = fn(Global<i32>, Global<i32>);

/// Checks the sums of the parts of an array, one for each `part` elements, and `more` of every launch.
fn partials(
    trial: &mut Trial,
    kernel: Partials,
    part: usize,
    more: impl Fn(&Trial, &Report, u64) -> Verdict,
) -> Verdict {
    for n in LENGTHS {
        let x = trial.ints(n);
        let expected = sums_of_parts(&x, part);
        let (input, output) = (Buffer::from(&x), Buffer::uninitialised(expected.len()));
        let blocks = n.div_ceil(part) as u32;
        let report = trial.launch(blocks, THREADS, || kernel(handle(&input), handle(&output)))?;
        trial.equal("partials", &output, &expected)?;
        // Every warp may have a load without all lanes.
        trial.global_loads(&report, n.div_ceil(32) as u64 + u64::from(blocks))?;
        more(trial, &report, blocks.into())?;
    }
    Ok(())
}

/// A budget of the requests of one kind of instruction.
fn requests(
    trial: &Trial,
    report: &Report,
    what: InstructionKind,
    name: &str,
    most: u64,
) -> Verdict {
    let got = counts(report, what).requests;
    trial.budget(name, got, most, report, |request| request.what == what)
}

/// A budget of the cells of global memory that lanes change atomically.
fn global_atomics(trial: &Trial, report: &Report, most: u64) -> Verdict {
    let what = InstructionKind::Atomic(Space::Global);
    let got = counts(report, what).lanes;
    let name = "atomic operations on global memory";
    trial.budget(name, got, most, report, |request| request.what == what)
}

/// A budget of 32-byte sectors of global memory.
fn sectors(trial: &Trial, report: &Report, most: u64) -> Verdict {
    let got = crate::trial::accesses(report, Space::Global).sectors;
    let name = "sectors of global memory";
    trial.budget(name, got, most, report, |request| {
        request.what.space() == Some(Space::Global)
    })
}

/// A budget of wavefronts of shared memory.
fn wavefronts(trial: &Trial, report: &Report, most: u64) -> Verdict {
    let got = crate::trial::accesses(report, Space::Shared).wavefronts;
    let name = "wavefronts of shared memory";
    trial.budget(name, got, most, report, |request| {
        request.what.space() == Some(Space::Shared)
    })
}

/// A budget of the instructions that access shared memory.
fn shared_requests(trial: &Trial, report: &Report, most: u64) -> Verdict {
    let got = crate::trial::accesses(report, Space::Shared).requests;
    let name = "instructions on shared memory";
    trial.budget(name, got, most, report, |request| {
        request.what.space() == Some(Space::Shared)
    })
}

/// Refuses an answer for a reason in words, unless `right`.
fn expect(right: bool, otherwise: impl FnOnce() -> String) -> Verdict {
    match right {
        true => Ok(()),
        false => Err(Refusal::new(otherwise())),
    }
}
