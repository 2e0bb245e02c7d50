//! Segments, rows and groups of all ranks: the results of one device.

use std::collections::BTreeMap;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use warpfold::many::Distributed;
use warpfold::{
    ArgMax, Determinism, Device, Error, GroupBy, Max, MeanVariance, RanksError, Sum, bf16,
};

use crate::ranks::{SIZES, Split, common, on_ranks, parts};

/// Values of many magnitudes, so that another order of additions would have other bits.
fn values(n: usize, seed: u64) -> Vec<f32> {
    let mut random = StdRng::seed_from_u64(seed);
    let magnitude = |random: &mut StdRng| 2f32.powi(random.random_range(-10..10));
    (0..n)
        .map(|_| random.random_range(-1.0f32..1.0) * magnitude(&mut random))
        .collect()
}

#[test]
fn segments_of_any_lengths() {
    let cpu = Device::cpu();
    for (case, segments) in [0usize, 1, 7, 100].into_iter().enumerate() {
        let seed = rand::random();
        let mut random = StdRng::seed_from_u64(seed);
        let lens: Vec<usize> = (0..segments)
            .map(|_| [0, 1, 40, 3000][random.random_range(0..4)])
            .collect();
        let mut offsets = vec![0u32];
        lens.iter()
            .for_each(|len| offsets.push(offsets[offsets.len() - 1] + *len as u32));
        let x = values(offsets[segments] as usize, seed);
        let (on_cpu, all_offsets) = (cpu.upload(&x).unwrap(), cpu.upload(&offsets).unwrap());
        let expected = (
            cpu.reduce_segments(&on_cpu, &all_offsets, Sum).unwrap(),
            cpu.reduce_segments(&on_cpu, &all_offsets, Max).unwrap(),
            cpu.reduce_segments(&on_cpu, &all_offsets, ArgMax).unwrap(),
        );
        let size = SIZES[case % SIZES.len()];
        let parts = parts(Split::Random(seed), segments, size);
        let got = common(on_ranks(size, Device::cpu, |all| {
            let part = parts[all.rank()].clone();
            let (start, end) = (offsets[part.start], offsets[part.end]);
            let own: Vec<u32> = offsets[part.start..=part.end]
                .iter()
                .map(|at| at - start)
                .collect();
            let x = all.device().upload(&x[start as usize..end as usize])?;
            let own = all.device().upload(&own)?;
            Ok((
                all.reduce_segments(&x, &own, Sum)?,
                all.reduce_segments(&x, &own, Max)?,
                all.reduce_segments(&x, &own, ArgMax)?,
            ))
        }));
        assert_eq!(
            got, expected,
            "{segments} segments of seed {seed}, {size} ranks"
        );
    }
}

#[test]
fn rows_and_bad_arguments() {
    let x: Vec<bf16> = values(60, 1).into_iter().map(bf16::from_f32).collect();
    let cpu = Device::cpu();
    let expected = cpu
        .reduce_rows(&cpu.upload(&x).unwrap(), 4, MeanVariance)
        .unwrap();
    let results = on_ranks(3, Device::cpu, |all| {
        let part = [0..20, 20..20, 20..60][all.rank()].clone();
        let x = all.device().upload(&x[part]).unwrap();
        // 20 and 40 items are no rows of 3.
        let error = all.reduce_rows(&x, 3, Sum).unwrap_err();
        let offsets = all
            .device()
            .upload(&[0u32, 99][..1 + all.rank() / 2])
            .unwrap();
        let offset = all.reduce_segments(&x, &offsets, Sum).unwrap_err();
        (all.reduce_rows(&x, 4, MeanVariance).unwrap(), error, offset)
    });
    for (rank, (rows, error, offset)) in results.into_iter().enumerate() {
        assert_eq!(rows, expected);
        match rank {
            1 => assert!(
                matches!(error, Error::Ranks(RanksError::Failed { rank: 0, .. })),
                "{error}"
            ),
            _ => assert!(matches!(error, Error::Rows { len: 3, .. }), "{error}"),
        }
        match rank {
            2 => assert!(
                matches!(offset, Error::Offset { value: 99, .. }),
                "{offset}"
            ),
            _ => assert!(offset.to_string().starts_with("rank 2 failed"), "{offset}"),
        }
    }
}

/// The groups of all ranks as pairs; each key is on one rank, whose keys are in order.
fn pairs<K: Ord + Copy + std::fmt::Debug, R>(groups: Vec<GroupBy<K, R>>) -> BTreeMap<K, R> {
    let mut all = BTreeMap::new();
    for groups in groups {
        assert!(groups.keys.is_sorted(), "{:?}", groups.keys);
        for (key, result) in groups.keys.into_iter().zip(groups.results) {
            assert!(all.insert(key, result).is_none(), "{key:?} twice");
        }
    }
    all
}

