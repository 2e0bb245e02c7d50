//! Sums of floats with the same bits in every run.

use super::expect;
use crate::{Verdict, handle, trials};
use cuda_sim::Buffer;
use kernels_gpu::mem::Global;

/// A kernel from floats to partials.
type Floats = fn(Global<f32>, Global<f32>);

/// The sum of a block has the same bits in any order of the threads.
pub fn same_bits(kernel: Floats) -> Verdict {
    let mut first: Option<Vec<u32>> = None;
    trials("same_bits", |trial| {
        let x = trial.floats(256 * 8);
        let (input, output) = (Buffer::from(&x), Buffer::uninitialised(8));
        let report = trial.launch(8, 256, || kernel(handle(&input), handle(&output)))?;
        let got: Vec<f32> = output.to_vec();
        for (got, part) in got.iter().zip(x.chunks(256)) {
            close(*got, part)?;
        }
        trial.global_loads(&report, 256 * 8 / 32)?;
        same(&mut first, &got, "another order of threads")
    })
}

/// The sums of tiles have the same bits for any grid.
pub fn any_grid(kernel: Floats) -> Verdict {
    trials("any_grid", |trial| {
        let mut first = None;
        let n = 128 * 6 + 70;
        let x = trial.floats(n);
        let tiles = n.div_ceil(128);
        for blocks in [1, 2, 5, 7, 20] {
            let (input, output) = (Buffer::from(&x), Buffer::uninitialised(tiles));
            let report = trial.launch(blocks, 128, || kernel(handle(&input), handle(&output)))?;
            let got: Vec<f32> = output.to_vec();
            for (got, tile) in got.iter().zip(x.chunks(128)) {
                close(*got, tile)?;
            }
            trial.global_loads(&report, n.div_ceil(32) as u64)?;
            same(&mut first, &got, "another grid")?;
        }
        Ok(())
    })
}

/// The sum is right up to roundings.
fn close(got: f32, x: &[f32]) -> Verdict {
    let exact: f64 = x.iter().map(|x| f64::from(*x)).sum();
    let size: f64 = x.iter().map(|x| f64::from(x.abs())).sum();
    expect((f64::from(got) - exact).abs() <= 1e-5 * size, || {
        format!("a partial is {got}; right is about {exact} (NaN: never stored)")
    })
}

fn same(first: &mut Option<Vec<u32>>, got: &[f32], by: &str) -> Verdict {
    let bits: Vec<u32> = got.iter().map(|x| x.to_bits()).collect();
    let before = first.get_or_insert_with(|| bits.clone());
    let differs = before.iter().zip(&bits).position(|(a, b)| a != b);
    expect(differs.is_none(), || {
        let i = differs.unwrap_or(0);
        format!(
            "partial {i} has other bits with {by}: {:#010x} and {:#010x}; every sum is right up to roundings, but \
             the order of the additions differs",
            before[i], bits[i]
        )
    })
}
