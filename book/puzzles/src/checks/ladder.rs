//! The rungs of the ladder.

use super::threads::Map;
use super::{
    LENGTHS, Partials, THREADS, WARPS, global_atomics, partials, requests, shared_requests,
    sums_of_parts, wavefronts,
};
use crate::{Verdict, handle, trials};
use cuda_sim::{Buffer, InstructionKind, Report};

/// The sum by an atomic for each element.
pub fn naive(kernel: Map) -> Verdict {
    one_sum("naive", kernel, |_, _, _| Ok(()))
}

/// The sum by an atomic for each block.
pub fn shared_atomic(kernel: Map) -> Verdict {
    one_sum("shared_atomic", kernel, |trial, report, blocks| {
        global_atomics(trial, report, blocks)
    })
}

fn one_sum(
    puzzle: &'static str,
    kernel: Map,
    more: impl Fn(&crate::Trial, &Report, u64) -> Verdict,
) -> Verdict {
    trials(puzzle, |trial| {
        for n in LENGTHS {
            let x = trial.ints(n);
            let (input, sum) = (Buffer::from(&x), Buffer::from(&[0]));
            let blocks = n.div_ceil(THREADS as usize) as u32;
            let report = trial.launch(blocks, THREADS, || kernel(handle(&input), handle(&sum)))?;
            trial.equal("sum", &sum, &[x.iter().sum()])?;
            trial.global_loads(&report, n.div_ceil(32) as u64 + u64::from(blocks))?;
            more(trial, &report, blocks.into())?;
        }
        Ok(())
    })
}

/// A tree: a partial of each block.
pub fn tree(kernel: Partials) -> Verdict {
    trials("tree", |trial| {
        partials(trial, kernel, 256, |trial, report, blocks| {
            shared_requests(trial, report, 200 * blocks)
        })
    })
}

/// A tree whose working threads are adjacent.
pub fn divergence(kernel: Partials) -> Verdict {
    trials("divergence", |trial| {
        partials(trial, kernel, 256, |trial, report, blocks| {
            shared_requests(trial, report, 60 * blocks)
        })
    })
}

/// A tree without bank conflicts.
pub fn conflicts(kernel: Partials) -> Verdict {
    trials("conflicts", |trial| {
        partials(trial, kernel, 256, |trial, report, blocks| {
            wavefronts(trial, report, 60 * blocks)
        })
    })
}

/// A tree of two elements for each thread.
pub fn idle(kernel: Partials) -> Verdict {
    trials("idle", |trial| {
        partials(trial, kernel, 512, |trial, report, blocks| {
            wavefronts(trial, report, 60 * blocks)
        })
    })
}

/// A tree whose last warp uses shuffles.
pub fn last_warp(kernel: Partials) -> Verdict {
    trials("last_warp", |trial| {
        partials(trial, kernel, 256, |trial, report, blocks| {
            let name = "barriers, counted for each warp";
            requests(
                trial,
                report,
                InstructionKind::Barrier,
                name,
                4 * WARPS * blocks,
            )
        })
    })
}

/// Many elements for each thread: three blocks for any array.
pub fn many_loads(kernel: Partials) -> Verdict {
    trials("many_loads", |trial| {
        for n in [1, 768, 5000, 20_000] {
            let x = trial.ints(n);
            let (input, output) = (Buffer::from(&x), Buffer::<i32>::uninitialised(3));
            let launch = || kernel(handle(&input), handle(&output));
            let report = trial.launch(3, THREADS, launch)?;
            // Which block takes which elements is the learner's choice.
            let sum: Vec<i32> = vec![
                output
                    .to_vec()
                    .iter()
                    .fold(0, |a: i32, b| a.wrapping_add(*b)),
            ];
            trial.equal(
                "the sum of the partials",
                &Buffer::from(&sum),
                &sums_of_parts(&x, n),
            )?;
            trial.global_loads(&report, n.div_ceil(32) as u64)?;
            let name = "barriers, counted for each warp";
            requests(
                trial,
                &report,
                InstructionKind::Barrier,
                name,
                9 * WARPS * 3,
            )?;
        }
        Ok(())
    })
}
