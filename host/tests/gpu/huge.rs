//! More than 2^31 elements, segments, rows, columns, runs of equal keys, and pairs of groups.
//!
//! Each of these tests needs some of the host's and the device's gigabytes, so they run one after another; one is ignored where
//! there is too little memory.

use std::error;
use std::fmt::Debug;
use std::sync::{Arc, Mutex, PoisonError};

use libtest_mimic::{Completion, Failed, Trial};
use rayon::prelude::*;
use warpfold::{Algorithm, ArgMax, Determinism, Device, Error, Indexed, Sum, f16};

use crate::lab::Lab;

/// More than 2^31, and not a multiple of any tile.
const N: usize = (1 << 31) + 1_000_003;

type Outcome = Result<(), Box<dyn error::Error>>;

pub fn trials(lab: &Arc<Lab>) -> Vec<Trial> {
    let trial = |name: &str, gibibytes: u64, test: fn(Random, &Device) -> Outcome| {
        lab.trial(format!("more than 2^31 {name}"), move |lab, device| {
            run(lab, device, gibibytes, test)
        })
    };
    vec![
        trial("elements", 18, elements),
        trial("segments", 20, segments),
        trial("items of a segment", 24, long_segments),
        trial("rows and columns", 20, rows_and_columns),
        trial("runs", 64, runs),
        trial("pairs of groups", 24, groups),
        trial("keys of cells", 6, cells),
    ]
}

/// Runs a test that needs so much memory of the host.
fn run(
    lab: &Lab,
    device: &Device,
    gibibytes: u64,
    test: fn(Random, &Device) -> Outcome,
) -> Result<Completion, Failed> {
    if lab.light {
        return Ok(Completion::ignored_with("a light run"));
    }
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    if available_memory() >> 30 < gibibytes {
        let reason = format!("less than {gibibytes} GiB of host memory are available");
        return Ok(Completion::ignored_with(reason));
    }
    match test(Random(lab.seed), device) {
        Ok(()) => Ok(Completion::Completed),
        Err(error) => match error.downcast_ref() {
            Some(Error::OutOfMemory { free, .. }) => Ok(Completion::ignored_with(format!(
                "{free} bytes of device memory are free"
            ))),
            _ => Err(format!("{error} (seed {})", lab.seed).into()),
        },
    }
}

/// Every rung, from an unaligned start.
fn elements(random: Random, device: &Device) -> Outcome {
    let data = random.array(N + 1, |number| number as i32);
    let x = device.upload(&data)?;
    let view = x.view(1..)?;
    let sum = data[1..].par_iter().map(|value| i64::from(*value));
    let expected = sum.sum::<i64>() as i32;
    let mut algorithms: Vec<_> = Algorithm::all().collect();
    algorithms.push(Algorithm::Reduce5Loop { chunks: 64 });
    for algorithm in algorithms {
        let got = device.reduce(view, Sum).algorithm(algorithm).run()?;
        equal(&format!("{algorithm:?}"), &[got], |_| expected)?;
    }
    let mut ceiling = device.read_ceiling(&x)?;
    ceiling.enqueue()?;
    let all = expected.wrapping_add(data[0]);
    equal("read_ceiling", &[ceiling.result()?], |_| all)
}

/// Segments of 0, 1, 2 and 1 items in turn.
fn segments(random: Random, device: &Device) -> Outcome {
    let offset = |segment: usize| segment / 4 * 4 + [0, 0, 1, 3][segment % 4];
    let offsets: Vec<u32> = (0..=N)
        .into_par_iter()
        .map(|segment| offset(segment) as u32)
        .collect();
    let data = random.bytes(1 + offset(N));
    let x = device.upload(&data)?;
    let sums = device.reduce_segments(x.view(1..)?, &device.upload(&offsets)?, Sum)?;
    let items = &data[1..];
    equal("segments", &sums, |segment| {
        sum(&items[offset(segment)..offset(segment + 1)])
    })
}

