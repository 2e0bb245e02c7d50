//! Finds, combines and sorts groups in the simulator with all checks.
//!
//! A case has keys of a random kind: all equal, all different, few, many, most of them one of few (as by Zipf's law), or
//! that of an empty slot. It starts with a table that is large enough or must grow. It is right if there are no findings
//! under any schedule and the groups are those of a map.
//!
//! By default there are few cases; with `WARPFOLD_TESTS=all`, many. `WARPFOLD_SEED=<number>` repeats the run with that
//! seed.

use std::collections::BTreeMap;
use std::env;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use cuda_sim::{Schedule, Simulator};
use kernels_gpu::element::Element;
use kernels_gpu::entry::Segments;
use kernels_gpu::groups::GroupKey;
use kernels_gpu::groups::insert::items_of_tile;
use kernels_gpu::groups::sort::pairs_of_tile;
use kernels_gpu::op::{Max, Min, Op, Sum};
use kernels_sim::groups::Launches;
use kernels_sim::share::Share;
use libtest_mimic::{Arguments, Failed, Trial};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

static CASES: AtomicU64 = AtomicU64::new(0);

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let seed = env::var("WARPFOLD_SEED").ok();
    let seed = seed
        .and_then(|seed| seed.parse().ok())
        .unwrap_or_else(|| rand::random::<u32>().into());
    let began = Instant::now();
    let trials = vec![
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
        Trial::test("a table that grows several times", move || {
            growth(seed, usize::MAX)
        }),
        Trial::test("a table that grows for partitioned items", move || {
            growth(seed, 0)
        }),
        Trial::test("keys with one hash", move || one_hash(seed)),
        Trial::test("sort of u32", move || sort::<u32>(seed)),
        Trial::test("sort of u64", move || sort::<u64>(seed)),
        Trial::test("more tiles than a block scans at once", move || {
            many_tiles(seed)
        }),
        Trial::test("values of several words", move || values(seed)),
    ];
    let conclusion = libtest_mimic::run(&arguments, trials);
    if !arguments.list {
        println!(
            "summary: groups: {} cases, all checks on (seed {seed}, {:.1} s)",
            CASES.load(Ordering::Relaxed),
            began.elapsed().as_secs_f64()
        );
    }
    conclusion.exit_code()
}

/// A key of random cases.
trait Drawn: GroupKey + Ord {
    /// One of all keys.
    fn any(random: &mut StdRng) -> Self;

    /// The key with this number.
    fn numbered(number: u64) -> Self;
}

macro_rules! drawn {
    ($($key:ident),*) => { $(
        impl Drawn for $key {
            fn any(random: &mut StdRng) -> Self {
                random.random()
            }

            fn numbered(number: u64) -> Self {
                // Some keys differ in their highest bits only.
                (number as Self).rotate_right((number % 3) as u32 * 8)
            }
        }
    )* };
}

drawn!(u32, u64);

/// The kinds of keys.
const KINDS: u64 = 7;

fn keys<K: Drawn>(random: &mut StdRng, kind: u64) -> Vec<K> {
    let tile = items_of_tile::<K>();
    let n = match random.random_range(0..4) {
        0 => random.random_range(1..70),
        1 => tile - 2 + random.random_range(0..5),
        _ => random.random_range(1..3 * tile),
    };
    let groups = 2f64.powf(random.random_range(1.0..12.0)) as u64;
    let one = [K::any(random), K::EMPTY, K::numbered(0)][random.random_range(0..3)];
    let mut key = |i: usize| match kind {
        0 => one,
        1 => K::any(random),
        2 => K::numbered(random.random_range(0..groups)),
        // By Zipf's law, roughly.
        3 | 4 => K::numbered((groups as f64).powf(random.random_range(0.0..1.0)) as u64),
        5 => K::numbered(i as u64 / 40),
        _ => [K::EMPTY, one, K::numbered(i as u64)][random.random_range(0..3)],
    };
    (0..n).map(&mut key).collect()
}

