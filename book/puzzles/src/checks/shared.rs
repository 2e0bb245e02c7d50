//! Shared memory and barriers.

use super::threads::Map;
use super::{partials, sectors, wavefronts};
use crate::trial::counts;
use crate::{Verdict, handle, trials};
use cuda_sim::{Buffer, InstructionKind, Space};
use kernels_gpu::mem::Global;

/// `y[i] = x[i - 1] + x[i] + x[i + 1]`, and each element is loaded about once.
pub fn stencil(kernel: Map) -> Verdict {
    trials("stencil", |trial| {
        for n in [1, 2, 63, 64, 65, 1000] {
            let x = trial.ints(n);
            let (input, y) = (Buffer::from(&x), Buffer::uninitialised(n));
            let blocks = n.div_ceil(64) as u32;
            let report = trial.launch(blocks, 64, || kernel(handle(&input), handle(&y)))?;
            let at = |i: usize| x.get(i).copied().unwrap_or(0);
            let expected: Vec<_> = (0..n)
                .map(|i| at(i.wrapping_sub(1)) + at(i) + at(i + 1))
                .collect();
            trial.equal("y", &y, &expected)?;
            let what = InstructionKind::Load(Space::Global);
            let most = n as u64 + 2 * u64::from(blocks);
            let got = counts(&report, what).lanes;
            trial.budget("loads of single elements", got, most, &report, |request| {
                request.what == what
            })?;
        }
        Ok(())
    })
}

/// Every block rotates its 128 elements by one.
pub fn barrier(kernel: Map) -> Verdict {
    trials("barrier", |trial| {
        for blocks in [1, 3] {
            let x = trial.ints(128 * blocks);
            let (input, y) = (Buffer::from(&x), Buffer::uninitialised(x.len()));
            let launch = || kernel(handle(&input), handle(&y));
            let report = trial.launch(blocks as u32, 128, launch)?;
            let rotated = |part: &[i32]| [&part[1..], &part[..1]].concat();
            let expected: Vec<_> = x.chunks(128).flat_map(rotated).collect();
            trial.equal("y", &y, &expected)?;
            trial.global_loads(&report, x.len() as u64 / 32)?;
        }
        Ok(())
    })
}

/// Subtracts the first element of its block from each element.
pub fn inside_if(kernel: Map) -> Verdict {
    trials("inside_if", |trial| {
        for n in [1, 100, 128, 129, 1000] {
            let x = trial.ints(n);
            let (input, y) = (Buffer::from(&x), Buffer::uninitialised(n));
            let blocks = n.div_ceil(128) as u32;
            let report = trial.launch(blocks, 128, || kernel(handle(&input), handle(&y)))?;
            let minus_first = |part: &[i32]| part.iter().map(|x| x - part[0]).collect::<Vec<_>>();
            let expected: Vec<_> = x.chunks(128).flat_map(minus_first).collect();
            trial.equal("y", &y, &expected)?;
            let once_each = n.div_ceil(32) as u64 + u64::from(blocks);
            trial.global_loads(&report, once_each)?;
        }
        Ok(())
    })
}

/// Reverses each part of 64 elements; a block takes several parts.
pub fn reuse(kernel: Map) -> Verdict {
    trials("reuse", |trial| {
        for (blocks, parts) in [(1, 1), (1, 4), (3, 10)] {
            let x = trial.ints(64 * parts);
            let (input, y) = (Buffer::from(&x), Buffer::uninitialised(x.len()));
            let report = trial.launch(blocks, 64, || kernel(handle(&input), handle(&y)))?;
            let expected: Vec<_> = x
                .chunks(64)
                .flat_map(|part| part.iter().rev().copied())
                .collect();
            trial.equal("y", &y, &expected)?;
            trial.global_loads(&report, x.len() as u64 / 32)?;
        }
        Ok(())
    })
}

/// The sums of the blocks; the last block is not full.
pub fn uninitialised(kernel: Map) -> Verdict {
    trials("uninitialised", |trial| {
        partials(trial, kernel, 256, |_, _, _| Ok(()))
    })
}

/// Transposes a matrix by tiles of 32 by 32.
pub fn transpose(kernel: fn(Global<i32>, Global<i32>, u32, u32)) -> Verdict {
    trials("transpose", |trial| {
        for (columns, rows) in [(32, 32), (96, 64)] {
            let x = trial.ints(columns * rows);
            let (input, y) = (Buffer::from(&x), Buffer::uninitialised(x.len()));
            let blocks = (columns as u32 / 32, rows as u32 / 32);
            let report = trial.launch_2d(blocks, (32, 32), || {
                kernel(handle(&input), handle(&y), columns as u32, rows as u32);
            })?;
            let expected: Vec<_> = (0..columns)
                .flat_map(|column| x[column..].iter().step_by(columns).copied())
                .collect();
            trial.equal("y", &y, &expected)?;
            sectors(trial, &report, 2 * x.len() as u64 / 8)?;
            wavefronts(trial, &report, 2 * x.len() as u64 / 32)?;
        }
        Ok(())
    })
}
