//! `count_by_key`, keys of every type, and strict reductions by key.

use kernels_gpu::entry::Keyed;
use libtest_mimic::Failed;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use serde_json::Value;
use warpfold::{Determinism, Device, Error, Key, KeyedAlgorithm, Max, RejectedKey, Sum};

use super::Test;
use super::compare::is;

/// NumPy's histograms, which `counts.py` writes and describes.
const HISTOGRAMS: &str = include_str!("../../data/numpy/counts.jsonl");

pub fn tests() -> Vec<Test> {
    let mut tests = vec![
        Test::new("counts/accumulated", accumulated),
        Test::new("counts/several arrays", several_arrays),
    ];
    macro_rules! all {
        ($($key:ident)*) => { $(
            let name = stringify!($key);
            tests.push(Test::new(format!("counts/numpy/{name}"), |device| numpy(device, name, |key| key as $key)));
            tests.push(Test::new(format!("counts/random/{name}"), |device| random(device, |key| key as $key)));
            tests.push(Test::new(format!("by_key/keys/{name}"), |device| values(device, |key| key as $key)));
            tests.push(Test::new(format!("by_key/strict/{name}"), |device| strict(device, |key| key as $key)));
        )* };
    }
    all! { u8 u16 u32 u64 i8 i16 i32 i64 }
    tests
}

fn numpy<K: Key>(device: &Device, kind: &str, key: fn(i64) -> K) -> Result<(), Failed> {
    let mut lines = 0;
    for line in HISTOGRAMS.lines() {
        let line: Value = serde_json::from_str(line)?;
        if line["type"] != kind {
            continue;
        }
        lines += 1;
        let number = |name: &str| line[name].as_i64().expect("a number");
        let (multiplier, modulus) = (number("multiplier"), number("modulus"));
        let keys = (0..number("n")).map(|i| key((i * i * multiplier + i) % modulus - 3));
        let keys: Vec<K> = keys.collect();
        let cells = number("cells") as usize;
        let got = device.count_by_key(&device.upload(&keys)?, cells)?;
        let counts = (0..cells).map(|cell| line["counts"][cell.to_string()].as_u64());
        let counts: Vec<u64> = counts.map(|count| count.unwrap_or(0)).collect();
        let what = format!("{} keys of {kind} into {cells}", keys.len());
        is(got.cells, counts, &what)?;
        is(got.rejected, number("rejected") as u64, &what)?;
        let first = got.first_rejected.map(|first| first.index);
        is(first, line["first"].as_u64(), &what)?;
    }
    is(lines, 10, "lines of NumPy")
}

/// The cells of a naive loop, and the rejected elements.
fn counted<K: Key>(keys: &[K], cells: usize) -> (Vec<u64>, u64, Option<RejectedKey>) {
    let mut counts = vec![0; cells];
    let (mut rejected, mut first) = (0, None);
    for (index, key) in (0..).zip(keys) {
        let key = key.number();
        match usize::try_from(key).ok().filter(|cell| *cell < cells) {
            Some(cell) => counts[cell] += 1,
            None => {
                rejected += 1;
                first.get_or_insert(RejectedKey { index, key });
            }
        }
    }
    (counts, rejected, first)
}

/// Lengths around a vector, a warp and a block's tile, views from any key on, and kinds of keys: of few cells, of many,
/// sorted, equal, nearly equal, and out of range.
fn random<K: Key>(device: &Device, key: fn(i64) -> K) -> Result<(), Failed> {
    let seed = rand::random();
    let rng = &mut StdRng::seed_from_u64(seed);
    let tile = 32_768 / size_of::<K>();
    let sizes = [0, 1, 2, 15, 16, 17, 31, 33, 100, 1000, tile - 1, tile + 1];
    for (turn, n) in sizes.into_iter().cycle().take(3 * sizes.len()).enumerate() {
        let (cells, range) = [
            (256, 256),
            (5, 7),
            (0, 3),
            (20_000, 20_000),
            (8192, 9000),
            (8193, 8193),
            (100_000, 100_001),
        ][turn % 7];
        let start = [0, 1, 3, 16, 5][turn % 5];
        let keys = (0..n + start).map(|i| match turn % 4 {
            0 => key(rng.random_range(0..range)),
            1 => key(i as i64 * range / (n + start) as i64),
            2 if rng.random_range(0..50) > 0 => key(range / 3),
            2 => key(-1 - rng.random_range(0..range)),
            _ => key(range - 1),
        });
        let keys: Vec<K> = keys.collect();
        let buffer = device.upload(&keys)?;
        let got = device.count_by_key(buffer.view(start..)?, cells)?;
        let expected = counted(&keys[start..], cells);
        let what = format!("turn {turn}: {n} keys from {start} on into {cells} cells, seed {seed}");
        is(
            (got.cells, got.rejected, got.first_rejected),
            expected,
            &what,
        )?;
    }
    Ok(())
}

