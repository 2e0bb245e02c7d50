//! Launches that find, combine, sort and move groups.

use kernels_gpu::entry::{Entry, Segments};
use kernels_gpu::groups::parts::sample::SAMPLED;
use kernels_gpu::groups::parts::split::TILE;
use kernels_gpu::groups::{NONE, RADIX};
use kernels_gpu::op::{Op, Sum};
use kernels_sim::groups::{
    Drawn, KINDS, Launches, PartSizes, Value, keys, keys_of_parts, largest_part, spread_keys,
};
use kernels_sim::runs::Wrong;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};

use crate::attempt::{Attempt, Mode};

/// Checks the launches of a case.
type Check = fn(&Launches, u64, &mut StdRng) -> Result<(), Wrong>;

/// Launches these entries, and those of the library where none replaces them, under each schedule, until one fails.
pub fn search(entries: &[Entry], mode: Mode) -> Attempt {
    let mut checks: Vec<Check> = vec![];
    for check in entries.iter().flat_map(checks_of) {
        if !checks
            .iter()
            .any(|other| std::ptr::fn_addr_eq(*other, check))
        {
            checks.push(check);
        }
    }
    for (round, &schedule) in (0..).zip(mode.schedules()) {
        for case in KINDS * round..KINDS * (round + 1) {
            for check in &checks {
                let random = &mut StdRng::seed_from_u64(case);
                let launches = Launches {
                    slots: 1 << random.random_range(1..14),
                    most_probes: [1, 3, 16, 256][random.random_range(0..4)],
                    blocks: random.random_range(1..5),
                    threads: [32, 96, 256][random.random_range(0..3)],
                    bins: [2, 50, 1024][random.random_range(0..3)],
                    simulator: mode
                        .simulator(schedule)
                        .resident_blocks(random.random_range(1..4)),
                    entries: entries.to_vec(),
                };
                let launch = format!("{}, case {case}, {schedule:?}", entries[0].name);
                let attempt = match check(&launches, case, random) {
                    Ok(()) => Attempt::Fine,
                    Err(Wrong::Findings(failure)) => mode.failed(&launch, &failure),
                    Err(wrong) => Attempt::wrong(format!("{launch}\n{wrong}")),
                };
                if matches!(attempt, Attempt::Failed { .. }) {
                    return attempt;
                }
            }
        }
    }
    Attempt::Fine
}

/// The checks that launch an entry, the cheapest first.
fn checks_of(entry: &Entry) -> Vec<Check> {
    match (entry.kernel, entry.read_bytes[0]) {
        ("group_insert", 8) => vec![groups::<u64>, full],
        ("group_insert" | "group_list" | "group_number", _) => vec![groups::<u32>],
        ("group_combine", _) if entry.items == "f64" => vec![values::<f64>],
        ("group_combine" | "group_rehash", _) => vec![values::<f32>, growth],
        ("group_split" | "group_collect", _) => vec![parts],
        ("group_sample", _) => vec![sample],
        ("sort_scan", _) => vec![scan, sort],
        ("sort_count" | "sort_scatter", _) => vec![sort],
        _ => vec![moving],
    }
}

fn groups<K: Drawn>(launches: &Launches, case: u64, random: &mut StdRng) -> Result<(), Wrong> {
    launches.check_groups(&keys::<K>(random, case % KINDS))
}

/// One block alone, and a table in which there is a slot for every key: the warps must stop before the table is full.
fn full(launches: &Launches, case: u64, _: &mut StdRng) -> Result<(), Wrong> {
    if !case.is_multiple_of(KINDS) {
        return Ok(());
    }
    let launches = Launches {
        blocks: 1,
        threads: 64,
        slots: 1 << 13,
        most_probes: 1 << 13,
        ..launches.clone()
    };
    launches.check_groups(&spread_keys(1 << 13, 8000))
}

