//! `reduce_segments` and `reduce_rows`: a segment's bits are those of `reduce` for a view of it.

use libtest_mimic::Failed;
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use warpfold::{
    ArgMax, ArgMin, Determinism, Device, Element, Error, Max, MeanVariance, Min, Number, Offset,
    Product, Segments, SinglePass, Sum, SumSquares, SumWide, bf16, f16,
};

use super::Test;
use super::compare::is;

/// The tests of random cases; on a GPU they have ten thousand cases together.
const RANDOM_TESTS: usize = 16;

pub fn tests() -> Vec<Test> {
    let mut tests = vec![
        Test::new("segments: NumPy's add.reduceat", reduceat),
        Test::new("segments: empty ones, and none", empty),
        Test::new("segments: indices count from the segment's start", indices),
        Test::new("segments: bad offsets", bad_offsets),
        Test::new("segments: bad arguments", bad_arguments),
        Test::new("segments: a bad offset is found later", found_later),
        Test::new("segments: long ones after bad offsets", long_after_bad),
        Test::new("segments: rows", rows),
        Test::new("segments: indices in rows of few values", few_values),
    ];
    tests.extend((0..RANDOM_TESTS).map(|number| {
        let name = format!("segments: random cases, {number} of {RANDOM_TESTS}");
        Test::new(name, random_cases)
    }));
    tests
}

/// `np.add.reduceat(x, [0, 2, 5])`, and so on.
fn reduceat(device: &Device) -> Result<(), Failed> {
    let x = device.upload(&[1.5f64, 2.0, -4.0, 8.0, 16.0, 0.25, 3.0])?;
    let offsets = device.upload(&[0u64, 2, 5, 7])?;
    is(
        device.reduce_segments(&x, &offsets, Sum)?,
        vec![3.5, 20.0, 3.25],
        "sums",
    )?;
    is(
        device.reduce_segments(&x, &offsets, Min)?,
        vec![Some(1.5), Some(-4.0), Some(0.25)],
        "minima",
    )?;
    let inner = device.upload(&[1i32, 3, 3, 6])?;
    is(
        device.reduce_segments(&x, &inner, Sum)?,
        vec![-2.0, 0.0, 24.25],
        "elements that belong to no segment",
    )
}

fn empty(device: &Device) -> Result<(), Failed> {
    let nothing = device.upload::<f32>(&[])?;
    let offsets = device.upload(&[0i64; 4])?;
    is(
        device.reduce_segments(&nothing, &offsets, Max)?,
        vec![None; 3],
        "maxima of empty input",
    )?;
    let sums = device.reduce_segments(&nothing, &offsets, Sum)?;
    is(
        sums.iter().map(|sum| sum.to_bits()).collect(),
        vec![0; 3],
        "sums of empty input",
    )?;
    let none = device.upload(&[0u32])?;
    is(
        device.reduce_segments(&nothing, &none, Sum)?,
        vec![],
        "no segments",
    )?;
    is(device.reduce_rows(&nothing, 5, Sum)?, vec![], "no rows")?;
    let many = device.upload(&vec![0u32; 20_001])?;
    is(
        device.reduce_segments(&nothing, &many, Product)?,
        vec![1.0; 20_000],
        "more empty segments than a window has",
    )
}

fn indices(device: &Device) -> Result<(), Failed> {
    let x = device.upload(&[5i32, 9, 9, 1, 7, 7])?;
    let offsets = device.upload(&[0u32, 3, 3, 6])?;
    let greatest = device.reduce_segments(&x, &offsets, ArgMax)?;
    let greatest: Vec<_> = greatest
        .into_iter()
        .map(|found| found.map(|found| (found.value(), found.index())))
        .collect();
    is(
        greatest,
        vec![Some((9, 1)), None, Some((7, 1))],
        "the greatest",
    )
}

/// The first bad offset's index.
fn index_of<R: std::fmt::Debug>(result: Result<R, Error>) -> Result<usize, Failed> {
    match result {
        Err(Error::Offset { index, .. }) => Ok(index),
        other => Err(format!("no error of an offset: {other:?}").into()),
    }
}

