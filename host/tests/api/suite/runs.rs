//! `count_runs` and `reduce_runs`: the runs of a plain loop, and the bits of `reduce` for each run's values.

use libtest_mimic::Failed;
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use warpfold::{
    ArgMax, Determinism, Device, Element, Error, Max, MeanVariance, Number, Offset, RunKey,
    RunLengths, Runs, Segments, SinglePass, Sum,
};

use super::Test;
use super::compare::is;

/// The tests of random cases.
const RANDOM_TESTS: usize = 4;

/// The repetitions of a float sum on a device, which have the same bits.
const REPEATS: usize = 200;

pub fn tests() -> Vec<Test> {
    let mut tests = vec![
        Test::new("runs: keys, lengths and results", few),
        Test::new("runs: empty input", empty),
        Test::new("runs: of one key, and of all keys", extremes),
        Test::new("runs: signed and wide keys", keys_of_all_types),
        Test::new("runs: indices count from the start of the run", values),
        Test::new("runs: bad arguments", bad_arguments),
        Test::new("runs: into buffers", into_buffers),
        Test::new("runs: the same bits in every repetition", repeats),
    ];
    tests.extend((0..RANDOM_TESTS).map(|number| {
        let name = format!("runs: random cases, {number} of {RANDOM_TESTS}");
        Test::new(name, random_cases)
    }));
    tests
}

fn few(device: &Device) -> Result<(), Failed> {
    let keys = device.upload(&[5u32, 5, 9, 5, 5, 5])?;
    let values = device.upload(&[1.5f64, 2.0, -4.0, 8.0, 16.0, 0.25])?;
    let counted = RunLengths {
        keys: vec![5, 9, 5],
        lengths: vec![2, 1, 3],
    };
    is(device.count_runs(&keys)?, counted, "counts")?;
    let reduced = Runs {
        keys: vec![5, 9, 5],
        lengths: vec![2, 1, 3],
        results: vec![3.5, -4.0, 24.25],
    };
    is(device.reduce_runs(&keys, &values, Sum)?, reduced, "sums")?;
    is(
        device
            .reduce_runs(keys.view(1..5)?, values.view(2..)?, Max)?
            .results,
        vec![Some(-4.0), Some(8.0), Some(16.0)],
        "maxima of views",
    )
}

fn empty(device: &Device) -> Result<(), Failed> {
    let (keys, values) = (device.upload::<i64>(&[])?, device.upload::<f32>(&[])?);
    let none = RunLengths {
        keys: vec![],
        lengths: vec![],
    };
    is(device.count_runs(&keys)?, none, "counts")?;
    let sums = device.reduce_runs(&keys, &values, Sum)?;
    is(
        (sums.keys, sums.lengths, sums.results),
        (vec![], vec![], vec![]),
        "sums",
    )?;
    let (mut unique, mut offsets) = (device.alloc::<i64>(0)?, device.upload(&[7u32])?);
    let (mut output, mut scratch) = (device.alloc::<f32>(0)?, device.segment_scratch()?);
    let runs = device.reduce_runs_into(
        &keys,
        &values,
        Sum,
        &mut unique,
        &mut offsets,
        &mut output,
        &mut scratch,
    )?;
    is((runs, offsets.download()?), (0, vec![0]), "into buffers")
}

/// More runs than a tile has keys, and fewer.
fn extremes(device: &Device) -> Result<(), Failed> {
    for n in [1, 31, 32, 33, 4095, 4096, 4097, 10_000] {
        let all: Vec<u32> = (0..n).collect();
        let counted = device.count_runs(&device.upload(&all)?)?;
        is(counted.lengths, vec![1; n as usize], "runs of one key")?;
        is(counted.keys, all, "their keys")?;
        let counted = device.count_runs(&device.upload(&vec![7u64; n as usize])?)?;
        is(
            (counted.keys, counted.lengths),
            (vec![7], vec![n.into()]),
            "one run",
        )?;
    }
    Ok(())
}

