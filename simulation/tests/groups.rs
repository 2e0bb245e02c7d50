//! Finds, combines and sorts groups in the simulator with all checks.
//!
//! A case has keys of a random kind: all equal, all different, few, many, most of them one of few (as by Zipf's law), or
//! that of an empty slot. It starts with a table that is large enough or must grow. It is right if there are no findings
//! under any schedule and the groups are those of a map.
//!
//! [`trials`](kernels_sim::trials) says how many cases there are.

use std::process::ExitCode;

use kernels_gpu::element::Element;
use kernels_gpu::entry::Segments;
use kernels_gpu::groups::insert::FREQUENT;
use kernels_gpu::groups::parts::sample::SAMPLED;
use kernels_gpu::groups::parts::split;
use kernels_gpu::groups::sort::pairs_of_tile;
use kernels_gpu::groups::{GroupKey, NONE, RADIX};
use kernels_gpu::op::{Max, Min, Op, Sum};
use kernels_sim::groups::{
    Drawn, KINDS, Launches, PartSizes, Value, keys, keys_of_parts, largest_part, spread_keys,
};
use kernels_sim::trials::{count_case, rounds, run, simulators};
use libtest_mimic::{Failed, Trial};
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};

fn main() -> ExitCode {
    run("groups", trials)
}

fn trials(seed: u64) -> Vec<Trial> {
    vec![
        Trial::test("groups of u32", move || group::<u32>(seed)),
        Trial::test("groups of u64", move || group::<u64>(seed)),
        Trial::test("sums of i32 by u32", move || {
            combine::<u32, i32, _>(Sum, seed)
        }),
        Trial::test("sums of u64 by u64", move || {
            combine::<u64, u64, _>(Sum, seed)
        }),
        Trial::test("sums of f32 by u32", move || {
            combine::<u32, f32, _>(Sum, seed)
        }),
        Trial::test("minima of f64 by u64", move || {
            combine::<u64, f64, _>(Min, seed)
        }),
        Trial::test("maxima of i64 by u32", move || {
            combine::<u32, i64, _>(Max, seed)
        }),
        Trial::test("a table that grows several times", move || growth(seed)),
        Trial::test("a table that becomes full", move || full(seed)),
        Trial::test("keys with one hash", move || one_hash(seed)),
        Trial::test("a key that is frequent in the sample", move || {
            frequent(seed)
        }),
        Trial::test("a frequent key without a slot", move || {
            frequent_in_full(seed)
        }),
        Trial::test("sums of f32 by parts", move || parts::<f32, _>(Sum, seed)),
        Trial::test("minima of i32 by parts", move || parts::<i32, _>(Min, seed)),
        Trial::test("a sample of keys", move || sample(seed)),
        Trial::test("sort of u32", move || sort::<u32>(seed)),
        Trial::test("sort of u64", move || sort::<u64>(seed)),
        Trial::test("more tiles than a thread scans at once", move || {
            many_tiles(seed)
        }),
        Trial::test("more tiles than a block scans at once", move || scan(seed)),
        Trial::test("values of several words", move || values(seed)),
        Trial::test("positions, and words of one value", move || positions(seed)),
    ]
}

/// The launches of a case under each schedule.
fn launches(random: &mut StdRng, seed: u64) -> impl Iterator<Item = (String, Launches)> + use<> {
    let slots = 1 << random.random_range(1..14);
    let most_probes = [1, 3, 16, 256][random.random_range(0..4)];
    let blocks = random.random_range(1..5);
    let threads = [32, 96, 256][random.random_range(0..3)];
    let bins = [2, 50, 1024, 1500][random.random_range(0..4)];
    let simulators = simulators(seed).into_iter().zip(1..);
    simulators.map(move |((schedule, simulator), resident)| {
        let launches = Launches {
            simulator: simulator.resident_blocks(resident),
            blocks,
            threads,
            bins,
            slots,
            most_probes,
            entries: vec![],
        };
        (schedule, launches)
    })
}