fn bad_offsets(device: &Device) -> Result<(), Failed> {
    let x = device.upload(&[1.0f32; 10])?;
    let found = device.reduce_segments(&x, &device.upload(&[0i32, 4, 3, 10])?, Sum);
    is(
        found.unwrap_err().to_string(),
        "offset 2 is 3, after 4; offsets must not decrease, and must be from 0 to 10".into(),
        "one that decreases",
    )?;
    let found = device.reduce_segments(&x, &device.upload(&[-1i64, 4, 10])?, Sum);
    is(
        found.unwrap_err().to_string(),
        "offset 0 is -1; offsets must not decrease, and must be from 0 to 10".into(),
        "a negative one",
    )?;
    let found = |offsets: &[i32]| -> Result<usize, Failed> {
        index_of(device.reduce_segments(&x, &device.upload(offsets)?, Sum))
    };
    is(found(&[0, -5, 10])?, 1, "a negative one of 32 bits")?;
    is(found(&[0, 5, 11])?, 2, "one behind the items")?;
    is(found(&[11, 11, 11])?, 0, "all of them behind the items")?;
    is(found(&[0, 11, -1, 10])?, 1, "the first of several")?;
    let wide = device.upload(&[0u64, u64::MAX, 10])?;
    is(
        index_of(device.reduce_segments(&x, &wide, Sum))?,
        1,
        "a huge one",
    )?;
    // The next call is right.
    is(
        device.reduce_segments(&x, &device.upload(&[0u32, 10])?, Sum)?,
        vec![10.0],
        "good offsets",
    )
}

fn bad_arguments(device: &Device) -> Result<(), Failed> {
    let x = device.upload(&[1.0f32; 10])?;
    let none = device.upload::<u32>(&[])?;
    is(
        device.reduce_segments(&x, &none, Sum),
        Err(Error::NoOffsets),
        "no offsets",
    )?;
    for len in [0, 3, 11] {
        is(
            device.reduce_rows(&x, len, Sum),
            Err(Error::Rows { items: 10, len }),
            "rows that do not fit",
        )?;
    }
    let (mut output, mut scratch) = (device.alloc::<f32>(1)?, device.segment_scratch()?);
    let short = device.reduce_rows_into(&x, 5, Sum, &mut output, &mut scratch);
    is(
        short,
        Err(Error::ViewRange {
            start: 0,
            end: 2,
            len: 1,
        }),
        "an output that is too short",
    )?;
    let mut other = device.new_stream()?.segment_scratch()?;
    is(
        device.reduce_rows_into(&x, 10, Sum, &mut output, &mut other),
        Err(Error::OtherStream),
        "another stream's scratch",
    )?;
    let elsewhere = Device::cpu();
    let offsets = elsewhere.upload(&[0u32, 1])?;
    let found = device.reduce_segments(&x, &offsets, Sum);
    match found {
        Err(Error::OtherDevice { .. }) => {}
        other => return Err(format!("offsets of another device: {other:?}").into()),
    }
    let exact = device.determinism(Determinism::Exact);
    match exact.reduce_rows(&x, 5, Sum) {
        Err(Error::Determinism { .. }) => {}
        other => return Err(format!("exact rows: {other:?}").into()),
    }
    is(
        exact.reduce_rows(&x, 5, Max)?,
        vec![Some(1.0); 2],
        "exact maxima",
    )
}

/// An error of a call that does not wait.
fn found_later(device: &Device) -> Result<(), Failed> {
    let x = device.upload(&[1i32; 10])?;
    let (good, bad) = (
        device.upload(&[0u32, 5, 10])?,
        device.upload(&[0u32, 50, 10])?,
    );
    let (mut output, mut scratch) = (device.alloc::<i32>(2)?, device.segment_scratch()?);
    let first = device.reduce_segments_into(&x, &bad, Sum, &mut output, &mut scratch);
    if !device.is_gpu() {
        return is(index_of(first)?, 1, "found at once");
    }
    first?;
    device.reduce_segments_into(&x, &good, Sum, &mut output, &mut scratch)?;
    is(index_of(scratch.check(&bad))?, 1, "found later")?;
    is(output.download()?, vec![5, 5], "the next call's results")?;
    is(scratch.check(&good), Ok(()), "the second check")
}

/// Segments that many warps reduce together: a call with bad offsets leaves some of their work undone.
fn long_after_bad(device: &Device) -> Result<(), Failed> {
    const N: usize = 200_003;
    let x = device.upload(&vec![1i32; N])?;
    let (good, bad) = (
        device.upload(&[0u32, 60_000, 60_000, N as u32])?,
        device.upload(&[0u32, 150_000, 20_000, N as u32])?,
    );
    for _ in 0..4 {
        is(
            index_of(device.reduce_segments(&x, &bad, Sum))?,
            2,
            "a bad offset",
        )?;
        is(
            device.reduce_segments(&x, &good, Sum)?,
            vec![60_000, 0, N as i32 - 60_000],
            "the next call",
        )?;
    }
    Ok(())
}

