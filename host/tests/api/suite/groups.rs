//! `group` and `group_by`: the groups of a map, and the bits of `reduce` for each group's values.

use std::collections::BTreeMap;
use std::fmt::Debug;

use libtest_mimic::Failed;
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use warpfold::{
    ArgMax, Buffer, Determinism, Device, Element, Error, GroupBy, GroupKey, Max, MeanVariance, Min,
    Sum, f16,
};

use super::Test;
use super::compare::is;
use super::levels::is_slow;

/// The tests of random cases.
const RANDOM_TESTS: usize = 4;

/// Keys that a hash table might reserve, as signed numbers of 64 bits.
const SPECIAL: [i64; 6] = [
    0,
    -1,
    i64::MIN,
    i64::MAX,
    i64::from_ne_bytes([0xA7; 8]),
    0xA7A7_A7A7,
];

pub fn tests() -> Vec<Test> {
    let mut tests = vec![
        Test::new("groups: keys, indices, counts and results", few),
        Test::new("groups: empty input", empty),
        Test::new("groups: one, and one for each item", extremes),
        Test::new("groups: keys of any value", special_keys),
        Test::new("groups: a table that grows", growth),
        Test::new("groups: by parts", parts),
        Test::new("groups: so many that they are combined by parts", many),
        Test::new("groups: operators and elements", operators),
        Test::new("groups: into buffers", into_buffers),
        Test::new("groups: arranged values", arranged),
        Test::new("groups: bad arguments", bad_arguments),
        Test::new("groups: on several streams", streams),
    ];
    tests.extend((0..RANDOM_TESTS).map(|number| {
        let name = format!("groups: random cases, {number} of {RANDOM_TESTS}");
        Test::new(name, random_cases)
    }));
    tests
}

fn few(device: &Device) -> Result<(), Failed> {
    let keys = device.upload(&[30u64, 10, 30, 20, 10])?;
    let values = device.upload(&[1.5f64, 2.0, 4.0, 8.0, 16.0])?;
    let groups = device.group(&keys)?;
    is((groups.len(), groups.items()), (3, 5), "lengths")?;
    let groups = groups.sort()?;
    is(groups.keys().download()?, vec![10, 20, 30], "keys")?;
    is(groups.indices().download()?, vec![2, 0, 2, 1, 0], "indices")?;
    is(groups.counts()?, vec![2, 1, 2], "counts")?;
    is(
        groups.reduce(&values, Sum)?,
        vec![18.0, 8.0, 5.5],
        "sums of f64",
    )?;
    let maxima = groups.reduce(&values, Max)?;
    is(
        maxima,
        vec![Some(16.0), Some(8.0), Some(4.0)],
        "maxima of f64",
    )?;
    let fast = device.clone().determinism(Determinism::Fast);
    let minima = GroupBy {
        keys: vec![10, 20, 30],
        results: vec![Some(2.0), Some(8.0), Some(1.5)],
    };
    for device in [device, &fast] {
        let got = device.group_by(&keys, &values, Min)?.sort();
        is(got, minima.clone(), "minima of f64")?;
        let part = device.group_by(keys.view(1..4)?, values.view(2..)?, Sum)?;
        let part = part.sort();
        is(
            (part.keys, part.results),
            (vec![10, 20, 30], vec![4.0, 16.0, 8.0]),
            "sums of views",
        )?;
    }
    Ok(())
}

fn empty(device: &Device) -> Result<(), Failed> {
    let (keys, values) = (device.upload::<i32>(&[])?, device.upload::<f32>(&[])?);
    let groups = device.group(&keys)?.sort()?;
    is((groups.len(), groups.items()), (0, 0), "lengths")?;
    is(groups.counts()?, vec![], "counts")?;
    is(groups.reduce(&values, Sum)?, vec![], "sums")?;
    let fast = device.clone().determinism(Determinism::Fast);
    is(
        fast.group(&keys)?.combine(&values, Sum)?,
        vec![],
        "combined",
    )?;
    for device in [device, &fast] {
        let sums = device.group_by(&keys, &values, Sum)?;
        is((sums.keys, sums.results), (vec![], vec![]), "group_by")?;
    }
    Ok(())
}