fn group<K: Drawn>(seed: u64) -> Result<(), Failed> {
    rounds(seed, KINDS, 3 * KINDS, |seed| -> Result<(), Failed> {
        let random = &mut StdRng::seed_from_u64(seed);
        let keys = keys::<K>(random, seed % KINDS);
        for (schedule, launches) in launches(random, seed) {
            launches
                .check_groups(&keys)
                .map_err(|wrong| format!("{wrong} ({schedule})"))?;
        }
        Ok(())
    })
}

fn combine<K: Drawn, T: Value, O: Segments<T> + Op<T, Acc = T>>(
    op: O,
    seed: u64,
) -> Result<(), Failed> {
    rounds(seed, KINDS, 3 * KINDS, |seed| -> Result<(), Failed> {
        let random = &mut StdRng::seed_from_u64(seed);
        let keys = keys::<K>(random, seed % KINDS);
        let values: Vec<T> = keys.iter().map(|_| T::drawn(random)).collect();
        for (schedule, launches) in launches(random, seed) {
            launches
                .check_values(op, &keys, &values)
                .map_err(|wrong| format!("{wrong} ({schedule})"))?;
        }
        Ok(())
    })
}

/// Every third item has one of two keys, and the others hardly ever occur twice.
fn frequent(seed: u64) -> Result<(), Failed> {
    let random = &mut StdRng::seed_from_u64(seed);
    let keys: Vec<u32> = (0..10_000u32)
        .map(|i| match i % 3 {
            0 => 7 + i / 3 % 2,
            _ => i.wrapping_mul(0x9E37_79B1),
        })
        .collect();
    check_frequent(random, seed, &keys, 1 << 16)
}

/// Frequent keys that need more probes than there may be, so that they own no bin before the table grows.
fn frequent_in_full(seed: u64) -> Result<(), Failed> {
    let random = &mut StdRng::seed_from_u64(seed);
    let is_first = |key: &u32| key.hash() >> (64 - 7) == 0;
    let one_hash: Vec<u32> = (0..).filter(is_first).take(40).collect();
    let keys: Vec<u32> = (0..6000).map(|i| one_hash[i % 40]).collect();
    check_frequent(random, seed, &keys, 64)
}

fn check_frequent(
    random: &mut StdRng,
    seed: u64,
    keys: &[u32],
    slots: usize,
) -> Result<(), Failed> {
    let values: Vec<f32> = keys.iter().map(|_| f32::drawn(random)).collect();
    for (schedule, launches) in launches(random, seed) {
        let launches = Launches {
            threads: FREQUENT,
            bins: 1024,
            slots,
            most_probes: 8,
            ..launches
        };
        launches
            .check_values(Sum, keys, &values)
            .map_err(|wrong| format!("{wrong} ({schedule})"))?;
    }
    count_case();
    Ok(())
}

/// From two slots on, with tiles that warps must leave.
fn growth(seed: u64) -> Result<(), Failed> {
    let random = &mut StdRng::seed_from_u64(seed);
    let keys: Vec<u64> = (0..8000).map(|i| i % 3000).collect();
    let values = vec![1i64; keys.len()];
    for (_, launches) in launches(random, seed) {
        let launches = Launches {
            slots: 2,
            most_probes: 256,
            ..launches
        };
        let growth = launches
            .check_values(Sum, &keys, &values)
            .map_err(|wrong| wrong.to_string())?;
        if growth.tables < 5 || growth.stopped == 0 {
            return Err(format!("the table did not grow: {growth}").into());
        }
    }
    count_case();
    Ok(())
}