/// Keys of every width with every algorithm, from views that start anywhere.
fn values<K: Key>(device: &Device, key: fn(i64) -> K) -> Result<(), Failed>
where
    Sum: Keyed<K, i64> + Keyed<K, f64>,
{
    let device = device.determinism(Determinism::Fast);
    let seed = rand::random();
    let rng = &mut StdRng::seed_from_u64(seed);
    for (turn, n) in [0, 1, 31, 33, 127, 129, 1000, 4097].into_iter().enumerate() {
        for algorithm in KeyedAlgorithm::ALL {
            let (from, start) = ([0, 1, 4, 3][turn % 4], [0, 4, 2, 1][turn / 2 % 4]);
            let keys = (0..n + from).map(|_| key(rng.random_range(-2..40)));
            let keys: Vec<K> = keys.collect();
            let integers: Vec<i64> = (0..n + start).map(|_| rng.random()).collect();
            // Sums of these are exact.
            let floats: Vec<f64> = integers.iter().map(|x| (x % 100) as f64).collect();
            // More cells than a signed key of 8 bits can name.
            let cells = [37, 200][turn % 2];
            let mut sums = (vec![0i64; cells], vec![0f64; cells]);
            for (i, key) in keys[from..].iter().enumerate() {
                if let Some(cell) = usize::try_from(key.number())
                    .ok()
                    .filter(|cell| *cell < cells)
                {
                    sums.0[cell] = sums.0[cell].wrapping_add(integers[start + i]);
                    sums.1[cell] += floats[start + i];
                }
            }
            let what = format!("{n} keys from {from} on by {algorithm:?}, seed {seed}");
            let (_, rejected, first) = counted(&keys[from..], cells);
            let keys = device.upload(&keys)?;
            let keys = keys.view(from..)?;
            let buffer = device.upload(&floats)?;
            let mut by_key = device.cells(cells, Sum)?.algorithm(algorithm);
            by_key.combine(keys, buffer.view(start..)?)?;
            is(
                (by_key.download()?, by_key.rejected()?),
                (sums.1, rejected),
                &what,
            )?;
            if algorithm == KeyedAlgorithm::Cas {
                continue; // no kernel for integers
            }
            let buffer = device.upload(&integers)?;
            let mut by_key = device.cells(cells, Sum)?.algorithm(algorithm).strict();
            match (by_key.combine(keys, buffer.view(start..)?), first) {
                (Ok(()), None) => {}
                (Err(error), Some(RejectedKey { index, key })) => {
                    let expected = Error::KeyWithoutCell {
                        index,
                        key,
                        cells,
                        rejected,
                    };
                    is(error, expected, &what)?;
                }
                (got, first) => return Err(format!("{what}: {got:?}, {first:?}").into()),
            }
            is(by_key.download()?, sums.0, &what)?;
        }
    }
    Ok(())
}

/// Every strict call names the first key without a cell, of its own keys.
fn strict<K: Key>(device: &Device, key: fn(i64) -> K) -> Result<(), Failed>
where
    Max: Keyed<K, i32>,
{
    let of = |keys: &[i64]| device.upload(&keys.iter().map(|i| key(*i)).collect::<Vec<K>>());
    let values = device.upload(&[1, 2, 3, 4])?;
    let (good, bad, worse) = (of(&[0, 1, 1, 0])?, of(&[0, 9, 1, 7])?, of(&[5, 0, 0, 0])?);
    let error = |index, key, rejected| Error::KeyWithoutCell {
        index,
        key,
        cells: 2,
        rejected,
    };

    let mut cells = device.cells(2, Max)?;
    cells.combine(&worse, &values)?;
    let mut cells = cells.strict();
    cells.combine(&good, &values)?;
    is(
        cells.combine(&bad, &values),
        Err(error(1, 9, 3)),
        "after another",
    )?;
    is(cells.combine(&worse, &values), Err(error(0, 5, 4)), "again")?;
    is(
        cells.combine(&good, &values),
        Ok(()),
        "good keys after an error",
    )?;
    is(cells.download()?, vec![4, 3], "the other elements")?;
    cells.clear()?;
    is(
        cells.combine(&bad, &values),
        Err(error(1, 9, 2)),
        "after clear",
    )?;

    let mut counts = device.cells::<u64, _>(2, Sum)?.strict();
    is(counts.count(&bad), Err(error(1, 9, 2)), "counts")?;
    is(counts.count(&good), Ok(()), "counts of good keys")?;
    is(
        counts.download()?,
        vec![3, 3],
        "counts of the other elements",
    )?;

    let by_key = device.reduce_by_key(&bad, &values, 2, Max)?;
    is(by_key.strict(), Err(error(1, 9, 2)), "reduce_by_key")?;
    is(
        device.count_by_key(&worse, 2)?.strict(),
        Err(error(0, 5, 1)),
        "count_by_key",
    )?;
    is(
        device.count_by_key(&good, 2)?.strict(),
        Ok(vec![2, 2]),
        "good keys",
    )?;

    let text = error(1, 9, 2).to_string();
    let right = "element 1 has the key 9, but there are 2 cells, for the keys from 0 on; 2 element(s) have no cell; \
                 use more cells, or a reduction that is not strict";
    is(text.as_str(), right, "the text")
}

fn accumulated(device: &Device) -> Result<(), Failed> {
    let mut counts = device.cells::<u64, _>(4, Sum)?;
    counts.count(&device.upload(&[3u8, 3, 0])?)?;
    counts.count(&device.upload(&[-1i64, 3])?)?;
    counts.combine(&device.upload(&[1u16])?, &device.upload(&[10u64])?)?;
    is(counts.download()?, vec![1, 10, 0, 3], "counts")?;
    is(counts.rejected()?, 1, "rejected")?;
    counts.clear()?;
    counts.count(&device.upload::<u32>(&[])?)?;
    is(
        (counts.download()?, counts.rejected()?),
        (vec![0; 4], 0),
        "cleared",
    )
}

fn several_arrays(device: &Device) -> Result<(), Failed> {
    let mut cells = device.cell_arrays::<u64, _>(2, 4, Sum)?;
    let error = cells.count(&device.upload(&[1u32])?).unwrap_err();
    match error {
        Error::NoKeyedKernel { arrays: 2, .. } => Ok(()),
        other => Err(other.to_string().into()),
    }
}