fn extremes(device: &Device) -> Result<(), Failed> {
    for n in [1, 2, 31, 32, 33, 255, 256, 257, 2047, 2048, 2049, 5000] {
        let all: Vec<u32> = (0..n).map(|i: u32| i.wrapping_mul(0x9E37_79B1)).collect();
        check(device, &all, 1 << 21)?;
        check(device, &vec![7i64; n as usize], 2)?;
    }
    Ok(())
}

fn special_keys(device: &Device) -> Result<(), Failed> {
    let random = &mut SmallRng::seed_from_u64(3);
    for n in [6, 100, 3000] {
        let keys: Vec<i64> = (0..n)
            .map(|_| SPECIAL[random.random_range(0..SPECIAL.len())])
            .collect();
        check(device, &keys, 1 << 10)?;
        let narrow: Vec<i32> = keys.iter().map(|key| *key as i32).collect();
        check(device, &narrow, 2)?;
        let unsigned: Vec<u32> = keys.iter().map(|key| *key as u32).collect();
        check(device, &unsigned, 16)?;
        // All keys look like an empty slot.
        check(device, &vec![0xA7A7_A7A7u32; n], 2)?;
    }
    Ok(())
}

fn growth(device: &Device) -> Result<(), Failed> {
    let keys: Vec<u64> = (0..12_000)
        .map(|i: u64| (i % 4999) << (i % 3 * 20))
        .collect();
    for slots in [2, 64, 4096] {
        check(device, &keys, slots)?;
    }
    Ok(())
}

/// The groups of one pass, in the order of their keys.
fn sorted<K: GroupKey, R: Element>(
    (keys, results): (Buffer<K>, Buffer<R>),
) -> Result<GroupBy<K, R>, Failed> {
    let (keys, results) = (keys.download()?, results.download()?);
    Ok(GroupBy { keys, results }.sort())
}

/// Sums and extrema by parts of any capacity, for keys that a bin might reserve, too.
fn parts(device: &Device) -> Result<(), Failed> {
    let fast = device.clone().determinism(Determinism::Fast);
    if let Some(info) = device.info()
        && info.shared_bytes_per_block < 80 << 10
    {
        let (keys, values) = (device.upload(&[1u32])?, device.upload(&[1.0f32])?);
        let none = fast.group_by_in_parts(&keys, &values, Sum, 1)?;
        return is(none.is_none(), true, "too little memory of a block");
    }
    let tile = 8192;
    for n in [1, 31, 32, 33, tile - 1, tile, tile + 1, 100_003, 1 << 20] {
        let key = |i: u32| match i % 7 {
            0 => 0xA7A7_A7A7,
            1 => 0,
            2 => u32::MAX,
            _ => (i % 5000).wrapping_mul(0x9E37_79B1),
        };
        let keys: Vec<u32> = (0..n).map(key).collect();
        let values: Vec<i32> = keys
            .iter()
            .map(|key| (key >> 7) as i32 - (1 << 20))
            .collect();
        let mut map = BTreeMap::new();
        for (key, value) in keys.iter().zip(&values) {
            let cell: &mut (i32, f32) = map.entry(*key as i32).or_insert((0, f32::MIN));
            *cell = (cell.0.wrapping_add(*value), cell.1.max(*value as f32));
        }
        let floats: Vec<f32> = values.iter().map(|value| *value as f32).collect();
        let signed: Vec<i32> = keys.iter().map(|key| *key as i32).collect();
        let (keys, values) = (device.upload(&signed)?, device.upload(&values)?);
        let floats = device.upload(&floats)?;
        let capacity = n as usize;
        let Some(sums) = fast.group_by_in_parts(&keys, &values, Sum, capacity)? else {
            return Err(format!("{n} pairs are not combined").into());
        };
        let sums = sorted(sums)?;
        let wanted: Vec<i32> = map.keys().copied().collect();
        is(sums.keys, wanted.clone(), "keys")?;
        let results = map.values().map(|(sum, _)| *sum).collect();
        is(sums.results, results, "sums of i32")?;
        let Some(maxima) = fast.group_by_in_parts(&keys, &floats, Max, capacity)? else {
            return Err(format!("{n} pairs are not combined").into());
        };
        let maxima = sorted(maxima)?;
        is(maxima.keys, wanted, "keys of the maxima")?;
        let results = map.values().map(|(_, most)| *most).collect();
        is(maxima.results, results, "maxima of f32")?;
        // The largest part has a seventh of the pairs.
        if device.is_gpu() && n > 100 {
            let lost = fast.group_by_in_parts(&keys, &values, Sum, capacity / 8)?;
            is(lost.is_none(), true, "a part with too many pairs")?;
        }
    }
    Ok(())
}