/// One block alone, and a table in which there is a slot for every key: the warps must stop before the table is full.
fn full(seed: u64) -> Result<(), Failed> {
    let (schedule, simulator) = &simulators(seed)[0];
    let launches = Launches {
        simulator: simulator.clone(),
        blocks: 1,
        threads: 64,
        bins: 100,
        slots: 1 << 13,
        most_probes: 1 << 13,
        entries: vec![],
    };
    let keys = spread_keys(1 << 13, 8000);
    count_case();
    launches
        .check_groups(&keys)
        .map_err(|wrong| format!("{wrong} ({schedule})").into())
}

/// Keys whose search begins at the same slot of every table: only the last table, which has no limit, holds them.
fn one_hash(seed: u64) -> Result<(), Failed> {
    let random = &mut StdRng::seed_from_u64(seed);
    let is_first = |key: &u32| key.hash() >> (64 - 13) == 0;
    let keys: Vec<u32> = (0..).filter(is_first).take(700).collect();
    for (schedule, launches) in launches(random, seed) {
        let launches = Launches {
            most_probes: 16,
            ..launches
        };
        launches
            .check_groups(&keys)
            .map_err(|wrong| format!("{wrong} ({schedule})"))?;
    }
    count_case();
    Ok(())
}

/// Parts with room for all pairs and keys, with too little for some, and with pairs of a key that a bin might reserve.
fn parts<T: Value, O: Segments<T> + Op<T, Acc = T>>(op: O, seed: u64) -> Result<(), Failed> {
    rounds(seed, 6, 6, |seed| -> Result<(), Failed> {
        let random = &mut StdRng::seed_from_u64(seed);
        let n = [
            random.random_range(1..70),
            split::TILE - 1 + random.random_range(0..3),
            random.random_range(1..2 * split::TILE),
        ][random.random_range(0..3)];
        let groups = random.random_range(1..200);
        let bins = [20, 60, 128][random.random_range(0..3)];
        // The part of this key is behind many that are empty, which takes time.
        let keys = keys_of_parts(n, groups, seed % 6 == 1);
        let values: Vec<T> = keys.iter().map(|_| T::drawn(random)).collect();
        // A pair too many for the largest part, or just enough room.
        let capacity = largest_part(&keys) - usize::from(seed % 6 == 0);
        for (schedule, launches) in launches(random, seed) {
            launches
                .check_parts(op, &keys, &values, PartSizes { capacity, bins })
                .map_err(|wrong| format!("{wrong} ({schedule})"))?;
        }
        Ok(())
    })
}

/// Few keys, many, keys that are frequent in all rows but not in the first of each warp, and equal neighbours.
fn sample(seed: u64) -> Result<(), Failed> {
    let random = &mut StdRng::seed_from_u64(seed);
    for (schedule, launches) in launches(random, seed) {
        let n = (SAMPLED + random.random_range(0..3 * SAMPLED)) as usize;
        for (groups, run) in [
            (1, 1),
            (300, 1),
            (2000, 1),
            (20_000, 1),
            (u32::MAX, 1),
            (20_000, 7),
        ] {
            let mut keys = vec![];
            while keys.len() < n {
                let key = random.random_range(0..groups);
                keys.extend((0..run).map(|_| key));
            }
            keys.truncate(n);
            launches.check_sample(&keys).map_err(|wrong| {
                format!("{groups} groups in runs of {run}: {wrong} ({schedule})")
            })?;
        }
    }
    count_case();
    Ok(())
}

