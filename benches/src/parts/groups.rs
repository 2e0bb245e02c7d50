//! `warpfold-bench groups`: sums of f32 by keys of 32 bits in any order.
//!
//! Each round makes every call once. All times are the device's own, and contain the waits of the calls; `group_by` stores in
//! given memory. CUB sorts the pairs and reduces the runs of the sorted keys (`--peers`); its memory is given, too.

use std::ffi::c_void;
use std::fs;

use anyhow::{Context, Result, bail, ensure};
use rand::RngExt;
use rand::rngs::StdRng;
use warpfold::{Buffer, Determinism, Device, Sum};
use warpfold_results::parts::{Distribution, Group, Groups};

use super::{ROUNDS, drawn};
use crate::exact::median;
use crate::machine::Started;
use crate::options::GroupsOptions;
use crate::peers::{Function, Peers};
use crate::print_line;

/// The binary logarithms of the numbers of different keys.
const GROUPS: [u32; 4] = [4, 10, 16, 20];

pub(super) const SOURCE: &str = include_str!("../../peers/keyed.cu");

pub fn run(options: &GroupsOptions) -> Result<()> {
    let device = Device::first()?;
    let fast = device.clone().determinism(Determinism::Fast);
    let cub = match options.peers.then(|| Cub::build(&device)) {
        Some(Err(error)) => {
            print_line(&format!("CUB: absent: {error:#}"))?;
            None
        }
        cub => cub.transpose()?,
    };
    let started = Started::now()?;
    let mut record = Groups {
        date: started.date,
        command_line: started.command_line,
        machine: started.machine,
        device: device.name().into(),
        cub: cub.as_ref().map(|cub| cub.version.clone()),
        rounds: ROUNDS,
        rows: vec![],
    };
    print_line(&format!(
        "{device}: microseconds, medians of {ROUNDS} rounds, {} pairs of u32 and f32",
        options.n
    ))?;
    print_line(
        "keys              groups     group  1st red.    reduce   combine  group_by      fast       CUB  fast/CUB",
    )?;
    let n = options.n;
    // Whole numbers, so that sums of any order are exact.
    let values = drawn(n, |random: &mut StdRng| {
        f32::from(random.random_range(0u8..2))
    });
    let x = device.upload(&values)?;
    for log in GROUPS {
        for distribution in [Distribution::Uniform, Distribution::Zipf] {
            let title = format!("{distribution} 2^{log}");
            if options
                .only
                .as_ref()
                .is_some_and(|only| !title.contains(only))
            {
                continue;
            }
            let keys = keys(n, log, distribution);
            let expected = expected(&keys, &values, log);
            let keys = device.upload(&keys)?;
            // Group, first reduction, reduction, combination, group_by, group_by by atomics, CUB.
            let mut times: [Vec<f64>; 7] = Default::default();
            for round in 0..=ROUNDS {
                let mut found = None;
                let group = || {
                    found = Some(fast.group(&keys)?);
                    Ok(())
                };
                times[0].push(device.time(group)?);
                let groups = found.context("the call has returned groups")?;
                let mut sums = device.alloc::<f32>(groups.len())?;
                for times in &mut times[1..3] {
                    times.push(device.time(|| groups.reduce_into(&x, Sum, &mut sums))?);
                }
                let mut combined = vec![];
                let combine = || {
                    combined = groups.combine(&x, Sum)?;
                    Ok(())
                };
                times[3].push(device.time(combine)?);
                let mut results = vec![];
                for (device, times) in [&device, &fast].into_iter().zip(&mut times[4..6]) {
                    let mut unique = device.alloc::<u32>(groups.len())?;
                    let mut sums = device.alloc::<f32>(groups.len())?;
                    let call = || {
                        device
                            .group_by_into(&keys, &x, Sum, &mut unique, &mut sums)
                            .map(drop)
                    };
                    times.push(device.time(call)?);
                    results.push((unique, sums));
                }
                if let Some(cub) = &cub {
                    times[6].push(cub.time(&device, &keys, &x, log)?);
                }
                if round > 0 {
                    continue;
                }
                // The first round loads the kernels and makes room.
                times.iter_mut().for_each(Vec::clear);
                let unique = groups.keys().download()?;
                is_right(&unique, &sums.download()?, &expected, &title)?;
                is_right(&unique, &combined, &expected, &title)?;
                for (keys, sums) in &results {
                    is_right(&keys.download()?, &sums.download()?, &expected, &title)?;
                }
            }
            let medians = times.map(|times| median(times).map(|ms| ms * 1e3));
            let [
                group,
                first_reduce,
                reduce,
                combine,
                group_by,
                in_one_pass,
                cub_us,
            ] = medians;
            let (Some(group_us), Some(first_reduce_us), Some(reduce_us)) =
                (group, first_reduce, reduce)
            else {
                bail!("there is a round");
            };
            let (Some(combine_us), Some(group_by_us), Some(group_by_fast_us)) =
                (combine, group_by, in_one_pass)
            else {
                bail!("there is a round");
            };
            let row = Group {
                distribution,
                n,
                groups: expected.iter().filter(|(count, _)| *count > 0).count(),
                group_us,
                first_reduce_us,
                reduce_us,
                combine_us,
                group_by_us,
                group_by_fast_us,
                cub_us,
            };
            print_row(&row, &title)?;
            record.rows.push(row);
        }
    }
    if let Some(file) = &options.json {
        let text = serde_json::to_string_pretty(&record)?;
        fs::write(file, text + "\n").with_context(|| format!("cannot write {}", file.display()))?;
    }
    Ok(())
}