/// More pairs than are combined in a table, with equally large groups, a large one, and more groups than all bins.
fn many(device: &Device) -> Result<(), Failed> {
    if is_slow(device) {
        eprintln!("{device}: skipped, because so many pairs take too long");
        return Ok(());
    }
    let fast = device.clone().determinism(Determinism::Fast);
    let n = (1 << 22) + 5;
    let random = &mut SmallRng::seed_from_u64(n);
    // Groups, the share of a large one in thousandths, and whether the sample, 256 rows of 32 keys, misses that.
    for (groups, frequent, is_missed) in [
        (1 << 16, 0, false),
        (1 << 20, 0, false),
        (1 << 20, 400, false),
        (1 << 20, 400, true),
        (1 << 30, 0, false),
    ] {
        let keys: Vec<u32> = (0..n)
            .map(|i| match random.random_range(0..1000) < frequent {
                true if !is_missed || i % (n / 256) >= 32 => 7,
                _ => random.random_range(0..groups),
            })
            .collect();
        let mut counts = keys.clone();
        counts.sort_unstable();
        let counts = counts.chunk_by(|a, b| a == b);
        let (mut wanted, mut results) = (vec![], vec![]);
        for equal in counts {
            wanted.push(equal[0]);
            results.push(equal.len() as f32);
        }
        let keys = device.upload(&keys)?;
        let ones = device.upload(&vec![1.0f32; n as usize])?;
        let sums = fast.group_by(&keys, &ones, Sum)?.sort();
        is(sums.keys == wanted, true, "keys")?;
        is(sums.results == results, true, "sums")?;
    }
    Ok(())
}

fn random_cases(device: &Device) -> Result<(), Failed> {
    let seed = rand::random();
    let random = &mut SmallRng::seed_from_u64(seed);
    let run = |random: &mut SmallRng| -> Result<(), Failed> {
        let n = random.random_range(1..9000);
        let groups = 2f64.powf(random.random_range(0.0..13.0));
        let is_skewed: bool = random.random();
        let key = |random: &mut SmallRng| {
            let uniform: f64 = random.random_range(0.0..1.0);
            let number = match is_skewed {
                true => groups.powf(uniform),
                false => groups * uniform,
            };
            number as i64 - 5
        };
        let keys: Vec<i64> = (0..n).map(|_| key(random)).collect();
        let slots = 1 << random.random_range(1..15);
        check(device, &keys, slots)?;
        let narrow: Vec<u32> = keys.iter().map(|key| *key as u32).collect();
        check(device, &narrow, slots)
    };
    run(random).map_err(|why| {
        let why = why.message().unwrap_or("failed").to_string();
        format!("{why} (seed {seed})").into()
    })
}