fn sort<K: Drawn>(seed: u64) -> Result<(), Failed> {
    rounds(seed, 4, 12, |seed| -> Result<(), Failed> {
        let random = &mut StdRng::seed_from_u64(seed);
        let tile = pairs_of_tile::<K>();
        let n = [
            random.random_range(1..70),
            tile - 1 + random.random_range(0..3),
            random.random_range(1..3 * tile),
        ][random.random_range(0..3)];
        let groups = 2f64.powf(random.random_range(0.0..16.0)) as u64;
        let bits = 8 * size_of::<K>() as u32;
        let flip = [0, 1 << (bits - 1)][random.random_range(0..2)];
        let mut shifts: Vec<u32> = (0..bits).step_by(8).collect();
        let is_whole = seed % 4 == 0;
        if !is_whole {
            // One or two digits, because a launch for each takes time.
            shifts.drain(..random.random_range(0..shifts.len()));
            shifts.truncate(random.random_range(1..3));
        }
        let keys: Vec<K> = (0..n)
            .map(|_| match is_whole {
                true => K::numbered(random.random_range(0..=groups)),
                false => K::any(random),
            })
            .collect();
        for (schedule, launches) in launches(random, seed) {
            launches
                .check_sort(&keys, flip, &shifts)
                .map_err(|wrong| format!("{wrong} ({schedule})"))?;
        }
        Ok(())
    })
}

/// Sorts by one digit.
fn many_tiles(seed: u64) -> Result<(), Failed> {
    let random = &mut StdRng::seed_from_u64(seed);
    let tile = pairs_of_tile::<u64>();
    let n = 9 * tile + random.random_range(0..tile);
    let keys: Vec<u64> = (0..n).map(|_| random.random_range(0..3)).collect();
    let (schedule, launches) = launches(random, seed).next().expect("three schedules");
    count_case();
    launches
        .check_sort(&keys, 0, &[0])
        .map_err(|wrong| format!("{wrong} ({schedule})").into())
}

/// Counts of more tiles than a test can sort.
fn scan(seed: u64) -> Result<(), Failed> {
    let random = &mut StdRng::seed_from_u64(seed);
    for (schedule, launches) in launches(random, seed) {
        let tiles = random.random_range(1..6000);
        let counts: Vec<u32> = (0..RADIX as usize * tiles)
            .map(|i| (i as u32).wrapping_mul(0x9E37_79B9) >> 22)
            .collect();
        launches
            .check_scan(&counts, 3)
            .map_err(|wrong| format!("{wrong} ({schedule})"))?;
    }
    count_case();
    Ok(())
}

fn values(seed: u64) -> Result<(), Failed> {
    fn check<T: Element>(launches: &Launches, from: &[T], indices: &[u32]) -> Result<(), Failed> {
        // Each value once, and some of them not at all.
        let mut to: Vec<u32> = (0..from.len() as u32).rev().collect();
        to.iter_mut().step_by(3).for_each(|index| *index = NONE);
        launches
            .check_gather(from, indices)
            .and_then(|()| launches.check_scatter(from, &to, from[0], from.len() + 1))
            .map_err(|wrong| wrong.to_string().into())
    }
    let random = &mut StdRng::seed_from_u64(seed);
    for (_, launches) in launches(random, seed) {
        let n = random.random_range(1..700);
        let indices: Vec<u32> = (0..random.random_range(1..2000))
            .map(|_| random.random_range(0..n))
            .collect();
        let n = n as usize;
        let bytes: Vec<u8> = (0..n).map(|_| random.random()).collect();
        check(&launches, &bytes, &indices)?;
        let halves: Vec<u16> = (0..n).map(|_| random.random()).collect();
        check(&launches, &halves, &indices)?;
        let pairs: Vec<[u64; 2]> = (0..n).map(|_| [random.random(), random.random()]).collect();
        check(&launches, &pairs, &indices)?;
    }
    count_case();
    Ok(())
}

fn positions(seed: u64) -> Result<(), Failed> {
    let random = &mut StdRng::seed_from_u64(seed);
    for (_, launches) in launches(random, seed) {
        let n = random.random_range(1..2000);
        let mut permutation: Vec<u32> = (0..n).collect();
        permutation.shuffle(random);
        launches
            .check_invert(&permutation)
            .and_then(|()| launches.check_fill(random.random::<u8>(), n as usize))
            .and_then(|()| launches.check_fill(random.random::<u64>(), n as usize))
            .map_err(|wrong| wrong.to_string())?;
    }
    count_case();
    Ok(())
}
