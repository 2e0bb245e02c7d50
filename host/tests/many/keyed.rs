//! Cells, axes and dot products of all ranks: the results of one device.

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use warpfold::{
    ArgMin, Determinism, Device, Error, Max, MeanVariance, Min, RanksError, Strided, Sum,
};

use crate::ranks::{SIZES, Split, common, on_ranks, parts};

#[test]
fn cells_are_those_of_one_device() {
    let one = Device::cpu();
    for (case, n) in [0usize, 1, 31, 32, 33, 1000, 70_000]
        .into_iter()
        .enumerate()
    {
        let seed = rand::random();
        let mut random = StdRng::seed_from_u64(seed);
        // Some have no cell.
        let keys: Vec<i32> = (0..n).map(|_| random.random_range(-1..=9)).collect();
        let integers: Vec<i64> = (0..n).map(|_| random.random()).collect();
        let floats: Vec<f64> = (0..n).map(|_| random.random_range(-1.0..1.0)).collect();
        let (all_keys, all_integers) = (one.upload(&keys).unwrap(), one.upload(&integers).unwrap());
        let all_floats = one.upload(&floats).unwrap();
        let expected = (
            one.reduce_by_key(&all_keys, &all_integers, 9, Sum).unwrap(),
            one.reduce_by_key(&all_keys, &all_floats, 9, Min).unwrap(),
            one.reduce_by_key(&all_keys, &all_floats, 9, Max).unwrap(),
            one.count_by_key(&all_keys, 9).unwrap(),
        );
        let size = SIZES[case % SIZES.len()];
        let parts = parts(Split::Random(seed), n, size);
        let (got, sums) = on_ranks(size, Device::cpu, |all| {
            let part = parts[all.rank()].clone();
            let keys = all.device().upload(&keys[part.clone()]).unwrap();
            let integers = all.device().upload(&integers[part.clone()]).unwrap();
            let floats = all.device().upload(&floats[part]).unwrap();
            let fast = all.determinism(Determinism::Fast);
            (
                all.reduce_by_key(&keys, &integers, 9, Sum).and_then(|sum| {
                    Ok((
                        sum,
                        all.reduce_by_key(&keys, &floats, 9, Min)?,
                        all.reduce_by_key(&keys, &floats, 9, Max)?,
                        all.count_by_key(&keys, 9)?,
                    ))
                }),
                fast.reduce_by_key(&keys, &floats, 9, Sum),
            )
        })
        .into_iter()
        .unzip::<_, _, Vec<_>, Vec<_>>();
        assert_eq!(common(got), expected, "{n} keys of seed {seed}");
        // All ranks have the same bits.
        let exact = |key: i32| -> f64 {
            let values = keys.iter().zip(&floats).filter(|item| *item.0 == key);
            values.map(|item| item.1).sum()
        };
        for (key, sum) in (0..).zip(common(sums).cells) {
            assert!(
                (sum - exact(key)).abs() < 1e-9,
                "{key}: {sum}, {}",
                exact(key)
            );
        }
    }
}

#[test]
fn cells_that_are_filled_piece_by_piece() {
    let cells = common(on_ranks(3, Device::cpu, |all| {
        let mut cells = all.device().cells(3, Min)?;
        for piece in 0..=all.rank() {
            let keys = all.device().upload(&[0u8, 1])?;
            let values = [-(piece as f32), all.rank() as f32];
            cells.combine(&keys, &all.device().upload(&values)?)?;
        }
        let all_cells = all.combine_cells(&cells)?;
        assert_eq!(cells.download()?[1], all.rank() as f32);
        Ok(all_cells)
    }));
    assert_eq!(cells, [-2.0, 0.0, f32::INFINITY]);
}

#[test]
fn ranks_with_other_cells_and_without_values() {
    let errors = on_ranks(2, Device::cpu, |all| {
        let keys = all.device().upload(&[0u32, 1]).unwrap();
        let values = all.device().upload(&[1i32, 2][all.rank()..]).unwrap();
        let more = 2 + all.rank();
        let floats = all.device().upload(&[1.0f32, 2.0]).unwrap();
        [
            all.reduce_by_key(&keys, &values, 2, Sum).unwrap_err(),
            all.count_by_key(&keys, more).unwrap_err(),
            all.combine_cells(&all.device().cells::<i64, _>(more, Sum).unwrap())
                .unwrap_err(),
            all.reduce_by_key(&keys, &floats, 2, Sum).unwrap_err(),
        ]
    });
    let failed = |error: &Error| matches!(error, Error::Ranks(RanksError::Failed { rank: 1, .. }));
    let calls = |error: &Error| matches!(error, Error::Ranks(RanksError::Calls { .. }));
    assert!(failed(&errors[0][0]), "{}", errors[0][0]);
    let values = matches!(errors[1][0], Error::KeysAndValues { .. });
    assert!(values, "{}", errors[1][0]);
    for [_, counts, cells, floats] in &errors {
        assert!(calls(counts) && calls(cells), "{counts}; {cells}");
        assert!(matches!(floats, Error::Determinism { .. }), "{floats}");
    }
    let text = errors[0][1].to_string();
    assert!(
        text.contains("2 counts") && text.contains("3 counts"),
        "{text}"
    );
}