fn print_row(row: &Group, title: &str) -> Result<()> {
    let (cub, ratio) = match row.cub_us {
        Some(us) => (
            format!("{us:.1}"),
            format!("{:.3}", row.group_by_fast_us / us),
        ),
        None => ("-".into(), "-".into()),
    };
    print_line(&format!(
        "{title:14} {:>9} {:>9.1} {:>9.1} {:>9.1} {:>9.1} {:>9.1} {:>9.1} {cub:>9} {ratio:>9}",
        row.groups,
        row.group_us,
        row.first_reduce_us,
        row.reduce_us,
        row.combine_us,
        row.group_by_us,
        row.group_by_fast_us,
    ))?;
    Ok(())
}

/// Random keys; the number of a key is below `2^log`, and its lowest bits are not those of the number.
fn keys(n: usize, log: u32, distribution: Distribution) -> Vec<u32> {
    let groups = f64::from(1 << log);
    drawn(n, |random: &mut StdRng| {
        let uniform: f64 = random.random_range(0.0..1.0);
        let number = match distribution {
            Distribution::Uniform => groups * uniform,
            Distribution::Zipf => (groups + 1.0).powf(uniform) - 1.0,
        };
        key_of((number as u32).min((1 << log) - 1))
    })
}

/// An odd number: multiplication by it is a bijection.
const FACTOR: u32 = 0x9E37_79B1;

fn key_of(number: u32) -> u32 {
    number.wrapping_mul(FACTOR)
}

fn number_of(key: u32) -> u32 {
    /// The inverse of the factor modulo 2^32, by Newton's method.
    const INVERSE: u32 = {
        let mut inverse = 1u32;
        let mut step = 0;
        while step < 5 {
            let error = 2u32.wrapping_sub(FACTOR.wrapping_mul(inverse));
            inverse = inverse.wrapping_mul(error);
            step += 1;
        }
        inverse
    };
    key.wrapping_mul(INVERSE)
}

/// The number of items and the sum of each number of a key.
fn expected(keys: &[u32], values: &[f32], log: u32) -> Vec<(u32, f32)> {
    let mut expected = vec![(0, 0.0); 1 << log];
    for (key, value) in keys.iter().zip(values) {
        let (count, sum) = &mut expected[number_of(*key) as usize];
        *count += 1;
        *sum += value;
    }
    expected
}

/// An error unless each key that occurs is there once, with its sum.
fn is_right(keys: &[u32], sums: &[f32], expected: &[(u32, f32)], title: &str) -> Result<()> {
    let groups = expected.iter().filter(|(count, _)| *count > 0).count();
    ensure!(
        (keys.len(), sums.len()) == (groups, groups),
        "{title}: {} keys and {} sums of {groups} groups",
        keys.len(),
        sums.len()
    );
    let mut has = vec![false; expected.len()];
    for (key, sum) in keys.iter().zip(sums) {
        let number = number_of(*key) as usize;
        let (count, right) = *expected.get(number).unwrap_or(&(0, 0.0));
        ensure!(
            count > 0 && !std::mem::replace(&mut has[number], true) && *sum == right,
            "{title}: key {key} has the sum {sum} instead of {right} of {count} items, or occurs twice"
        );
    }
    Ok(())
}

