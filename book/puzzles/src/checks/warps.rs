//! Shuffles, votes and member masks.

use super::threads::Map;
use super::{Partials, WARPS, partials, requests, shared_requests, sums_of_parts};
use crate::{Trial, Verdict, handle, trials};
use cuda_sim::{Buffer, InstructionKind, Report};

/// The sum of each warp, without shared memory.
pub fn shuffle(kernel: Partials) -> Verdict {
    by_warps(
        "shuffle",
        kernel,
        &[32, 64, 1024],
        |x| x.iter().sum(),
        |trial, report, n| {
            requests(
                trial,
                report,
                InstructionKind::Shuffle,
                "shuffles",
                5 * n / 32,
            )
        },
    )
}

/// Something of each warp's 32 elements, in `y[warp]`.
fn by_warps(
    puzzle: &'static str,
    kernel: Map,
    lengths: &[usize],
    of: impl Fn(&[i32]) -> i32,
    more: impl Fn(&Trial, &Report, u64) -> Verdict,
) -> Verdict {
    trials(puzzle, |trial| {
        for &n in lengths {
            let x = trial.ints(n);
            let expected: Vec<_> = x.chunks(32).map(&of).collect();
            let (input, output) = (Buffer::from(&x), Buffer::uninitialised(expected.len()));
            let blocks = n.div_ceil(128) as u32;
            // The grid has no warp without an element, except in the last block.
            let threads = if n < 128 {
                n.div_ceil(32) as u32 * 32
            } else {
                128
            };
            let report =
                trial.launch(blocks, threads, || kernel(handle(&input), handle(&output)))?;
            trial.equal("y", &output, &expected)?;
            trial.global_loads(&report, n.div_ceil(32) as u64)?;
            shared_requests(trial, &report, 0)?;
            more(trial, &report, n.next_multiple_of(128) as u64)?;
        }
        Ok(())
    })
}

/// `y[i] = x[i] - m`, where `m` is the largest element of the warp.
pub fn all_lanes(kernel: Map) -> Verdict {
    trials("all_lanes", |trial| {
        for n in [32, 64, 512] {
            let x = trial.ints(n);
            let (input, y) = (Buffer::from(&x), Buffer::uninitialised(n));
            let launch = || kernel(handle(&input), handle(&y));
            let report = trial.launch(n.div_ceil(64) as u32, n.min(64) as u32, launch)?;
            let minus_largest = |part: &[i32]| {
                let largest = *part.iter().max().expect("32 elements");
                part.iter().map(move |x| x - largest).collect::<Vec<_>>()
            };
            let expected: Vec<_> = x.chunks(32).flat_map(minus_largest).collect();
            trial.equal("y", &y, &expected)?;
            trial.global_loads(&report, n as u64 / 32)?;
            shared_requests(trial, &report, 0)?;
        }
        Ok(())
    })
}

/// The sum of each warp of a block whose last warp has fewer lanes.
pub fn mask(kernel: Map) -> Verdict {
    trials("mask", |trial| {
        for threads in [48, 16, 33, 40, 64, 80] {
            let x = trial.ints(threads);
            let expected = sums_of_parts(&x, 32);
            let (input, output) = (Buffer::from(&x), Buffer::uninitialised(expected.len()));
            let launch = || kernel(handle(&input), handle(&output));
            let report = trial.launch(1, threads as u32, launch)?;
            trial.equal("y", &output, &expected)?;
            trial.global_loads(&report, threads.div_ceil(32) as u64)?;
            shared_requests(trial, &report, 0)?;
        }
        Ok(())
    })
}

/// The sum of each warp, of which the last ones have no element or too few.
pub fn early_exit(kernel: Map) -> Verdict {
    by_warps(
        "early_exit",
        kernel,
        &[100, 1, 31, 33, 1000],
        |x| x.iter().sum(),
        |_, _, _| Ok(()),
    )
}

/// How many elements of each warp are positive.
pub fn ballot(kernel: Map) -> Verdict {
    let positive = |x: &[i32]| x.iter().filter(|x| **x > 0).count() as i32;
    by_warps(
        "ballot",
        kernel,
        &[32, 100, 1000],
        positive,
        |trial, report, n| {
            requests(trial, report, InstructionKind::Vote, "votes", n / 32)?;
            requests(trial, report, InstructionKind::Shuffle, "shuffles", 0)
        },
    )
}

/// Moves the positive elements of each warp to the front of its part, in order.
pub fn compact(kernel: Map) -> Verdict {
    trials("compact", |trial| {
        for n in [32, 64, 512] {
            let x = trial.ints(n);
            let (input, y) = (Buffer::from(&x), Buffer::from(&vec![0; n]));
            let launch = || kernel(handle(&input), handle(&y));
            let report = trial.launch(n.div_ceil(64) as u32, n.min(64) as u32, launch)?;
            let moved = |part: &[i32]| {
                let mut kept: Vec<_> = part.iter().copied().filter(|x| *x > 0).collect();
                kept.resize(32, 0);
                kept
            };
            let expected: Vec<_> = x.chunks(32).flat_map(moved).collect();
            trial.equal("y", &y, &expected)?;
            trial.global_loads(&report, n as u64 / 32)?;
            shared_requests(trial, &report, 0)?;
        }
        Ok(())
    })
}

/// The sum of each block by shuffles, with one barrier.
pub fn block_reduce(kernel: Partials) -> Verdict {
    trials("block_reduce", |trial| {
        partials(trial, kernel, 256, |trial, report, blocks| {
            let name = "barriers, counted for each warp";
            requests(
                trial,
                report,
                InstructionKind::Barrier,
                name,
                WARPS * blocks,
            )?;
            shared_requests(trial, report, (WARPS + 1) * blocks)
        })
    })
}