fn rows(device: &Device) -> Result<(), Failed> {
    let x: Vec<i64> = (0..6000).collect();
    let uploaded = device.upload(&x)?;
    for len in [1, 2, 3, 4, 8, 60, 500, 1000, 2000, 3000, 6000] {
        let sums: Vec<i64> = x.chunks(len).map(|row| row.iter().sum()).collect();
        is(
            device.reduce_rows(&uploaded, len, Sum)?,
            sums,
            "sums of rows",
        )?;
    }
    Ok(())
}

/// Rows of equal items, of which the first counts, or the first NaN.
fn few_values(device: &Device) -> Result<(), Failed> {
    macro_rules! check {
        ($($number:ident: $value:expr;)*) => { $(
            let random = &mut SmallRng::seed_from_u64(rand::random());
            let value: fn(u8) -> $number = $value;
            for log in 1..=12 {
                // Tiles have up to 4,096 items.
                let (len, rows) = (1usize << log, random.random_range(1..4) * (5000 >> log) + 1);
                let ranks: Vec<u8> = (0..rows * len).map(|_| random.random_range(0..40)).collect();
                let x: Vec<$number> = ranks.iter().map(|&rank| value(rank)).collect();
                let first = |row: &[u8]| {
                    let least = row.iter().min().expect("it has an item");
                    row.iter().position(|rank| rank == least).map(|index| index as u64)
                };
                let wanted: Vec<Option<u64>> = ranks.chunks(len).map(first).collect();
                let found = device.reduce_rows(&device.upload(&x)?, len, ArgMin)?;
                let got: Vec<Option<u64>> =
                    found.iter().map(|found| found.as_ref().map(|item| item.index())).collect();
                is(got, wanted, concat!("indices of minima of ", stringify!($number)))?;
            }
        )* };
    }
    check! {
        u32: |rank| u32::from(rank);
        i32: |rank| i32::from(rank) - 20;
        i64: |rank| i64::from(rank) - 20;
        f16: |rank| f16::from_f64([f64::NAN, f64::from(rank)][usize::from(rank > 0)]);
        f32: |rank| [f32::NAN, f32::from(rank)][usize::from(rank > 0)];
        f64: |rank| [f64::NAN, f64::from(rank)][usize::from(rank > 0)];
    }
    Ok(())
}

/// An element of random cases.
pub trait Drawn: Number {
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

/// A float of any of 30 powers of two; rarely a zero of either sign.
fn rough(random: &mut SmallRng) -> f64 {
    match random.random_range(0..32) {
        0 => -0.0,
        1 => 0.0,
        _ => random.random_range(-1.0..1.0) * 2f64.powi(random.random_range(-15..15)),
    }
}

drawn! {
    i8: |random| random.random();
    u16: |random| random.random();
    u32: |random| random.random();
    i32: |random| random.random();
    i64: |random| random.random();
    f16: |random| f16::from_f64(rough(random) / 4096.0);
    bf16: |random| bf16::from_f64(rough(random));
    f32: |random| rough(random) as f32;
    f64: |random| rough(random);
}

fn random_cases(device: &Device) -> Result<(), Failed> {
    let (cases, longest) = match device.info() {
        Some(info) if info.multiprocessors > 32 => (625, 16.0),
        Some(_) => (6, 11.0),
        None => (25, 14.0),
    };
    for _ in 0..cases {
        let seed = rand::random();
        let random = &mut SmallRng::seed_from_u64(seed);
        let case = Case::draw(random, longest);
        match random.random_range(0..17) {
            0 => case.check::<f32, _>(device, Sum, random),
            1 => case.check::<f64, _>(device, Sum, random),
            2 => case.check::<f16, _>(device, Sum, random),
            3 => case.check::<bf16, _>(device, Sum, random),
            4 => case.check::<i8, _>(device, Sum, random),
            5 => case.check::<i64, _>(device, Max, random),
            6 => case.check::<u16, _>(device, Min, random),
            7 => case.check::<f32, _>(device, ArgMin, random),
            8 => case.check::<f64, _>(device, MeanVariance, random),
            9 => case.check::<f16, _>(device, MeanVariance, random),
            10 => case.check::<f64, _>(device, SumSquares, random),
            11 => case.check::<f32, _>(device, SumSquares, random),
            12 => case.check::<i32, _>(device, ArgMax, random),
            13 => case.check::<i8, _>(device, SumWide, random),
            14 => case.check::<f32, _>(device, SumWide, random),
            15 => case.check::<bf16, _>(device, SumWide, random),
            _ => case.check::<f32, _>(device, Product, random),
        }
        .map_err(|wrong| format!("{} (seed {seed})", wrong.message().unwrap_or_default()))?;
    }
    Ok(())
}

/// Segments among other elements.
struct Case {
    lens: Vec<usize>,
    before: usize,
    behind: usize,
}

impl Case {
    fn draw(random: &mut SmallRng, longest: f64) -> Self {
        let kind = random.random_range(0..6);
        let count = match kind {
            0 | 1 => random.random_range(1..2000),
            _ => random.random_range(1..40),
        };
        let typical = 2f64.powf(random.random_range(0.0..longest));
        let len = |random: &mut SmallRng| match kind {
            0 => random.random_range(0..3),
            1 => random.random_range(0..12),
            2 => typical as usize,
            3 => random.random_range(0..=typical as usize),
            _ => 2f64.powf(random.random_range(0.0..longest)) as usize - 1,
        };
        let lens = (0..count).map(|_| len(random)).collect();
        Self {
            lens,
            before: random.random_range(0..9),
            behind: random.random_range(0..9),
        }
    }