fn keys_of_all_types(device: &Device) -> Result<(), Failed> {
    let lengths = vec![1, 2, 1];
    let keys = device.upload(&[-1i32, i32::MIN, i32::MIN, 0])?;
    let counted = device.count_runs(&keys)?;
    is(
        (counted.keys, counted.lengths),
        (vec![-1, i32::MIN, 0], lengths.clone()),
        "i32",
    )?;
    let keys = device.upload(&[-1i64, 1 << 40, 1 << 40, 1 << 41])?;
    let counted = device.count_runs(&keys)?;
    is(
        (counted.keys, counted.lengths),
        (vec![-1, 1 << 40, 1 << 41], lengths.clone()),
        "i64",
    )?;
    let keys = device.upload(&[u64::MAX, 1, 1, 1 << 32 | 1])?;
    let counted = device.count_runs(&keys)?;
    is(
        (counted.keys, counted.lengths),
        (vec![u64::MAX, 1, 1 << 32 | 1], lengths),
        "u64",
    )
}

fn values(device: &Device) -> Result<(), Failed> {
    let keys = device.upload(&[1u32, 1, 1, 2, 2, 1])?;
    let x = device.upload(&[5i32, 9, 9, 1, 7, 7])?;
    let greatest = device.reduce_runs(&keys, &x, ArgMax)?.results;
    let greatest: Vec<_> = greatest
        .into_iter()
        .map(|found| found.map(|found| (found.value(), found.index())))
        .collect();
    is(
        greatest,
        vec![Some((9, 1)), Some((7, 1)), Some((7, 0))],
        "the greatest",
    )
}

fn bad_arguments(device: &Device) -> Result<(), Failed> {
    let keys = device.upload(&[1u32; 10])?;
    let values = device.upload(&[1.0f32; 9])?;
    is(
        device.reduce_runs(&keys, &values, Sum),
        Err(Error::KeysAndValues {
            keys: 10,
            values: 9,
            arrays: 1,
        }),
        "too few values",
    )?;
    let (mut unique, mut offsets) = (device.alloc::<u32>(10)?, device.alloc::<u32>(10)?);
    let mut scratch = device.segment_scratch()?;
    is(
        device.count_runs_into(&keys, &mut unique, &mut offsets, &mut scratch),
        Err(Error::ViewRange {
            start: 0,
            end: 11,
            len: 10,
        }),
        "no room for the last offset",
    )?;
    let short = device.count_runs_into(&keys, unique.view_mut(..9)?, &mut offsets, &mut scratch);
    is(
        short,
        Err(Error::ViewRange {
            start: 0,
            end: 10,
            len: 9,
        }),
        "no room for the keys",
    )?;
    let mut offsets = device.alloc::<i64>(11)?;
    let mut other = device.new_stream()?.segment_scratch()?;
    is(
        device.count_runs_into(&keys, &mut unique, &mut offsets, &mut other),
        Err(Error::OtherStream),
        "another stream's scratch",
    )?;
    let (values, mut output) = (device.upload(&[1.0f32; 10])?, device.alloc::<f32>(0)?);
    let short = device.reduce_runs_into(
        &keys,
        &values,
        Sum,
        &mut unique,
        &mut offsets,
        &mut output,
        &mut scratch,
    );
    is(
        short,
        Err(Error::ViewRange {
            start: 0,
            end: 1,
            len: 0,
        }),
        "more runs than results",
    )?;
    let elsewhere = Device::cpu().upload(&[1u32; 10])?;
    match device.count_runs(&elsewhere) {
        Err(Error::OtherDevice { .. }) => {}
        other => return Err(format!("keys of another device: {other:?}").into()),
    }
    let exact = device.determinism(Determinism::Exact);
    match exact.reduce_runs(&keys, &values, Sum) {
        Err(Error::Determinism { .. }) => {}
        other => return Err(format!("exact runs: {other:?}").into()),
    }
    is(
        exact.reduce_runs(&keys, &values, Max)?.results,
        vec![Some(1.0)],
        "exact maxima",
    )?;
    is(
        Error::OffsetType {
            items: 1 << 31,
            offset: "i32",
            most: i32::MAX as u64,
        }
        .to_string(),
        "2147483648 items have offsets of up to 2147483648, but i32 has numbers of up to 2147483647; use u64"
            .into(),
        "the error for offsets that are too narrow",
    )
}

