//! Atomics and counts.

use super::threads::Map;
use super::{THREADS, global_atomics};
use crate::{Trial, Verdict, handle, trials};
use cuda_sim::{Buffer, Report};
use kernels_gpu::mem::Global;

/// Cells of the histograms.
const CELLS: u32 = 16;

/// A kernel from keys to counts.
type Counts = fn(Global<u32>, Global<u32>);

/// Counts each key.
pub fn histogram(kernel: Counts) -> Verdict {
    counted("histogram", kernel, |_, _, _| Ok(()))
}

/// Counts each key in shared memory first.
pub fn bins(kernel: Counts) -> Verdict {
    counted("bins", kernel, |trial, report, blocks| {
        global_atomics(trial, report, u64::from(CELLS) * blocks)
    })
}

fn counted(
    puzzle: &'static str,
    kernel: Counts,
    more: impl Fn(&Trial, &Report, u64) -> Verdict,
) -> Verdict {
    trials(puzzle, |trial| {
        for n in [1, 256, 1000, 3000] {
            let keys = trial.keys(n, CELLS);
            let mut expected = vec![0; CELLS as usize];
            keys.iter().for_each(|key| expected[*key as usize] += 1);
            let (input, cells) = (Buffer::from(&keys), Buffer::from(&[0; CELLS as usize]));
            let blocks = n.div_ceil(THREADS as usize) as u32;
            let report =
                trial.launch(blocks, THREADS, || kernel(handle(&input), handle(&cells)))?;
            trial.equal("cells", &cells, &expected)?;
            trial.global_loads(&report, n.div_ceil(32) as u64)?;
            more(trial, &report, blocks.into())?;
        }
        Ok(())
    })
}

/// Counts the positive elements with one atomic for each warp.
pub fn aggregate(kernel: Map) -> Verdict {
    trials("aggregate", |trial| {
        for n in [1, 100, 256, 3000] {
            let x = trial.ints(n);
            let (input, count) = (Buffer::from(&x), Buffer::from(&[0]));
            let blocks = n.div_ceil(THREADS as usize) as u32;
            let report =
                trial.launch(blocks, THREADS, || kernel(handle(&input), handle(&count)))?;
            let positive = x.iter().filter(|x| **x > 0).count() as i32;
            trial.equal("count", &count, &[positive])?;
            trial.global_loads(&report, n.div_ceil(32) as u64)?;
            // A warp without a positive element may add 0.
            global_atomics(trial, &report, u64::from(blocks * THREADS / 32))?;
        }
        Ok(())
    })
}