/// Compares all calls with a map, with a first table of so many slots.
fn check<K: GroupKey + Debug>(device: &Device, keys: &[K], slots: usize) -> Result<(), Failed> {
    let random = &mut SmallRng::seed_from_u64(keys.len() as u64);
    let values: Vec<f32> = keys
        .iter()
        .map(|_| random.random_range(-1.0..1.0))
        .collect();
    let whole: Vec<i32> = keys.iter().map(|_| random.random()).collect();
    let mut map = BTreeMap::<K, (Vec<f32>, i32)>::new();
    for ((key, value), integer) in keys.iter().zip(&values).zip(&whole) {
        let (values, sum) = map.entry(*key).or_default();
        values.push(*value);
        *sum = sum.wrapping_add(*integer);
    }
    let cpu = Device::cpu();
    let wanted: Vec<u32> = map
        .values()
        .map(|(values, _)| Ok(cpu.sum(cpu.view_host(values)?)?.to_bits()))
        .collect::<Result<_, Failed>>()?;
    let all: Vec<K> = map.keys().copied().collect();
    let integers: Vec<i32> = map.values().map(|(_, sum)| *sum).collect();
    let counts: Vec<u64> = map
        .values()
        .map(|(values, _)| values.len() as u64)
        .collect();

    let fast = device.clone().determinism(Determinism::Fast);
    let (x, y) = (device.upload(&values)?, device.upload(&whole)?);
    let keys_on_device = device.upload(keys)?;
    let unsorted = device.group_from(&keys_on_device, slots)?;
    let (unique, indices) = (unsorted.keys().download()?, unsorted.indices().download()?);
    is(unique.len(), all.len(), "groups")?;
    for (i, (key, index)) in keys.iter().zip(&indices).enumerate() {
        is(unique[*index as usize], *key, &format!("key {i}"))?;
    }
    let sums = GroupBy {
        keys: unique,
        results: unsorted.reduce(&x, Sum)?,
    };
    let sums: Vec<u32> = sums.sort().results.into_iter().map(f32::to_bits).collect();
    is(sums, wanted.clone(), "sums of groups in any order")?;

    let groups = unsorted.sort()?;
    is(groups.keys().download()?, all.clone(), "sorted keys")?;
    is(groups.counts()?, counts.clone(), "counts")?;
    let sums = groups.reduce(&x, Sum)?.into_iter().map(f32::to_bits);
    is(sums.collect(), wanted.clone(), "sums of f32")?;
    let arranged = groups.arrange(&x)?;
    let sums = arranged.reduce(Sum)?.into_iter().map(f32::to_bits);
    is(sums.collect(), wanted, "sums of arranged f32")?;
    is(
        arranged.counts()?,
        counts.clone(),
        "counts of arranged values",
    )?;
    is(groups.counts()?, counts, "counts by the order")?;
    is(groups.reduce(&y, Sum)?, integers.clone(), "sums of i32")?;
    is(groups.combine(&y, Sum)?, integers.clone(), "combined i32")?;

    let (unique, sums) = fast.group_by_from(&keys_on_device, &y, Sum, slots)?;
    let sums = GroupBy {
        keys: unique.download()?,
        results: sums.download()?,
    };
    let sums = sums.sort();
    is(sums.keys, all.clone(), "keys of one pass")?;
    is(sums.results, integers, "sums of one pass")?;
    let (unique, sums) = fast.group_by_from(&keys_on_device, &x, Sum, slots)?;
    let sums = GroupBy {
        keys: unique.download()?,
        results: sums.download()?,
    };
    for (got, (values, _)) in sums.sort().results.iter().zip(map.values()) {
        let exact: f64 = values.iter().map(|value| f64::from(*value)).sum();
        let magnitude: f64 = values.iter().map(|value| f64::from(value.abs())).sum();
        let bound = values.len() as f64 * f64::from(f32::EPSILON) * magnitude;
        if (f64::from(*got) - exact).abs() > bound {
            return Err(format!("a sum of one pass: {got} instead of {exact}").into());
        }
    }
    Ok(())
}

fn operators(device: &Device) -> Result<(), Failed> {
    let keys = device.upload(&[1u32, 0, 1, 1, 0])?;
    let groups = device.group(&keys)?.sort()?;
    let halves = [1.0f32, 2.0, 3.0, 4.0, -5.0].map(f16::from_f32);
    let halves = device.upload(&halves)?;
    let sums = groups.reduce(&halves, Sum)?;
    is(sums, [-3.0, 8.0].map(f16::from_f32).to_vec(), "sums of f16")?;
    let bytes = device.upload(&[1u8, 250, 3, 9, 4])?;
    is(
        groups.reduce(&bytes, Max)?,
        vec![Some(250), Some(9)],
        "maxima of u8",
    )?;
    let x = device.upload(&[1.0f64, 2.0, 3.0, 5.0, 4.0])?;
    let largest = groups.reduce(&x, ArgMax)?;
    let largest: Vec<_> = largest
        .into_iter()
        .map(|found| found.map(|found| (found.index(), found.value())))
        .collect();
    is(
        largest,
        vec![Some((1, 4.0)), Some((2, 5.0))],
        "indices count the items of the group",
    )?;
    let moments = groups.reduce(&x, MeanVariance)?;
    let means: Vec<f64> = moments
        .iter()
        .flatten()
        .map(|moments| moments.mean())
        .collect();
    is(means, vec![3.0, 3.0], "means")
}

