//! Access to global memory.

use super::sectors;
use super::threads::Map;
use crate::{Verdict, handle, trials};
use cuda_sim::Buffer;

/// Copies; each thread copies four elements.
pub fn coalesce(kernel: Map) -> Verdict {
    trials("coalesce", |trial| {
        for n in [1024, 4, 128, 1000, 5000] {
            let x = trial.ints(n);
            let (input, y) = (Buffer::from(&x), Buffer::uninitialised(n));
            let blocks = n.div_ceil(4 * 64) as u32;
            let report = trial.launch(blocks, 64, || kernel(handle(&input), handle(&y)))?;
            trial.equal("y", &y, &x)?;
            sectors(trial, &report, 2 * n.div_ceil(8) as u64)?;
            trial.global_loads(&report, n.div_ceil(32) as u64)?;
        }
        Ok(())
    })
}

/// Copies by loads and stores of 16 bytes; a thread for every four elements.
pub fn vector(kernel: Map) -> Verdict {
    trials("vector", |trial| {
        for n in [1000, 1, 4, 127, 128, 5001] {
            let x = trial.ints(n);
            let (input, y) = (Buffer::from(&x), Buffer::uninitialised(n));
            let blocks = n.div_ceil(4 * 64) as u32;
            let report = trial.launch(blocks, 64, || kernel(handle(&input), handle(&y)))?;
            trial.equal("y", &y, &x)?;
            // The last three elements may be copied one by one.
            trial.global_loads(&report, (n / 4).div_ceil(32) as u64 + 3)?;
        }
        Ok(())
    })
}