type SortFn = unsafe extern "C" fn(
    *mut c_void,
    *mut usize,
    *const u32,
    *mut u32,
    *const f32,
    *mut f32,
    i32,
    *mut c_void,
) -> i32;
pub(super) type ReduceFn = unsafe extern "C" fn(
    *mut c_void,
    *mut usize,
    *const u32,
    *const f32,
    i32,
    *mut u32,
    *mut f32,
    *mut i32,
    *mut c_void,
) -> i32;

/// CUB's `DeviceRadixSort::SortPairs` and `DeviceReduce::ReduceByKey`.
struct Cub {
    sort: Function<SortFn>,
    reduce: Function<ReduceFn>,
    version: String,
}

impl Cub {
    fn build(device: &Device) -> Result<Self> {
        let capability = device.info().context("CUB needs a GPU")?.compute_capability;
        let peers = Peers::build(&[("keyed.cu", SOURCE)], capability)?;
        // SAFETY: keyed.cu defines these functions with these signatures.
        let (sort, reduce) = unsafe {
            (
                peers.function("cub_sort_pairs_f32")?,
                peers.function("cub_by_key_f32")?,
            )
        };
        Ok(Self {
            sort,
            reduce,
            version: peers.built.cub_version,
        })
    }

    /// The time in milliseconds; allocations are not part of it.
    fn time(
        &self,
        device: &Device,
        keys: &Buffer<u32>,
        values: &Buffer<f32>,
        log: u32,
    ) -> Result<f64> {
        let n = i32::try_from(keys.len()).context("CUB's number of pairs is an int")?;
        let (sorted, moved) = (
            device.alloc::<u32>(keys.len())?,
            device.alloc::<f32>(keys.len())?,
        );
        let (unique, sums) = (
            device.alloc::<u32>(1 << log)?,
            device.alloc::<f32>(1 << log)?,
        );
        let count = device.alloc::<i32>(1)?;
        let stream = device.stream_ptr();
        let call = |temp: u64, mut bytes: [usize; 2]| -> Result<[usize; 2]> {
            let [of_sort, of_reduce] = &mut bytes;
            // SAFETY: without temporary storage the calls only write its sizes, to local variables. Otherwise all
            // arrays are live memory of the stream's device, with as many elements as there are pairs or keys, until
            // the stream has been waited for below; the storage has the required sizes.
            let status = unsafe {
                (self.sort)(
                    temp as *mut c_void,
                    of_sort,
                    keys.as_device_ptr() as *const u32,
                    sorted.as_device_ptr() as *mut u32,
                    values.as_device_ptr() as *const f32,
                    moved.as_device_ptr() as *mut f32,
                    n,
                    stream,
                )
            };
            self.sort.check(status, "cub::DeviceRadixSort::SortPairs")?;
            // SAFETY: as above.
            let status = unsafe {
                (self.reduce)(
                    temp as *mut c_void,
                    of_reduce,
                    sorted.as_device_ptr() as *const u32,
                    moved.as_device_ptr() as *const f32,
                    n,
                    unique.as_device_ptr() as *mut u32,
                    sums.as_device_ptr() as *mut f32,
                    count.as_device_ptr() as *mut i32,
                    stream,
                )
            };
            self.reduce
                .check(status, "cub::DeviceReduce::ReduceByKey")?;
            Ok(bytes)
        };
        let bytes = call(0, [0; 2])?;
        let most = bytes[0].max(bytes[1]);
        let temp = device.alloc::<u32>(most.div_ceil(size_of::<u32>()).max(1))?;
        let ms = device.time(|| {
            call(temp.as_device_ptr(), bytes)
                .map(drop)
                .map_err(warpfold::Error::other)
        })?;
        let runs = count.download()?[0];
        ensure!((1..=1 << log).contains(&runs), "CUB has found {runs} keys");
        Ok(ms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_their_numbers() {
        for number in [0, 1, 77, u32::MAX] {
            assert_eq!(number_of(key_of(number)), number);
        }
    }

    #[test]
    fn frequent_keys_occur_as_by_zipfs_law() {
        let keys = keys(100_000, 10, Distribution::Zipf);
        let count = |number: u32| keys.iter().filter(|key| **key == key_of(number)).count();
        let [first, second] = [count(0), count(1)];
        assert!(first > second && second > first / 3, "{first} {second}");
        let uniform = super::keys(100_000, 4, Distribution::Uniform);
        let first = uniform.iter().filter(|key| **key == 0).count();
        assert!((5_500..7_000).contains(&first), "{first}");
    }
}