#[test]
fn groups_have_the_bits_of_one_device() {
    for (case, (n, range)) in [
        (0usize, 1i64),
        (1, 1),
        (3000, 1),
        (3000, 5),
        (3000, 1 << 40),
        (20_000, 700),
    ]
    .into_iter()
    .enumerate()
    {
        let seed = rand::random();
        let mut random = StdRng::seed_from_u64(seed);
        let keys: Vec<i64> = (0..n)
            .map(|_| random.random_range(-range..=range))
            .collect();
        let x = values(n, seed);
        let one = Device::cpu();
        let (on_one, values) = (one.upload(&keys).unwrap(), one.upload(&x).unwrap());
        let expected = (
            pairs(vec![one.group_by(&on_one, &values, Sum).unwrap().sort()]),
            pairs(vec![one.group_by(&on_one, &values, Max).unwrap().sort()]),
            pairs(vec![one.group_by(&on_one, &values, ArgMax).unwrap().sort()]),
        );
        let size = SIZES[(case + 1) % SIZES.len()];
        let parts = parts(Split::Random(seed), n, size);
        let fast = |all: &Distributed| all.determinism(Determinism::Fast);
        let results = on_ranks(size, Device::cpu, |all| {
            let part = parts[all.rank()].clone();
            let keys = all.device().upload(&keys[part.clone()]).unwrap();
            let values = all.device().upload(&x[part]).unwrap();
            (
                all.group_by(&keys, &values, Sum).unwrap(),
                all.group_by(&keys, &values, Max).unwrap(),
                all.group_by(&keys, &values, ArgMax).unwrap(),
                fast(all).group_by(&keys, &values, Sum).unwrap(),
            )
        });
        let (mut sums, mut greatest, mut indexed, mut fast) = (vec![], vec![], vec![], vec![]);
        for (sum, max, argmax, by_partials) in results {
            sums.push(sum);
            greatest.push(max);
            indexed.push(argmax);
            fast.push(by_partials);
        }
        let got = (pairs(sums), pairs(greatest), pairs(indexed));
        assert_eq!(got, expected, "{n} items of seed {seed}, {size} ranks");
        for (key, sum) in pairs(fast) {
            let exact = expected.0[&key];
            assert!(
                (sum - exact).abs() <= 1e-3 * (1.0 + exact.abs()),
                "{key}: {sum}, {exact}"
            );
        }
    }
}

#[test]
fn keys_without_values_are_an_error_of_all() {
    let errors = on_ranks(2, Device::cpu, |all| {
        let keys = all.device().upload(&[1u32, 2]).unwrap();
        let values = all.device().upload(&[1.0f32, 2.0][all.rank()..]).unwrap();
        let errors = [
            all.group_by(&keys, &values, Sum).unwrap_err(),
            all.group_by(&keys, &values, Max).unwrap_err(),
        ];
        assert_eq!(all.sum(&keys), Ok(6));
        errors
    });
    for error in &errors[0] {
        assert!(
            matches!(error, Error::Ranks(RanksError::Failed { rank: 1, .. })),
            "{error}"
        );
    }
    for error in &errors[1] {
        assert!(
            matches!(
                error,
                Error::KeysAndValues {
                    keys: 2,
                    values: 1,
                    ..
                }
            ),
            "{error}"
        );
    }
}

/// Simulated GPUs find the groups and segments in other ways.
#[cfg(feature = "simulator")]
#[test]
fn simulated_gpus_have_the_groups_and_segments_of_one_cpu() {
    let simulated = || Device::simulated().unwrap();
    let keys: Vec<u32> = (0..500).map(|i| i * 7919 % 13).collect();
    let (x, one) = (values(500, 3), Device::cpu());
    let (on_one, all_values) = (one.upload(&keys).unwrap(), one.upload(&x).unwrap());
    let expected = pairs(vec![
        one.group_by(&on_one, &all_values, Sum).unwrap().sort(),
    ]);
    let rows = one.reduce_rows(&all_values, 50, Sum).unwrap();
    let results = on_ranks(2, simulated, |all| {
        let part = [0..150, 150..500][all.rank()].clone();
        let keys = all.device().upload(&keys[part.clone()]).unwrap();
        let values = all.device().upload(&x[part]).unwrap();
        assert_eq!(all.reduce_rows(&values, 50, Sum).unwrap(), rows);
        all.group_by(&keys, &values, Sum).unwrap()
    });
    assert_eq!(pairs(results), expected);
}