/// A segment of more than 2^32 items, between few and between many short ones.
fn long_segments(random: Random, device: &Device) -> Outcome {
    const LONG: usize = (1 << 32) + 5001;
    // The greatest value is behind 2^32 items of the segment.
    const GREATEST: usize = (1 << 32) + 77;
    for neighbours in [4, 1 << 21] {
        // Each has three items.
        let offset = |segment: usize| match segment <= neighbours {
            true => 3 * segment,
            false => 3 * (segment - 1) + LONG,
        };
        let segments = 2 * neighbours + 1;
        let offsets: Vec<u64> = (0..=segments).map(|s| offset(s) as u64).collect();
        let offsets = device.upload(&offsets)?;

        let data = random.bytes(1 + offset(segments));
        let x = device.upload(&data)?;
        let sums = device.reduce_segments(x.view(1..)?, &offsets, Sum)?;
        let what = format!("sums of segments, {neighbours} on each side of a long one");
        equal(&what, &sums, |segment| {
            sum(&data[1..][offset(segment)..offset(segment + 1)])
        })?;
        drop((data, x));

        // From 1 to less than 2.
        let one = f16::from_f32(1.0).to_bits();
        let mut data = random.array(offset(segments), |number| {
            f16::from_bits(one | (number & 0x3ff) as u16)
        });
        data[offset(neighbours) + GREATEST] = f16::from_f32(4.0);
        let greatest = device.reduce_segments(&device.upload(&data)?, &offsets, ArgMax)?;
        let places: Vec<_> = greatest.iter().map(|best| best.map(place)).collect();
        let what = format!("greatest of segments, {neighbours} on each side of a long one");
        equal(&what, &places, |segment| {
            if segment == neighbours {
                return Some((f16::from_f32(4.0).to_bits(), GREATEST as u64));
            }
            let items = &data[offset(segment)..offset(segment + 1)];
            // The first of equal ones.
            let best = items
                .iter()
                .enumerate()
                .rev()
                .max_by_key(|(_, x)| x.to_bits())?;
            Some((best.1.to_bits(), best.0 as u64))
        })?;
    }
    Ok(())
}

/// Rows of three items, and arrays whose one axis has three.
fn rows_and_columns(random: Random, device: &Device) -> Outcome {
    let data = random.bytes(1 + 3 * N);
    let buffer = device.upload(&data)?;
    let (x, items) = (buffer.view(1..)?, &data[1..]);
    let row = |row: usize| sum(&items[3 * row..3 * row + 3]);
    equal("rows", &device.reduce_rows(x, 3, Sum)?, row)?;
    equal(
        "axis 1 of (N, 3)",
        &device.reduce_axis(x, &[N, 3], &[1], Sum)?,
        row,
    )?;
    equal(
        "axis 0 of (N, 3)",
        &device.reduce_axis(x, &[N, 3], &[0], Sum)?,
        |column| {
            let of_row = items.par_chunks(3).map(|row| row[column]);
            of_row.reduce(|| 0, u8::wrapping_add)
        },
    )?;
    equal(
        "axis 0 of (3, N)",
        &device.reduce_axis(x, &[3, N], &[0], Sum)?,
        |column| sum(&[items[column], items[N + column], items[2 * N + column]]),
    )?;
    equal(
        "axis 1 of (3, N)",
        &device.reduce_axis(x, &[3, N], &[1], Sum)?,
        |row| sum(&items[row * N..(row + 1) * N]),
    )
}

/// Runs of 1 and 2 keys in turn.
fn runs(random: Random, device: &Device) -> Outcome {
    let start = |run: usize| run / 2 * 3 + run % 2;
    let items = start(N);
    let key = |run: usize| (run as u32).wrapping_mul(ODD);
    let keys: Vec<u32> = (0..items)
        .into_par_iter()
        .map(|item| key(item / 3 * 2 + (item % 3).min(1)))
        .collect();
    let values = random.bytes(1 + items);
    let x = device.upload(&values)?;
    let keys = device.upload(&keys)?;
    let runs = device.reduce_runs(&keys, x.view(1..)?, Sum)?;
    equal("keys of runs", &runs.keys, key)?;
    equal("lengths of runs", &runs.lengths, |run| {
        (start(run + 1) - start(run)) as u64
    })?;
    equal("sums of runs", &runs.results, |run| {
        sum(&values[1..][start(run)..start(run + 1)])
    })
}

