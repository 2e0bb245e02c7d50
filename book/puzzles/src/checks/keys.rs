//! Keys, segments and runs.

use super::{global_atomics, shared_requests};
use crate::{Verdict, handle, trials};
use cuda_sim::Buffer;
use kernels_gpu::mem::Global;
use std::collections::BTreeSet;

/// `y[i]`: the lanes of the warp with the key of lane `i`.
pub fn peers(kernel: fn(Global<u32>, Global<u32>)) -> Verdict {
    trials("peers", |trial| {
        for (n, limit) in [(32, 1), (32, 3), (64, 1000), (512, 8)] {
            let keys = trial.keys(n, limit);
            let (input, y) = (Buffer::from(&keys), Buffer::uninitialised(n));
            let launch = || kernel(handle(&input), handle(&y));
            let report = trial.launch(n.div_ceil(64) as u32, n.min(64) as u32, launch)?;
            let masks = |warp: &[u32]| {
                let mask = |key: &u32| {
                    let same = warp.iter().enumerate().filter(|(_, other)| *other == key);
                    same.map(|(lane, _)| 1 << lane).sum::<u32>()
                };
                warp.iter().map(mask).collect::<Vec<_>>()
            };
            let expected: Vec<_> = keys.chunks(32).flat_map(masks).collect();
            trial.equal("y", &y, &expected)?;
            trial.global_loads(&report, n as u64 / 32)?;
            shared_requests(trial, &report, 0)?;
        }
        Ok(())
    })
}

/// Adds each value to the cell of its key, with one atomic for each group of a warp.
pub fn sum_by_key(kernel: fn(Global<u32>, Global<i32>, Global<i32>)) -> Verdict {
    trials("sum_by_key", |trial| {
        for (n, limit) in [(32, 1), (64, 4), (1024, 40)] {
            let (keys, x) = (trial.keys(n, limit), trial.ints(n));
            let mut expected = vec![0; limit as usize];
            keys.iter()
                .zip(&x)
                .for_each(|(key, x)| expected[*key as usize] += x);
            let groups: usize = keys
                .chunks(32)
                .map(|warp| warp.iter().collect::<BTreeSet<_>>().len())
                .sum();
            let (input, values) = (Buffer::from(&keys), Buffer::from(&x));
            let cells = Buffer::from(&vec![0; limit as usize]);
            let report = trial.launch(n.div_ceil(128) as u32, n.min(128) as u32, || {
                kernel(handle(&input), handle(&values), handle(&cells));
            })?;
            trial.equal("cells", &cells, &expected)?;
            trial.global_loads(&report, 2 * n as u64 / 32)?;
            global_atomics(trial, &report, groups as u64)?;
        }
        Ok(())
    })
}

/// The sum of each segment; a warp for each.
pub fn segments(kernel: fn(Global<u32>, Global<i32>, Global<i32>)) -> Verdict {
    trials("segments", |trial| {
        for lengths in [
            vec![0],
            vec![1],
            vec![32, 0, 33],
            vec![100, 7, 0, 64, 300, 31, 1, 2],
        ] {
            // One more of a random length: the shapes are not known in advance.
            let lengths: Vec<usize> = lengths.into_iter().chain([trial.below(200)]).collect();
            let mut offsets = vec![0];
            for length in &lengths {
                offsets.push(offsets[offsets.len() - 1] + *length as u32);
            }
            let x = trial.ints(lengths.iter().sum());
            let part = |bounds: &[u32]| x[bounds[0] as usize..bounds[1] as usize].iter().sum();
            let expected: Vec<i32> = offsets.windows(2).map(part).collect();
            let (bounds, input) = (Buffer::from(&offsets), Buffer::from(&x));
            let y = Buffer::uninitialised(lengths.len());
            let report = trial.launch(lengths.len().div_ceil(4) as u32, 128, || {
                kernel(handle(&bounds), handle(&input), handle(&y));
            })?;
            trial.equal("y", &y, &expected)?;
            let loads: usize = lengths.iter().map(|length| length.div_ceil(32) + 2).sum();
            trial.global_loads(&report, loads as u64)?;
        }
        Ok(())
    })
}

/// The sum of each run of equal keys up to the element; a run ends with its warp.
pub fn runs(kernel: fn(Global<u32>, Global<i32>, Global<i32>)) -> Verdict {
    trials("runs", |trial| {
        for (n, longest) in [(32, 1), (32, 40), (512, 5), (512, 20)] {
            let (keys, x) = (trial.runs(n, 3, longest), trial.ints(n));
            let mut expected = vec![0; n];
            for i in 0..n {
                let continues = i % 32 != 0 && keys[i] == keys[i - 1];
                expected[i] = x[i] + if continues { expected[i - 1] } else { 0 };
            }
            let (input, values, y) = (
                Buffer::from(&keys),
                Buffer::from(&x),
                Buffer::uninitialised(n),
            );
            let report = trial.launch(n.div_ceil(64) as u32, n.min(64) as u32, || {
                kernel(handle(&input), handle(&values), handle(&y));
            })?;
            trial.equal("y", &y, &expected)?;
            trial.global_loads(&report, 2 * n as u64 / 32)?;
            shared_requests(trial, &report, 0)?;
        }
        Ok(())
    })
}
