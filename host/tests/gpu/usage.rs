//! Typical use: several threads, plans that run repeatedly, and measured times.

use std::fmt::Debug;
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use kernels_sim::oracle::{Expected, Oracle as _};
use libtest_mimic::{Completion, Failed, Trial};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use warpfold::{Algorithm, Ceiling, Device, Error, Sum};

use crate::lab::Lab;
use crate::oracle::{Oracle, Subject, close};
use crate::sizes::{LARGEST, around};

pub fn trials(lab: &Arc<Lab>) -> Vec<Trial> {
    vec![
        lab.trial("usage four threads", four_threads),
        lab.trial("usage plan runs again", plan_runs_again),
        lab.trial("usage upload and download", upload_and_download),
        lab.trial("usage time", time),
        lab.trial("usage read ceiling i32", read_ceiling::<i32>),
        lab.trial("usage read ceiling i64", read_ceiling::<i64>),
        lab.trial("usage read ceiling f32", read_ceiling::<f32>),
        lab.trial("usage read ceiling f64", read_ceiling::<f64>),
        lab.trial("usage calls by name", calls_by_name),
        lab.trial("usage runs, very many calls", runs_again_and_again),
    ]
}

fn four_threads(lab: &Lab, device: &Device) -> Result<Completion, Failed> {
    let work = |thread: u64| -> Result<(), String> {
        let mut rng = StdRng::seed_from_u64(lab.seed ^ thread);
        for _ in 0..50 {
            let n = rng.random_range(1..200_000);
            let data: Vec<i32> = (0..n).map(|_| rng.random()).collect();
            let x = device.upload(&data).map_err(|error| error.to_string())?;
            for algorithm in [
                Algorithm::SharedMemory,
                Algorithm::Reduce2,
                Algorithm::Reduce4,
            ] {
                let got = device.reduce(&x, Sum).algorithm(algorithm).run();
                let expected = Sum::expected(&data).value;
                if got != Ok(expected) {
                    let seed = lab.seed;
                    return Err(format!(
                        "thread {thread}, {algorithm:?}, n = {n}: {got:?} instead of {expected} \
                         (seed {seed})"
                    ));
                }
            }
        }
        Ok(())
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|thread| scope.spawn(move || work(thread)))
            .collect();
        for thread in threads {
            thread.join().map_err(|_| "a thread panicked")??;
        }
        Ok(Completion::Completed)
    })
}

fn plan_runs_again(lab: &Lab, device: &Device) -> Result<Completion, Failed> {
    let data = lab.data::<i32>()?;
    let view = data.whole.device.view(3..100_003)?;
    let expected = data.whole.answer::<Sum>(3, 100_000).value;
    for algorithm in Algorithm::all() {
        let reduction = || device.reduce(view, Sum).algorithm(algorithm);
        let on_host = reduction().finish_on_host();
        for (mut plan, what) in [(reduction().plan()?, ""), (on_host.plan()?, " on the host")] {
            for run in 0..20 {
                plan.enqueue()?;
                let got = plan.result()?;
                if got != expected {
                    return Err(format!(
                        "{algorithm:?}{what}, run {run}: {got} instead of {expected}"
                    )
                    .into());
                }
            }
        }
    }
    Ok(Completion::Completed)
}

/// Every call returns the same result as on the CPU.
fn calls_by_name(lab: &Lab, device: &Device) -> Result<Completion, Failed> {
    fn of_integers(device: &Device, values: &[i32]) -> Result<impl Debug + PartialEq, Error> {
        let x = &device.upload(values)?;
        Ok((
            (device.sum(x)?, device.sum_wide(x)?, device.product(x)?),
            (device.min(x)?, device.max(x)?),
            (device.argmin(x)?, device.argmax(x)?),
        ))
    }
    fn of_floats(device: &Device, values: &[f32]) -> Result<impl Debug + PartialEq, Error> {
        let x = &device.upload(values)?;
        Ok((
            (device.nan_min(x)?, device.nan_max(x)?),
            (device.argmin(x)?, device.argmax(x)?),
        ))
    }
    let cpu = Device::cpu();
    let integers = &lab.data::<i32>()?.rough.host;
    for n in [0, 1, 1000, 100_001] {
        let got = of_integers(device, &integers[..n])?;
        let expected = of_integers(&cpu, &integers[..n])?;
        if got != expected {
            return Err(format!("{n} integers: {got:?} instead of {expected:?}").into());
        }
    }
    let mut floats = lab.data::<f32>()?.rough.host[..70_000].to_vec();
    for nan_at in [None, Some(40_000)] {
        if let Some(i) = nan_at {
            floats[i] = f32::NAN;
        }
        let (got, expected) = (of_floats(device, &floats)?, of_floats(&cpu, &floats)?);
        if got != expected {
            return Err(format!("NaN at {nan_at:?}: {got:?} instead of {expected:?}").into());
        }
    }
    Ok(Completion::Completed)
}

