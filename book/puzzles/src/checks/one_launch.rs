//! The whole sum in one launch: the last block adds the partials.

use super::THREADS;
use crate::{Trial, Verdict, handle, trials};
use cuda_sim::Buffer;
use cuda_std::atomic::AtomicU32;
use kernels_gpu::mem::Global;

/// The input, the partials of the blocks, the sum, and the counter of the blocks that have arrived.
type OneLaunch = fn(Global<i32>, Global<i32>, Global<i32>, &AtomicU32);

/// The last block adds the partials.
pub fn arrival(kernel: OneLaunch) -> Verdict {
    trials("arrival", |trial| lengths(trial, kernel, 1))
}

/// The partials are visible before the count.
pub fn fence(kernel: OneLaunch) -> Verdict {
    trials("fence", |trial| lengths(trial, kernel, 1))
}

/// Three launches with the same counter.
pub fn again(kernel: OneLaunch) -> Verdict {
    trials("again", |trial| lengths(trial, kernel, 3))
}

fn lengths(trial: &mut Trial, kernel: OneLaunch, launches: usize) -> Verdict {
    for n in [1, 256, 257, 5000] {
        let counter = AtomicU32::new(0);
        for launch in 1..=launches {
            let x = trial.ints(n);
            let blocks = n.div_ceil(THREADS as usize);
            let (input, partials) = (Buffer::from(&x), Buffer::uninitialised(blocks));
            let sum = Buffer::uninitialised(1);
            let report = trial.launch(blocks as u32, THREADS, || {
                kernel(handle(&input), handle(&partials), handle(&sum), &counter);
            })?;
            let equal = trial.equal("sum", &sum, &[x.iter().sum()]);
            equal.map_err(|refusal| match launches {
                1 => refusal,
                _ => refusal.in_launch(&format!("launch {launch} of {launches}, {n} elements")),
            })?;
            // The elements, and the partials by one warp or one after the other.
            trial.global_loads(&report, n.div_ceil(32) as u64 + blocks as u64)?;
        }
    }
    Ok(())
}
