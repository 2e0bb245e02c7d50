//! Threads, blocks and grids.

use super::sectors;
use crate::{Verdict, handle, trials};
use cuda_sim::Buffer;
use kernels_gpu::mem::Global;

/// A kernel from integers to integers.
pub(super) type Map = fn(Global<i32>, Global<i32>);

/// `y[i] = x[i] + 10`; one block with a thread for each element.
pub fn map(kernel: Map) -> Verdict {
    trials("map", |trial| {
        for n in [32, 64, 256] {
            let x = trial.ints(n);
            let (input, y) = (Buffer::from(&x), Buffer::uninitialised(n));
            let report = trial.launch(1, n as u32, || kernel(handle(&input), handle(&y)))?;
            let expected: Vec<_> = x.iter().map(|x| x + 10).collect();
            trial.equal("y", &y, &expected)?;
            trial.global_loads(&report, n as u64 / 32)?;
        }
        Ok(())
    })
}

/// `y[i] = 2 * x[i]`; the last block has threads without an element.
pub fn guard(kernel: Map) -> Verdict {
    doubled("guard", kernel, &[100, 1, 31, 64, 65, 1000])
}

/// `y[i] = 2 * x[i]`; several blocks.
pub fn blocks(kernel: Map) -> Verdict {
    doubled("blocks", kernel, &[64, 128, 1000, 4097])
}

fn doubled(puzzle: &'static str, kernel: Map, lengths: &[usize]) -> Verdict {
    trials(puzzle, |trial| {
        for &n in lengths {
            let x = trial.ints(n);
            let (input, y) = (Buffer::from(&x), Buffer::uninitialised(n));
            let blocks = n.div_ceil(64) as u32;
            let report = trial.launch(blocks, 64, || kernel(handle(&input), handle(&y)))?;
            let expected: Vec<_> = x.iter().map(|x| 2 * x).collect();
            trial.equal("y", &y, &expected)?;
            trial.global_loads(&report, n.div_ceil(32) as u64)?;
        }
        Ok(())
    })
}

/// `y[i] = x[i] * x[i]`; any grid.
pub fn grid_stride(kernel: Map) -> Verdict {
    trials("grid_stride", |trial| {
        for (blocks, threads) in [(1, 32), (3, 64), (4, 256)] {
            for n in [0, 1, 100, 1000, 5000] {
                let x = trial.ints(n);
                let (input, y) = (Buffer::from(&x), Buffer::uninitialised(n));
                let report =
                    trial.launch(blocks, threads, || kernel(handle(&input), handle(&y)))?;
                let expected: Vec<_> = x.iter().map(|x| x * x).collect();
                trial.equal("y", &y, &expected)?;
                trial.global_loads(&report, n.div_ceil(32) as u64)?;
                // Twice as many as necessary, for a kernel that loads an element twice.
                sectors(trial, &report, 4 * n.div_ceil(8) as u64)?;
            }
        }
        Ok(())
    })
}

/// `y = 3 * x` for an image; a thread for each pixel, in blocks of two dimensions.
pub fn two_dimensions(kernel: fn(Global<i32>, Global<i32>, u32, u32)) -> Verdict {
    trials("two_dimensions", |trial| {
        for (columns, rows) in [(1, 1), (16, 8), (17, 8), (16, 9), (50, 33)] {
            let n = columns * rows;
            let x = trial.ints(n);
            let (input, y) = (Buffer::from(&x), Buffer::uninitialised(n));
            let blocks = (columns.div_ceil(16) as u32, rows.div_ceil(8) as u32);
            let report = trial.launch_2d(blocks, (16, 8), || {
                kernel(handle(&input), handle(&y), columns as u32, rows as u32);
            })?;
            let expected: Vec<_> = x.iter().map(|x| 3 * x).collect();
            trial.equal("y", &y, &expected)?;
            // A warp has two rows of 16 threads.
            trial.global_loads(&report, u64::from(blocks.0 * blocks.1) * 4)?;
        }
        Ok(())
    })
}