fn upload_and_download(lab: &Lab, device: &Device) -> Result<Completion, Failed> {
    let data = lab.data::<u64>()?;
    let back = data.rough.device.download()?;
    if back != data.rough.host {
        return Err(format!("{} downloaded elements differ", back.len()).into());
    }
    let part = data.rough.device.view(7..1031)?.download()?;
    if part != data.rough.host[7..1031] {
        return Err("a downloaded view has other elements".into());
    }
    let zeroes = device.alloc::<f64>(1000)?;
    if zeroes.download()? != [0.0; 1000] {
        return Err("new memory is not zero".into());
    }
    Ok(Completion::Completed)
}

fn time(lab: &Lab, device: &Device) -> Result<Completion, Failed> {
    let data = lab.data::<i32>()?;
    let mut plan = device
        .reduce(&data.whole.device, Sum)
        .algorithm(Algorithm::Naive)
        .plan()?;
    let clock = Instant::now();
    let events = device.time(|| (0..50).try_for_each(|_| plan.enqueue()))?;
    let wall = clock.elapsed().as_secs_f64() * 1e3;
    // Reading 12 MB fifty times takes longer, even at 100 TB/s; other trials share the stream.
    let least = 50.0 * (LARGEST * size_of::<i32>()) as f64 / 100e12 * 1e3;
    if !(events > least && events < wall) {
        return Err(format!("{events} ms by events, {wall} ms on the clock").into());
    }
    let failed = device.time(|| Err(Error::NotEnqueued { kernel: "none" }));
    match failed {
        Err(Error::NotEnqueued { .. }) => Ok(Completion::Completed),
        other => Err(format!("{other:?} instead of the closure's error").into()),
    }
}

/// So many calls that the numbers of launches begin again. Each has other keys and another number of tiles than those before, so
/// a number of runs or a word of a tile that an earlier launch has left would be found.
fn runs_again_and_again(lab: &Lab, device: &Device) -> Result<Completion, Failed> {
    let calls = if lab.light { 20 } else { 70_000 };
    let mut rng = StdRng::seed_from_u64(lab.seed);
    let keys: Vec<u32> = (0..200_000).map(|_| rng.random_range(0..3)).collect();
    // The number of keys up to each, this one too, that differ from the one before.
    let different = keys.windows(2).scan(0, |count, keys| {
        *count += usize::from(keys[0] != keys[1]);
        Some(*count)
    });
    let different: Vec<usize> = std::iter::once(0).chain(different).collect();
    let on_device = device.upload(&keys)?;
    let (mut unique, mut offsets) = (
        device.alloc::<u32>(keys.len())?,
        device.alloc::<u32>(keys.len() + 1)?,
    );
    let mut scratch = device.segment_scratch()?;
    for call in 0..calls {
        let start = rng.random_range(0..keys.len());
        let end = rng.random_range(start + 1..=keys.len());
        let keys_of_call = on_device.view(start..end)?;
        let runs = device.count_runs_into(keys_of_call, &mut unique, &mut offsets, &mut scratch)?;
        let expected = different[end - 1] - different[start] + 1;
        if runs != expected {
            let seed = lab.seed;
            return Err(format!(
                "call {call}, keys {start}..{end}: {runs} runs instead of {expected} (seed {seed})"
            )
            .into());
        }
        if call % 1000 == 0 {
            let offsets = offsets.view(..=runs)?.download()?;
            let starts = (start..end)
                .filter(|at| *at == start || keys[*at] != keys[*at - 1])
                .map(|at| (at - start) as u32);
            let all: Vec<u32> = starts.chain([(end - start) as u32]).collect();
            if offsets != all {
                return Err(format!("call {call}: other offsets (seed {})", lab.seed).into());
            }
        }
    }
    Ok(Completion::Completed)
}

/// All boundary lengths for a grid of many blocks; with most of them, some blocks have no tile.
fn read_ceiling<T: Subject>(lab: &Lab, device: &Device) -> Result<Completion, Failed>
where
    Sum: Oracle<T> + Ceiling<T, Output = T>,
{
    let data = lab.data::<T>()?;
    let per_load = 16 / size_of::<T>();
    let tile = 4 * 256 * per_load;
    let multiprocessors = device.info().ok_or("a GPU has an info")?.multiprocessors as usize;
    let mut sizes = around(tile);
    sizes.extend([
        multiprocessors * 8 * tile - 1,
        multiprocessors * 8 * tile + 1,
    ]);
    for n in sizes.into_iter().filter(|n| *n <= LARGEST) {
        let start = n % 3 * per_load;
        let mut plan = device.read_ceiling(data.whole.device.view(start..start + n)?)?;
        plan.fill_scratch(0xff)?;
        plan.enqueue()?;
        let expected: Expected<T> = data.whole.answer::<Sum>(start, n);
        close(<Sum as Oracle<T>>::value(plan.result()?, n), &expected, 0.0)
            .map_err(|wrong| format!("n = {n} from {start}: {wrong} (seed {})", lab.seed))?;
    }
    Ok(Completion::Completed)
}
