//! `warpfold-bench segments --growth`: how the time per byte of sums of `f32` grows with the number of items.
//!
//! Offsets have 64 bits for every size. Items and lengths are random, and repeat after [`PERIOD`] items, so the answers of
//! one period are those of all. The items are small integers: sums are exact in any order.

use anyhow::{Result, bail};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use warpfold::{Buffer, Device, Sum};
use warpfold_results::parts::{Row, growth_table};

use super::{ROUNDS, Record, drawn, is_chosen, is_right};
use crate::driver::checked;
use crate::options::PartsOptions;
use crate::print_line;

/// The numbers of items.
const SIZES: [usize; 5] = [1 << 24, 1 << 26, 1 << 28, 1 << 30, 1 << 32];

/// The mean lengths of the segments.
const MEANS: [usize; 3] = [16, 256, 4096];

const PERIOD: usize = 1 << 22;

pub fn run(options: &PartsOptions) -> Result<()> {
    grow(&Device::first()?, options, &SIZES, PERIOD)
}

/// Times all sizes that fit into the device's memory; they are ascending multiples of the period.
fn grow(device: &Device, options: &PartsOptions, sizes: &[usize], period: usize) -> Result<()> {
    let mut record = Record::new(device, "items, offsets and results")?;
    let free = free_memory(device)?;
    let fits = |n: &usize| required(*n, MEANS[0]) <= free;
    for n in sizes.iter().filter(|n| !fits(n)) {
        let (needed, gib) = (required(*n, MEANS[0]), f64::from(1 << 30));
        record.note(format!(
            "{n} items are left out: they need {:.1} GiB of memory, and {:.1} GiB are free",
            needed as f64 / gib,
            free as f64 / gib
        ))?;
    }
    let sizes: Vec<_> = sizes.iter().copied().filter(fits).collect();
    let Some(most) = sizes.last() else {
        bail!("the device's memory has no room for any size");
    };
    record.head(&[])?;
    let items = drawn(period, |random: &mut StdRng| {
        f32::from(random.random_range(-8i8..=8))
    });
    let mut x = device.alloc(*most)?;
    for start in (0..*most).step_by(period) {
        x.write(start, &items)?;
    }
    for mean in MEANS {
        if is_chosen(options, &title(mean)) {
            time(device, &mut record, &items, &x, mean, &sizes)?;
        }
    }
    print_line("")?;
    print_line(&growth_table(&record.parts.rows))?;
    record.write(options)
}

fn title(mean: usize) -> String {
    format!("mean of {mean}")
}

/// Times all sizes with segments of a mean length.
fn time(
    device: &Device,
    record: &mut Record,
    items: &[f32],
    x: &Buffer<f32>,
    mean: usize,
    sizes: &[usize],
) -> Result<()> {
    let (period, starts) = (items.len(), starts(items.len(), mean));
    let ends = starts.iter().skip(1).copied().chain([period as u64]);
    let sum = |(start, end): (&u64, u64)| items[*start as usize..end as usize].iter().sum();
    let expected: Vec<f32> = starts.iter().zip(ends).map(sum).collect();
    let in_period = starts.len();
    let mut offsets = device.alloc::<u64>(x.len() / period * in_period + 1)?;
    for repeat in 0..x.len() / period {
        let moved = starts.iter().map(|start| start + (repeat * period) as u64);
        offsets.write(repeat * in_period, &moved.collect::<Vec<_>>())?;
    }
    offsets.write(offsets.len() - 1, &[x.len() as u64])?;
    for n in sizes {
        let count = n / period * in_period;
        // The offset behind the last segment of some sizes is the first of the next period.
        let (x, offsets) = (x.view(..*n)?, offsets.view(..=count)?);
        let bytes =
            n * size_of::<f32>() + (count + 1) * size_of::<u64>() + count * size_of::<f32>();
        let ceiling = device.alloc::<f32>(bytes / size_of::<f32>())?;
        let mut read = device.read_ceiling(&ceiling)?;
        let (mut output, mut scratch) = (device.alloc::<f32>(count)?, device.segment_scratch()?);
        let mut times = [vec![], vec![], vec![]];
        // The first round loads the kernels and makes room.
        for round in 0..=ROUNDS {
            times[0].push(device.time(|| read.enqueue())?);
            let call = || device.reduce_segments_into(x, offsets, Sum, &mut output, &mut scratch);
            times[1].push(device.time(call)?);
            if round == 0 {
                times.iter_mut().for_each(Vec::clear);
                for start in (0..count).step_by(in_period) {
                    let got = output.view(start..start + in_period)?.download()?;
                    is_right(&got, &expected, &title(mean))?;
                }
            }
        }
        let row = Row {
            op: "sum".into(),
            element: "f32".into(),
            parts: title(mean),
            n: *n,
            results: count,
            bytes,
            read_us: 0.0,
            call_us: 0.0,
            rows_us: None,
            peers: vec![],
        };
        record.push(row, times)?;
    }
    Ok(())
}

/// The first items of the segments of a period, whose lengths are uniformly distributed around a mean.
fn starts(period: usize, mean: usize) -> Vec<u64> {
    let random = &mut StdRng::seed_from_u64(7);
    let mut starts = vec![0];
    loop {
        let start = starts[starts.len() - 1] + random.random_range(1..2 * mean as u64);
        if start >= period as u64 {
            return starts;
        }
        starts.push(start);
    }
}

/// The bytes of items, offsets and results of segments of this mean length, twice: for the call and for the read. An
/// eighth more is for lengths below the mean and for temporary storage.
fn required(n: usize, mean: usize) -> usize {
    let count = n / mean;
    let bytes = n * size_of::<f32>() + count * (size_of::<u64>() + size_of::<f32>());
    2 * bytes / 8 * 9
}

/// The bytes that are free on the device.
fn free_memory(device: &Device) -> Result<usize> {
    // Makes the device's context current on this thread.
    device.synchronize()?;
    let (mut free, mut total) = (0, 0);
    // SAFETY: both are valid pointers for the results; the context is current (above).
    let status = unsafe { cust_raw::cuMemGetInfo_v2(&mut free, &mut total) };
    checked("cuMemGetInfo", status)?;
    Ok(free)
}

#[cfg(test)]
mod tests {
    use warpfold_results::parts::Parts;

    use super::*;

    #[test]
    fn the_record_has_all_sizes_that_fit() {
        let device = crate::driver::simulated();
        let file = tempfile::NamedTempFile::new().unwrap();
        let options = PartsOptions {
            json: Some(file.path().into()),
            ..PartsOptions::default()
        };
        grow(&device, &options, &[256, 1024, 1 << 50], 256).unwrap();
        let text = std::fs::read_to_string(file.path()).unwrap();
        let parts: Parts = serde_json::from_str(&text).unwrap();
        let sizes: Vec<_> = parts.rows.iter().map(|row| row.n).collect();
        assert_eq!(sizes, [256, 1024].repeat(MEANS.len()));
        let ratio = parts.rows[1].results as f64 / parts.rows[0].results as f64;
        assert_eq!(ratio, 4.0);
        assert!(parts.notes[0].contains("left out"), "{:?}", parts.notes);
        assert!(grow(&device, &options, &[1 << 50], 256).is_err());
    }

    #[test]
    fn segments_have_the_mean() {
        let starts = starts(PERIOD, 256);
        let mean = PERIOD / starts.len();
        assert!((250..262).contains(&mean), "{mean}");
        assert!(starts.is_sorted_by(|a, b| a < b));
    }
}