/// Few and many groups.
fn groups(random: Random, device: &Device) -> Outcome {
    let values = random.array(N, |number| number as i32);
    let x = device.upload(&values)?;
    for groups in [1000, 1 << 20] {
        let group = |item: usize| (random.number(item + N) >> 32) as usize % groups;
        let keys: Vec<u32> = (0..N)
            .into_par_iter()
            .map(|item| (group(item) as u32).wrapping_mul(ODD))
            .collect();
        let keys = device.upload(&keys)?;
        let sums = (0..N).into_par_iter().fold_chunks(
            N.div_ceil(64),
            || vec![0i32; groups],
            |mut sums, item| {
                let sum = &mut sums[group(item)];
                *sum = sum.wrapping_add(values[item]);
                sums
            },
        );
        let sums = sums.reduce(
            || vec![0; groups],
            |mut all, sums| {
                for (all, sum) in all.iter_mut().zip(sums) {
                    *all = all.wrapping_add(sum);
                }
                all
            },
        );
        let mut expected: Vec<_> = sums
            .into_iter()
            .enumerate()
            .map(|(group, sum)| ((group as u32).wrapping_mul(ODD), sum))
            .collect();
        expected.sort_unstable();
        for level in [Determinism::Fast, Determinism::Reproducible] {
            let found = device.determinism(level).group_by(&keys, &x, Sum)?.sort();
            let got: Vec<_> = found.keys.into_iter().zip(found.results).collect();
            equal(&format!("{groups} groups, {level:?}"), &[got.len()], |_| {
                groups
            })?;
            equal(&format!("{groups} groups, {level:?}"), &got, |i| {
                expected[i]
            })?;
        }
    }
    Ok(())
}

/// Keys of a byte, from an unaligned start.
fn cells(random: Random, device: &Device) -> Outcome {
    let keys = random.bytes(1 + N);
    let counts = keys[1..].par_iter().fold(
        || [0u64; 256],
        |mut counts, key| {
            counts[usize::from(*key)] += 1;
            counts
        },
    );
    let add = |a: [u64; 256], b: [u64; 256]| std::array::from_fn(|i| a[i] + b[i]);
    let expected = counts.reduce(|| [0; 256], add);
    let x = device.upload(&keys)?;
    let counted = device.count_by_key(x.view(1..)?, 256)?;
    equal("counts", &counted.cells, |key| expected[key])
}

/// A random number for each place.
#[derive(Clone, Copy)]
struct Random(u64);

/// Numbers times this one are different, modulo 2^32, if the numbers are.
const ODD: u32 = 0x9e37_79b1;

impl Random {
    /// The number of a place, by the finaliser of SplitMix64.
    fn number(self, place: usize) -> u64 {
        let mixed = (place as u64 ^ self.0).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    fn array<T: Send>(self, len: usize, value: impl Fn(u64) -> T + Sync) -> Vec<T> {
        let numbers = (0..len).into_par_iter();
        numbers.map(|place| value(self.number(place))).collect()
    }

    fn bytes(self, len: usize) -> Vec<u8> {
        self.array(len, |number| number as u8)
    }
}

/// The sum of bytes modulo 2^8.
fn sum(bytes: &[u8]) -> u8 {
    let of_part = |part: &[u8]| part.iter().copied().fold(0, u8::wrapping_add);
    match bytes.len() < 1 << 20 {
        true => of_part(bytes),
        false => bytes
            .par_chunks(1 << 20)
            .map(of_part)
            .reduce(|| 0, u8::wrapping_add),
    }
}

/// The bits of a value, and its index.
fn place(best: Indexed<f16>) -> (u16, u64) {
    (best.value().to_bits(), best.index())
}

/// An error that names the first wrong result.
fn equal<R: PartialEq + Debug + Sync>(
    what: &str,
    got: &[R],
    expected: impl Fn(usize) -> R + Sync,
) -> Outcome {
    let wrong = got
        .par_iter()
        .enumerate()
        .find_first(|(i, got)| **got != expected(*i));
    match wrong {
        None => Ok(()),
        Some((i, got)) => {
            Err(format!("{what}: {got:?} instead of {:?} at {i}", expected(i)).into())
        }
    }
}

/// The host memory available to this program without swapping, in bytes.
fn available_memory() -> u64 {
    let meminfo = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = meminfo
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"));
    let kibibytes = line.and_then(|line| line.trim().strip_suffix(" kB"));
    kibibytes
        .and_then(|number| number.trim().parse().ok())
        .map_or(0, |number: u64| number * 1024)
}