/// Several calls with one scratch: the second needs more storage, and the third less.
fn into_buffers(device: &Device) -> Result<(), Failed> {
    let mut scratch = device.segment_scratch()?;
    for n in [100, 20_000, 5000] {
        let keys: Vec<i64> = (0..n).map(|i| i / 7 - 3).collect();
        let values: Vec<i32> = (0..n as i32).collect();
        let (keys, values) = (device.upload(&keys)?, device.upload(&values)?);
        let n = keys.len();
        let mut unique = device.alloc::<i64>(n + 3)?;
        let mut offsets = device.alloc::<i32>(n + 4)?;
        let mut output = device.alloc::<i32>(n)?;
        let runs = device.reduce_runs_into(
            &keys,
            &values,
            Sum,
            unique.view_mut(3..)?,
            offsets.view_mut(3..)?,
            &mut output,
            &mut scratch,
        )?;
        is(runs, n.div_ceil(7), "the number of runs")?;
        let all = device.reduce_runs(&keys, &values, Sum)?;
        let unique = unique.view(3..3 + runs)?.download()?;
        is(unique, all.keys, "keys in a buffer")?;
        let sums = output.view(..runs)?.download()?;
        is(sums, all.results, "sums in a buffer")?;
        let offsets = offsets.view(3..=3 + runs)?;
        is(
            device.reduce_segments(&values, offsets, Sum)?,
            output.view(..runs)?.download()?,
            "sums of segments",
        )?;
        scratch.check(offsets)?;
    }
    Ok(())
}

fn repeats(device: &Device) -> Result<(), Failed> {
    let random = &mut SmallRng::seed_from_u64(7);
    let n = 3000;
    let keys: Vec<u32> = (0..n).map(|i| i / 700).collect();
    let values: Vec<f64> = (0..n).map(|_| f64::drawn(random)).collect();
    let (keys, values) = (device.upload(&keys)?, device.upload(&values)?);
    let bits = || -> Result<Vec<u64>, Error> {
        let sums = device.reduce_runs(&keys, &values, Sum)?.results;
        Ok(sums.into_iter().map(f64::to_bits).collect())
    };
    let first = bits()?;
    for _ in 1..REPEATS {
        is(bits()?, first.clone(), "the bits of a repetition")?;
    }
    Ok(())
}

/// A value of random cases.
trait Drawn: Number {
    fn drawn(random: &mut SmallRng) -> Self;
}

macro_rules! drawn {
    ($($number:ident: |$random:ident| $drawn:expr;)*) => { $(
        impl Drawn for $number {
            fn drawn($random: &mut SmallRng) -> Self {
                $drawn
            }
        }
    )* };
}

drawn! {
    u8: |random| random.random();
    i64: |random| random.random();
    f32: |random| random.random_range(-1.0..1.0) * 2f32.powi(random.random_range(-15..15));
    f64: |random| random.random_range(-1.0..1.0) * 2f64.powi(random.random_range(-15..15));
}

fn random_cases(device: &Device) -> Result<(), Failed> {
    let (cases, longest) = match device.info() {
        Some(info) if info.multiprocessors > 32 => (200, 16.0),
        Some(_) => (5, 11.0),
        None => (25, 14.0),
    };
    for _ in 0..cases {
        let seed = rand::random();
        let random = &mut SmallRng::seed_from_u64(seed);
        let lens = lens(random, longest);
        match random.random_range(0..6) {
            0 => check::<u32, u32, f32, _>(device, Sum, random, &lens),
            1 => check::<i32, i64, f64, _>(device, Sum, random, &lens),
            2 => check::<u64, u64, f32, _>(device, MeanVariance, random, &lens),
            3 => check::<i64, i32, i64, _>(device, Max, random, &lens),
            4 => check::<u32, u64, u8, _>(device, Sum, random, &lens),
            _ => check::<u64, u32, f32, _>(device, ArgMax, random, &lens),
        }
        .map_err(|wrong| format!("{} (seed {seed})", wrong.message().unwrap_or_default()))?;
    }
    Ok(())
}

