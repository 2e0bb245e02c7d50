//! `warpfold-bench runs`: sums of f32 over runs of equal keys of 32 bits.
//!
//! The call waits for the number of runs between its launches, and its time contains that.

use anyhow::{Context, Result, ensure};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use warpfold::{Buffer, Device, Sum};
use warpfold_results::parts::{Form, Row};
use warpfold_results::schema::By;

use super::groups::{ReduceFn, SOURCE};
use super::peers::{Right, chain_of_cub, time_cub};
use super::{ROUNDS, Record, drawn, is_chosen, is_right};
use crate::options::PartsOptions;
use crate::peers::{Function, Peers};

/// The mean lengths of the runs.
const MEANS: [usize; 7] = [1, 4, 16, 256, 1 << 12, 1 << 20, 1 << 28];

pub fn run(options: &PartsOptions) -> Result<()> {
    let (device, cpu) = (Device::first()?, Device::cpu());
    let mut record = Record::new(
        &device,
        "keys, values, and a key, an offset and a sum of each run",
    )?;
    let cub = match options.peers {
        true => record.found(By::Cub, ByKey::build(&device))?,
        false => None,
    };
    record.head(&[Form::Call])?;
    let n = options.n;
    let values = drawn(n, |random: &mut StdRng| random.random_range(-1.0f32..1.0));
    let x = device.upload(&values)?;
    for mean in MEANS {
        let title = format!("mean of {mean}");
        if !is_chosen(options, &title) || mean > n {
            continue;
        }
        let keys = keys(n, mean);
        let expected = cpu.reduce_runs(cpu.view_host(&keys)?, cpu.view_host(&values)?, Sum)?;
        let count = expected.keys.len();
        let bytes = 8 * n + 12 * count;
        let ceiling = device.alloc::<f32>(bytes / size_of::<f32>())?;
        let mut read = device.read_ceiling(&ceiling)?;
        let keys = device.upload(&keys)?;
        let (mut unique, mut offsets) = (device.alloc::<u32>(n)?, device.alloc::<u32>(n + 1)?);
        let (mut sums, mut scratch) = (device.alloc::<f32>(count)?, device.segment_scratch()?);
        let mut times = [vec![], vec![], vec![]];
        // The first round loads the kernels and makes room.
        for round in 0..=ROUNDS {
            times[0].push(device.time(|| read.enqueue())?);
            let mut runs = 0;
            let call = || {
                runs = device.reduce_runs_into(
                    &keys,
                    &x,
                    Sum,
                    &mut unique,
                    &mut offsets,
                    &mut sums,
                    &mut scratch,
                )?;
                Ok(())
            };
            times[1].push(device.time(call)?);
            if round == 0 {
                ensure!(runs == count, "{title}: {runs} runs instead of {count}");
                is_right(&unique.view(..runs)?.download()?, &expected.keys, &title)?;
                is_right(&sums.download()?, &expected.results, &title)?;
                times.iter_mut().for_each(Vec::clear);
            }
        }
        let mut row = Row {
            op: "sum".into(),
            element: "f32".into(),
            parts: title,
            n,
            results: count,
            bytes,
            read_us: 0.0,
            call_us: 0.0,
            rows_us: None,
            peers: vec![],
        };
        if let Some(cub) = &cub {
            let lens = |i: usize| expected.lengths[i] as usize;
            let right = Right {
                results: &expected.results,
                len: &lens,
            };
            let times = cub.time(&device, &keys, &x, &expected.keys, &right);
            record.timed(&mut row, By::Cub, Form::Call, times)?;
        }
        record.push(row, times)?;
    }
    record.write(options)
}

/// CUB's `DeviceReduce::ReduceByKey`.
struct ByKey(Function<ReduceFn>);

impl ByKey {
    fn build(device: &Device) -> Result<(Self, String)> {
        let capability = device.info().context("CUB needs a GPU")?.compute_capability;
        let peers = Peers::build(&[("keyed.cu", SOURCE)], capability)?;
        // SAFETY: keyed.cu defines this function with this signature.
        let reduce = unsafe { peers.function("cub_by_key_f32") }?;
        Ok((Self(reduce), peers.built.version()))
    }

    /// The times in microseconds.
    fn time(
        &self,
        device: &Device,
        keys: &Buffer<u32>,
        values: &Buffer<f32>,
        unique: &[u32],
        right: &Right<f32>,
    ) -> Result<Vec<f64>> {
        let n = i32::try_from(keys.len()).context("CUB's number of pairs is an int")?;
        // There cannot be more runs than pairs.
        let (found, sums) = (
            device.alloc::<u32>(keys.len())?,
            device.alloc::<u32>(keys.len())?,
        );
        let count = device.alloc::<i32>(1)?;
        let times = time_cub(device, |temp, bytes| {
            // SAFETY: without temporary storage the call only writes the storage's size, to a local variable of
            // `time_cub`. Otherwise the storage has that size, and `time_cub` waits for the stream while it is live. All
            // arrays are live memory of the stream's device, with `n` elements each, and one for the count.
            let status = unsafe {
                (self.0)(
                    temp,
                    bytes,
                    keys.as_device_ptr() as *const u32,
                    values.as_device_ptr() as *const f32,
                    n,
                    found.as_device_ptr() as *mut u32,
                    sums.as_device_ptr() as *mut f32,
                    count.as_device_ptr() as *mut i32,
                    device.stream_ptr(),
                )
            };
            self.0.check(status, "cub::DeviceReduce::ReduceByKey")
        })?;
        let (count, expected) = (count.download()?[0], unique.len());
        ensure!(
            count as usize == expected,
            "{count} runs instead of {expected}"
        );
        is_right(&found.view(..expected)?.download()?, unique, "its keys")?;
        right.check(&sums.view(..expected)?.download()?, chain_of_cub)?;
        Ok(times)
    }
}

/// Keys in runs whose lengths are uniformly distributed around a mean.
fn keys(n: usize, mean: usize) -> Vec<u32> {
    let random = &mut StdRng::seed_from_u64(11);
    let mut keys = Vec::with_capacity(n);
    while keys.len() < n {
        let len = random.random_range(1..2 * mean).min(n - keys.len());
        let key = keys.last().map_or(0, |last: &u32| last.wrapping_add(1));
        keys.resize(keys.len() + len, key);
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_the_mean() {
        for mean in [1, 4, 256] {
            let keys = keys(100_000, mean);
            let runs = 1 + *keys.last().unwrap() as usize;
            let got = keys.len() / runs;
            assert!((mean - mean / 8..=mean + mean / 8).contains(&got), "{got}");
        }
    }
}