/// The launches of a case under each schedule.
fn launches(random: &mut StdRng, seed: u64) -> impl Iterator<Item = (Schedule, Launches)> + use<> {
    let slots = 1 << random.random_range(1..14);
    let most_probes = [1, 3, 16, 256][random.random_range(0..4)];
    let blocks = random.random_range(1..5);
    let most_direct = [0, 10, 1000, usize::MAX][random.random_range(0..4)];
    let per_block = random.random_range(1..4);
    let schedules = [
        (Schedule::Forward, 900, 1),
        (Schedule::Reverse, 750, 2),
        (Schedule::Random(seed), 800, 3),
    ];
    schedules
        .into_iter()
        .map(move |(schedule, arch, resident)| {
            let simulator = Simulator::new().check_all().schedule(schedule).arch(arch);
            let launches = Launches {
                simulator: simulator.resident_blocks(resident),
                blocks,
                slots,
                most_probes,
                most_direct,
                per_block,
            };
            (schedule, launches)
        })
}

/// Calls `case` with a generator for each round.
fn rounds(
    seed: u64,
    fewest: u64,
    mut case: impl FnMut(&mut StdRng, u64, u64) -> Result<(), Failed>,
) -> Result<(), Failed> {
    let rounds = match Share::of_environment(seed) {
        Share::All => 6 * KINDS,
        Share::Fourth { .. } => fewest,
    };
    for round in 0..rounds {
        let seed = seed.wrapping_add(round);
        let random = &mut StdRng::seed_from_u64(seed);
        case(random, seed % KINDS, seed)
            .map_err(|why| format!("{} (seed {seed})", why.message().unwrap_or("failed")))?;
        CASES.fetch_add(1, Ordering::Relaxed);
    }
    Ok(())
}

fn group<K: Drawn>(seed: u64) -> Result<(), Failed> {
    rounds(seed, KINDS, |random, kind, seed| {
        let keys = keys::<K>(random, kind);
        for (schedule, launches) in launches(random, seed) {
            let (unique, indices, _) = launches
                .group(&keys)
                .map_err(|wrong| format!("{wrong} ({schedule:?})"))?;
            check_groups(&keys, &unique, &indices)
                .map_err(|wrong| format!("{schedule:?}: {wrong}"))?;
        }
        Ok(())
    })
}

/// Every key once, and the right one for each item.
fn check_groups<K: Drawn>(keys: &[K], unique: &[K], indices: &[u32]) -> Result<(), String> {
    let mut sorted = unique.to_vec();
    sorted.sort_unstable();
    let mut wanted = keys.to_vec();
    wanted.sort_unstable();
    wanted.dedup();
    if sorted != wanted {
        return Err(format!("groups {sorted:?} instead of {wanted:?}"));
    }
    for (i, (key, index)) in keys.iter().zip(indices).enumerate() {
        if unique[*index as usize] != *key {
            return Err(format!("item {i} with key {key:?} is in group {index}"));
        }
    }
    Ok(())
}

/// A value of random cases, and the exact result.
trait Value: Element {
    fn drawn(random: &mut StdRng) -> Self;
}

macro_rules! values {
    ($($number:ident),*) => { $(
        impl Value for $number {
            /// A small whole number, so that sums of floats are exact.
            fn drawn(random: &mut StdRng) -> Self {
                random.random_range(0u8..100) as Self
            }
        }
    )* };
}

values!(i32, i64, u64, f32, f64);

fn combine<K: Drawn, T: Value, O: Segments<T> + Op<T, Acc = T>>(
    op: O,
    seed: u64,
) -> Result<(), Failed> {
    rounds(seed, KINDS, |random, kind, seed| {
        let keys = keys::<K>(random, kind);
        let values: Vec<T> = keys.iter().map(|_| T::drawn(random)).collect();
        let mut wanted = BTreeMap::new();
        for (key, value) in keys.iter().zip(&values) {
            let cell = wanted.entry(*key).or_insert(op.initial());
            *cell = op.combine(*cell, *value);
        }
        for (schedule, launches) in launches(random, seed) {
            let (unique, values, growth) = launches
                .combine(op, &keys, &values)
                .map_err(|wrong| format!("{wrong} ({schedule:?})"))?;
            let got: BTreeMap<K, T> = unique.iter().copied().zip(values).collect();
            if got != wanted || unique.len() != wanted.len() {
                return Err(
                    format!("{schedule:?}: {got:?} instead of {wanted:?} ({growth})").into(),
                );
            }
        }
        Ok(())
    })
}