/// The lengths of the runs of a case.
fn lens(random: &mut SmallRng, longest: f64) -> Vec<usize> {
    let kind = random.random_range(0..4);
    let count = match kind {
        0 | 1 => random.random_range(1..3000),
        _ => random.random_range(1..30),
    };
    let len = |random: &mut SmallRng| match kind {
        0 => 1,
        1 => random.random_range(1..6),
        _ => 2f64.powf(random.random_range(0.0..longest)) as usize,
    };
    (0..count).map(|_| len(random)).collect()
}

/// Compares all forms with a plain loop over the keys, and with `reduce` of each run on the CPU.
fn check<
    K: RunKey + TryFrom<u8, Error: std::fmt::Debug>,
    F: Offset,
    T: Drawn,
    O: Segments<T> + SinglePass<T>,
>(
    device: &Device,
    op: O,
    random: &mut SmallRng,
    lens: &[usize],
) -> Result<(), Failed> {
    let (mut keys, mut starts) = (vec![], vec![0]);
    for (run, len) in lens.iter().enumerate() {
        let key = K::try_from((run % 100) as u8).expect("a small number");
        keys.extend(vec![key; *len]);
        starts.push(keys.len());
    }
    let n = keys.len();
    let values: Vec<T> = (0..n).map(|_| T::drawn(random)).collect();
    // Views that start anywhere.
    let skipped = [random.random_range(0..4), random.random_range(0..4)];
    let in_front = |skipped| vec![keys[0]; skipped];
    let memory = [in_front(skipped[0]), keys.clone()].concat();
    let (uploaded, values_memory) = (
        device.upload(&memory)?,
        device.upload(&[values[..skipped[1].min(n)].to_vec(), values.clone()].concat())?,
    );
    let uploaded = uploaded.view(skipped[0]..)?;
    let on_device = values_memory.view(skipped[1].min(n)..)?;

    let unique: Vec<K> = starts[..lens.len()].iter().map(|at| keys[*at]).collect();
    let lengths: Vec<u64> = lens.iter().map(|len| *len as u64).collect();
    let counted = device.count_runs(uploaded)?;
    is(counted.keys, unique.clone(), "keys of counts")?;
    is(counted.lengths, lengths.clone(), "counts")?;
    let reduced = device.reduce_runs(uploaded, on_device, op)?;
    is(reduced.keys, unique.clone(), "keys")?;
    is(reduced.lengths, lengths, "lengths")?;
    is(reduced.results.len(), lens.len(), "the number of results")?;

    let (mut keys_into, mut offsets) = (device.alloc::<K>(n)?, device.alloc::<F>(n + 1)?);
    let (mut output, mut scratch) = (device.alloc::<O::Acc>(n)?, device.segment_scratch()?);
    let runs = device.reduce_runs_into(
        uploaded,
        on_device,
        op,
        &mut keys_into,
        &mut offsets,
        &mut output,
        &mut scratch,
    )?;
    is(runs, lens.len(), "the number of runs")?;
    is(
        device.download(keys_into.view(..runs)?)?,
        unique,
        "keys in a buffer",
    )?;
    let offsets = device.download(offsets.view(..=runs)?)?;
    let offsets: Vec<Option<usize>> = offsets.iter().map(|offset| offset.index()).collect();
    is(
        offsets,
        starts.iter().copied().map(Some).collect(),
        "offsets",
    )?;
    let got = device.download(output.view(..runs)?)?;
    let cpu = Device::cpu();
    let (mut cell, mut cpu_scratch) = (cpu.alloc::<O::Acc>(1)?, cpu.scratch()?);
    for (run, got) in got.iter().enumerate() {
        let own = &values[starts[run]..starts[run + 1]];
        cpu.reduce_into(cpu.view_host(own)?, op, &mut cell, 0, &mut cpu_scratch)?;
        is(
            bits(*got),
            bits(cell.download()?[0]),
            &format!("run {run} of {}, {} values", lens.len(), own.len()),
        )?;
    }
    Ok(())
}

/// The accumulator's numbers as text; all NaNs are the same.
fn bits<A: Element>(mut acc: A) -> Vec<String> {
    let mut bits = vec![];
    acc.numbers(&mut |number| bits.push(format!("{number:?}")));
    bits
}