fn into_buffers(device: &Device) -> Result<(), Failed> {
    let keys = device.upload(&[5i32, -5, 5])?;
    let values = device.upload(&[1u64, 2, 4])?;
    let groups = device.group(&keys)?.sort()?;
    let mut sums = device.upload(&[9u64; 4])?;
    groups.reduce_into(&values, Sum, sums.view_mut(1..)?)?;
    is(sums.download()?, vec![9, 2, 5, 9], "sums")?;
    let error = groups.reduce_into(&values, Sum, sums.view_mut(..1)?);
    match error {
        Err(Error::ViewRange { .. }) => {}
        other => return Err(format!("{other:?} for too few elements").into()),
    }
    let fast = device.clone().determinism(Determinism::Fast);
    for device in [device, &fast] {
        group_into_buffers(device)?;
    }
    Ok(())
}

fn group_into_buffers(device: &Device) -> Result<(), Failed> {
    let keys = device.upload(&[5i32, -5, 5])?;
    let values = device.upload(&[1u64, 2, 4])?;
    let (mut unique, mut sums) = (device.upload(&[9i32; 4])?, device.upload(&[9u64; 5])?);
    let (own, to) = (unique.view_mut(1..)?, sums.view_mut(2..)?);
    is(
        device.group_by_into(&keys, &values, Sum, own, to)?,
        2,
        "the number of groups",
    )?;
    let (found, results) = (unique.download()?, sums.download()?);
    is((found[0], found[3]), (9, 9), "the keys' other elements")?;
    is(
        (&results[..2], results[4]),
        (&[9, 9][..], 9),
        "the sums' other elements",
    )?;
    let groups = GroupBy {
        keys: found[1..3].to_vec(),
        results: results[2..4].to_vec(),
    };
    let wanted = GroupBy {
        keys: vec![-5, 5],
        results: vec![2, 5],
    };
    is(groups.sort(), wanted, "the groups")?;

    for (own, to) in [(1, 5), (4, 1)] {
        let (own, to) = (unique.view_mut(..own)?, sums.view_mut(..to)?);
        match device.group_by_into(&keys, &values, Sum, own, to) {
            Err(Error::ViewRange { .. }) => {}
            other => return Err(format!("{other:?} for too few elements").into()),
        }
    }
    let unchanged = (unique.download()?, sums.download()?);
    is(unchanged, (found, results), "what an error leaves")?;

    let mut elsewhere = Device::cpu().alloc::<u64>(2)?;
    match device.group_by_into(&keys, &values, Sum, &mut unique, &mut elsewhere) {
        Err(Error::OtherDevice { .. }) => {}
        other => return Err(format!("{other:?} for a result of another device").into()),
    }
    let (keys, values) = (keys.view(..0)?, values.view(..0)?);
    let (none, to) = (unique.view_mut(..0)?, sums.view_mut(..0)?);
    is(
        device.group_by_into(keys, values, Sum, none, to)?,
        0,
        "no groups",
    )
}