/// From two slots on, with tiles that blocks must leave. Items of more than `most_direct` groups are partitioned.
fn growth(seed: u64, most_direct: usize) -> Result<(), Failed> {
    let random = &mut StdRng::seed_from_u64(seed);
    let keys: Vec<u64> = (0..8000).map(|i| i % 3000).collect();
    let values = vec![1i64; keys.len()];
    for (_, launches) in launches(random, seed) {
        let launches = Launches {
            slots: 2,
            most_probes: 256,
            most_direct,
            per_block: 3,
            ..launches
        };
        let (unique, counts, growth) = launches
            .combine::<u64, i64, _>(Sum, &keys, &values)
            .map_err(|wrong| wrong.to_string())?;
        if growth.tables < 5 || growth.left == 0 || growth.is_partitioned != (most_direct == 0) {
            return Err(format!("the table did not grow: {growth}").into());
        }
        for (key, count) in unique.iter().zip(&counts) {
            let wanted = keys.iter().filter(|other| *other == key).count() as i64;
            if *count != wanted {
                return Err(
                    format!("{count} items of key {key} instead of {wanted} ({growth})").into(),
                );
            }
        }
        if unique.len() != 3000 {
            return Err(format!("{} groups", unique.len()).into());
        }
    }
    CASES.fetch_add(1, Ordering::Relaxed);
    Ok(())
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
        let (unique, indices, _) = launches
            .group(&keys)
            .map_err(|wrong| format!("{wrong} ({schedule:?})"))?;
        check_groups(&keys, &unique, &indices)?;
    }
    CASES.fetch_add(1, Ordering::Relaxed);
    Ok(())
}

fn sort<K: Drawn>(seed: u64) -> Result<(), Failed> {
    rounds(seed, 4, |random, _, seed| {
        let tile = pairs_of_tile::<K>();
        let n = [
            random.random_range(1..70),
            tile - 1 + random.random_range(0..3),
            random.random_range(1..3 * tile),
        ][random.random_range(0..3)];
        let groups = 2f64.powf(random.random_range(0.0..16.0)) as u64;
        let keys: Vec<K> = (0..n)
            .map(|_| K::numbered(random.random_range(0..=groups)))
            .collect();
        let bits = 8 * size_of::<K>() as u32;
        let flip = [0, 1 << (bits - 1)][random.random_range(0..2)];
        let shifts: Vec<u32> = (0..bits).step_by(8).collect();
        let digits = |key: &K| -> Vec<u32> {
            let shifts = shifts.iter().rev();
            shifts.map(|shift| key.digit(*shift, flip)).collect()
        };
        let mut wanted: Vec<u32> = (0..n as u32).collect();
        wanted.sort_by_key(|i| digits(&keys[*i as usize]));
        for (schedule, launches) in launches(random, seed) {
            let (sorted, indices) = launches
                .sort(&keys, flip, &shifts)
                .map_err(|wrong| format!("{wrong} ({schedule:?})"))?;
            if indices != wanted {
                return Err(format!("{schedule:?}: indices {indices:?}").into());
            }
            if (0..n).any(|i| sorted[i] != keys[wanted[i] as usize]) {
                return Err(format!("{schedule:?}: keys {sorted:?}").into());
            }
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
    let (_, launches) = launches(random, seed).next().expect("three schedules");
    let (sorted, indices) = launches
        .sort(&keys, 0, &[0])
        .map_err(|wrong| wrong.to_string())?;
    let mut wanted: Vec<u32> = (0..n as u32).collect();
    wanted.sort_by_key(|i| keys[*i as usize]);
    CASES.fetch_add(1, Ordering::Relaxed);
    match indices == wanted && sorted.is_sorted() {
        true => Ok(()),
        false => Err("the pairs are not sorted".into()),
    }
}

fn values(seed: u64) -> Result<(), Failed> {
    fn check<T: Element>(launches: &Launches, from: &[T], indices: &[u32]) -> Result<(), Failed> {
        let got = launches
            .gather(from, indices)
            .map_err(|wrong| wrong.to_string())?;
        let wanted: Vec<T> = indices.iter().map(|i| from[*i as usize]).collect();
        match got == wanted {
            true => Ok(()),
            false => Err(format!("{got:?} instead of {wanted:?}").into()),
        }
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
    CASES.fetch_add(1, Ordering::Relaxed);
    Ok(())
}