    fn check<T: Drawn, O: Segments<T> + SinglePass<T>>(
        &self,
        device: &Device,
        op: O,
        random: &mut SmallRng,
    ) -> Result<(), Failed> {
        let n = self.before + self.lens.iter().sum::<usize>() + self.behind;
        let items: Vec<T> = (0..n + 3).map(|_| T::drawn(random)).collect();
        match random.random_range(0..4) {
            0 => self.check_with::<T, O, i32>(device, op, random, &items),
            1 => self.check_with::<T, O, u32>(device, op, random, &items),
            2 => self.check_with::<T, O, i64>(device, op, random, &items),
            _ => self.check_with::<T, O, u64>(device, op, random, &items),
        }
    }

    fn check_with<T: Drawn, O: Segments<T> + SinglePass<T>, F: Offset + TryFrom<usize>>(
        &self,
        device: &Device,
        op: O,
        random: &mut SmallRng,
        items: &[T],
    ) -> Result<(), Failed> {
        // The view starts anywhere.
        let skipped = random.random_range(0..3);
        let mut starts = vec![self.before];
        for len in &self.lens {
            starts.push(starts[starts.len() - 1] + len);
        }
        let offset = |start: &usize| F::try_from(*start).ok().expect("it fits");
        let offsets: Vec<F> = starts.iter().map(offset).collect();
        let (x, offsets) = (device.upload(items)?, device.upload(&offsets)?);
        let x = x.view(skipped..)?;
        let mut output = device.alloc::<O::Acc>(self.lens.len())?;
        let mut scratch = device.segment_scratch()?;
        device.reduce_segments_into(x, &offsets, op, &mut output, &mut scratch)?;
        scratch.check(&offsets)?;
        let got = device.download(&output)?;
        let cpu = Device::cpu();
        let mut cell = cpu.alloc::<O::Acc>(1)?;
        let mut cpu_scratch = cpu.scratch()?;
        for (segment, got) in got.iter().enumerate() {
            let own = &items[skipped + starts[segment]..skipped + starts[segment + 1]];
            cpu.reduce_into(cpu.view_host(own)?, op, &mut cell, 0, &mut cpu_scratch)?;
            let wanted = cell.download()?[0];
            if bits(*got) != bits(wanted) {
                return Err(format!(
                    "{} of segment {segment} of {} with {} items: {got:?}, not {wanted:?}",
                    <O as SinglePass<T>>::ENTRY.name,
                    self.lens.len(),
                    own.len()
                )
                .into());
            }
        }
        Ok(())
    }
}

/// The accumulator's numbers as text; all NaNs are the same.
pub fn bits<A: Element>(mut acc: A) -> Vec<String> {
    let mut bits = vec![];
    acc.numbers(&mut |number| bits.push(format!("{number:?}")));
    bits
}