fn arranged(device: &Device) -> Result<(), Failed> {
    let keys = device.upload(&[30u64, 10, 30, 20, 10])?;
    let groups = device.group(&keys)?.sort()?;
    let values = device.upload(&[0.0f64, 1.5, 2.0, 4.0, 8.0, 16.0])?;
    let arranged = groups.arrange(values.view(1..)?)?;
    is((arranged.len(), arranged.is_empty()), (3, false), "lengths")?;
    let sorted = arranged.values().download()?;
    is(sorted, vec![2.0, 16.0, 8.0, 1.5, 4.0], "values")?;
    is(arranged.offsets().download()?, vec![0, 2, 3, 5], "offsets")?;
    is(arranged.counts()?, vec![2, 1, 2], "counts")?;
    is(arranged.reduce(Sum)?, vec![18.0, 8.0, 5.5], "sums")?;
    let least = vec![Some(2.0), Some(8.0), Some(1.5)];
    is(arranged.reduce(Min)?, least, "minima")?;
    let indices = arranged.reduce(ArgMax)?.into_iter().flatten();
    let indices: Vec<u64> = indices.map(|found| found.index()).collect();
    is(
        indices,
        vec![1, 0, 1],
        "indices count the items of the group",
    )?;
    let means = arranged.reduce(MeanVariance)?.into_iter().flatten();
    let means: Vec<f64> = means.map(|moments| moments.mean()).collect();
    is(means, vec![9.0, 8.0, 2.75], "means")?;
    let mut sums = device.upload(&[7.0f64; 5])?;
    arranged.reduce_into(Sum, sums.view_mut(1..)?)?;
    is(
        sums.download()?,
        vec![7.0, 18.0, 8.0, 5.5, 7.0],
        "sums in a buffer",
    )?;
    match arranged.reduce_into(Sum, sums.view_mut(..2)?) {
        Err(Error::ViewRange { .. }) => {}
        other => return Err(format!("{other:?} for too few elements").into()),
    }
    // Elements of 3 bytes are moved in parts.
    let triples = device.upload(&[[1u8, 2, 3], [4, 5, 6], [7, 8, 9], [1, 1, 1], [2, 2, 2]])?;
    let triples = groups.arrange(&triples)?.values().download()?;
    let wanted = vec![[4, 5, 6], [2, 2, 2], [1, 1, 1], [1, 2, 3], [7, 8, 9]];
    is(triples, wanted, "values of 3 bytes")?;

    let lengths = Error::KeysAndValues {
        keys: 5,
        values: 6,
        arrays: 1,
    };
    is(
        groups.arrange(&values).err(),
        Some(lengths),
        "too many values",
    )?;
    let elsewhere = Device::cpu().upload(&[1.0f64; 5])?;
    match groups.arrange(&elsewhere) {
        Err(Error::OtherDevice { .. }) => {}
        other => return Err(format!("{other:?} for values of another device").into()),
    }
    let none = device.group(&device.upload::<u32>(&[])?)?;
    let nothing = none.arrange(&device.upload::<f32>(&[])?)?;
    is((nothing.len(), nothing.is_empty()), (0, true), "no groups")?;
    is(nothing.counts()?, vec![], "no counts")?;
    is(nothing.reduce(Sum)?, vec![], "no sums")?;
    is(nothing.offsets().download()?, vec![0], "no segments")
}

fn bad_arguments(device: &Device) -> Result<(), Failed> {
    let (keys, values) = (device.upload(&[1u32, 2])?, device.upload(&[1.0f32])?);
    let lengths = Error::KeysAndValues {
        keys: 2,
        values: 1,
        arrays: 1,
    };
    let groups = device.group(&keys)?;
    is(
        device.group_by(&keys, &values, Sum).unwrap_err(),
        lengths.clone(),
        "group_by",
    )?;
    is(
        groups.reduce(&values, Sum).unwrap_err(),
        lengths.clone(),
        "reduce",
    )?;
    let fast = device.clone().determinism(Determinism::Fast);
    is(
        fast.group(&keys)?.combine(&values, Sum).unwrap_err(),
        lengths,
        "combine",
    )?;
    let other = Device::cpu().upload(&[1u32, 2])?;
    let error = device.group(&other).unwrap_err();
    if !matches!(error, Error::OtherDevice { .. }) {
        return Err(format!("{error:?} for keys of another device").into());
    }
    let x = device.upload(&[1.0f32, 2.0])?;
    let exact = device.clone().determinism(Determinism::Exact);
    let errors = [
        exact.group_by(&keys, &x, Sum).unwrap_err(),
        groups.combine(&x, Sum).unwrap_err(),
    ];
    match errors
        .iter()
        .all(|error| matches!(error, Error::Determinism { .. }))
    {
        true => Ok(()),
        false => Err(format!("{errors:?} for levels that cannot be kept").into()),
    }
}

fn streams(device: &Device) -> Result<(), Failed> {
    let keys: Vec<u32> = (0..3000).map(|i| i % 7).collect();
    for _ in 0..2 {
        check(&device.new_stream()?, &keys, 4)?;
    }
    Ok(())
}