#[test]
fn axes_have_the_bits_of_one_device() {
    let one = Device::cpu();
    let mut random = StdRng::seed_from_u64(5);
    for (rows, columns) in [(1, 1), (3, 40), (33, 7), (700, 31), (5, 0), (0, 5)] {
        let x: Vec<f32> = (0..rows * columns)
            .map(|_| random.random_range(-1e3..1e3))
            .collect();
        let on_one = one.upload(&x).unwrap();
        let shape = [rows, columns];
        let of_columns = (
            one.reduce_axis(&on_one, &shape, &[0], Sum).unwrap(),
            one.reduce_axis(&on_one, &shape, &[0], ArgMin).unwrap(),
        );
        let of_rows = (
            one.reduce_axis(&on_one, &shape, &[1], MeanVariance)
                .unwrap(),
            one.reduce_axis(&on_one, &shape, &[1], Max).unwrap(),
        );
        for size in SIZES {
            let cuts = parts(Split::Random(size as u64), columns, size);
            let got = common(on_ranks(size, Device::cpu, |all| {
                let part = cuts[all.rank()].clone();
                let own: Vec<f32> = (0..rows)
                    .flat_map(|row| x[row * columns..][part.clone()].iter().copied())
                    .collect();
                let (own, shape) = (all.device().upload(&own)?, [rows, part.len()]);
                Ok((
                    all.reduce_axis(&own, &shape, &[0], Sum)?,
                    all.reduce_axis(&own, &shape, &[0], ArgMin)?,
                ))
            }));
            assert_eq!(got, of_columns, "{rows} x {columns} on {size} ranks");
            let cuts = parts(Split::Random(size as u64), rows, size);
            let got = common(on_ranks(size, Device::cpu, |all| {
                let part = cuts[all.rank()].clone();
                let own = &x[part.start * columns..part.end * columns];
                let (own, rows) = (all.device().upload(own)?, part.len());
                // The same items as the columns of the transpose.
                let (dims, strides) = ([columns, rows], [1, columns as isize]);
                let transpose = Strided::new(&dims, &strides);
                let moments = all.reduce_axis(&own, &[rows, columns], &[1], MeanVariance)?;
                Ok((moments, all.reduce_axis(&own, transpose, &[0], Max)?))
            }));
            assert_eq!(got, of_rows, "{rows} x {columns} on {size} ranks");
        }
    }
    let errors = on_ranks(2, Device::cpu, |all| {
        let x = all.device().upload(&[1.0f32; 6]).unwrap();
        let shape = [2, 3 + all.rank()];
        all.reduce_axis(&x, &shape, &[1], Sum).unwrap_err()
    });
    let texts: Vec<String> = errors.iter().map(Error::to_string).collect();
    assert!(
        texts[0].starts_with("rank 1 failed") && texts[1].contains("[2, 4]"),
        "{texts:?}"
    );
}

#[test]
fn dot_products_have_the_bits_of_one_device() {
    let one = Device::cpu();
    for n in [0usize, 1, 4095, 4097, 30_000] {
        let mut random = StdRng::seed_from_u64(n as u64);
        let mut draw = || (0..n).map(|_| random.random_range(-1e3f32..1e3)).collect();
        let (a, b): (Vec<f32>, Vec<f32>) = (draw(), draw());
        let (x, y) = (one.upload(&a).unwrap(), one.upload(&b).unwrap());
        let expected = one.dot(&x, &y).unwrap();
        for size in [2, 3] {
            let parts = parts(Split::Random(n as u64), n, size);
            let got = common(on_ranks(size, Device::cpu, |all| {
                let part = parts[all.rank()].clone();
                let (a, b) = (&a[part.clone()], &b[part]);
                all.dot(&all.device().upload(a)?, &all.device().upload(b)?)
            }));
            assert_eq!(got.to_bits(), expected.to_bits(), "{n} items");
        }
    }
}

/// Simulated GPUs combine by atomics.
#[cfg(feature = "simulator")]
#[test]
fn simulated_gpus_have_the_cells_and_axes_of_one_cpu() {
    let simulated = || Device::simulated().unwrap();
    let keys: Vec<u32> = (0..500).map(|i| i * 7919 % 13).collect();
    let values: Vec<i32> = (0..500).collect();
    let one = Device::cpu();
    let (on_one, x) = (one.upload(&keys).unwrap(), one.upload(&values).unwrap());
    let expected = (
        one.reduce_by_key(&on_one, &x, 11, Sum).unwrap(),
        one.count_by_key(&on_one, 11).unwrap(),
        one.reduce_axis(&x, &[10, 50], &[1], Sum).unwrap(),
    );
    let got = common(on_ranks(2, simulated, |all| {
        let part = [0..150, 150..500][all.rank()].clone();
        let keys = all.device().upload(&keys[part.clone()])?;
        let x = all.device().upload(&values[part.clone()])?;
        Ok((
            all.reduce_by_key(&keys, &x, 11, Sum)?,
            all.count_by_key(&keys, 11)?,
            all.reduce_axis(&x, &[part.len() / 50, 50], &[1], Sum)?,
        ))
    }));
    assert_eq!(got, expected);
}