fn values<T: Value>(launches: &Launches, case: u64, random: &mut StdRng) -> Result<(), Wrong>
where
    Sum: Segments<T> + Op<T, Acc = T>,
{
    let keys = keys::<u32>(random, case % KINDS);
    let values: Vec<T> = keys.iter().map(|_| Value::drawn(random)).collect();
    launches.check_values(Sum, &keys, &values).map(drop)
}

/// From two slots on, with tiles that warps must leave.
fn growth(launches: &Launches, case: u64, random: &mut StdRng) -> Result<(), Wrong> {
    if !case.is_multiple_of(KINDS) {
        return Ok(());
    }
    let launches = Launches {
        slots: 2,
        ..launches.clone()
    };
    let keys: Vec<u32> = (0..7000).map(|i| i % 2000).collect();
    let values: Vec<f32> = keys.iter().map(|_| Value::drawn(random)).collect();
    launches.check_values(Sum, &keys, &values).map(drop)
}

/// Parts with room for all pairs and keys, with too little for some, and with a key that a bin might reserve.
fn parts(launches: &Launches, case: u64, random: &mut StdRng) -> Result<(), Wrong> {
    let n = [
        random.random_range(1..70),
        TILE + random.random_range(0..TILE),
    ][case as usize % 2];
    let bins = [20, 60, 128][random.random_range(0..3)];
    // The part of this key is behind many that are empty, which takes time.
    let keys = keys_of_parts(n, random.random_range(1..200), case.is_multiple_of(KINDS));
    let values: Vec<f32> = keys.iter().map(|_| Value::drawn(random)).collect();
    // A pair too many for the largest part, or just enough room.
    let capacity = largest_part(&keys) - usize::from(case % 4 == 3);
    launches.check_parts(Sum, &keys, &values, PartSizes { capacity, bins })
}

fn sample(launches: &Launches, case: u64, random: &mut StdRng) -> Result<(), Wrong> {
    let (groups, run) = [(20_000, 1), (u32::MAX, 1), (2000, 1), (300, 7)][case as usize % 4];
    let n = SAMPLED + random.random_range(0..3 * SAMPLED);
    let runs: Vec<u32> = (0..n).map(|_| random.random_range(0..groups)).collect();
    let keys: Vec<u32> = (0..n as usize).map(|i| runs[i / run]).collect();
    launches.check_sample(&keys)
}

/// Sorts by two digits, of which one has the sign.
fn sort(launches: &Launches, case: u64, random: &mut StdRng) -> Result<(), Wrong> {
    let n = [random.random_range(1..70), random.random_range(1..5000)][case as usize % 2];
    let keys: Vec<u64> = (0..n).map(|_| random.random_range(0..400) << 55).collect();
    launches.check_sort(&keys, 1 << 63, &[48, 56])
}

fn scan(launches: &Launches, _: u64, random: &mut StdRng) -> Result<(), Wrong> {
    let tiles = random.random_range(1..5000);
    let count = |i: usize| (i as u32).wrapping_mul(0x9E37_79B9) >> 22;
    let counts: Vec<u32> = (0..RADIX as usize * tiles).map(count).collect();
    launches.check_scan(&counts, 2)
}

fn moving(launches: &Launches, _: u64, random: &mut StdRng) -> Result<(), Wrong> {
    let n = random.random_range(1..2000);
    let mut permutation: Vec<u32> = (0..n).collect();
    permutation.shuffle(random);
    launches.check_invert(&permutation)?;
    launches.check_fill(random.random::<u8>(), n as usize)?;
    launches.check_fill(random.random::<u64>(), n as usize)?;
    let bytes: Vec<u8> = (0..n).map(|_| random.random()).collect();
    let pairs: Vec<[u64; 2]> = (0..n).map(|_| [random.random(), random.random()]).collect();
    launches.check_gather(&bytes, &permutation)?;
    launches.check_gather(&pairs, &permutation)?;
    permutation
        .iter_mut()
        .step_by(3)
        .for_each(|index| *index = NONE);
    launches.check_scatter(&bytes, &permutation, 7, n as usize)?;
    launches.check_scatter(&pairs, &permutation, [7; 2], n as usize)
}
