//! Finds runs of equal keys in the simulator with all checks, a trial for each type of keys.
//!
//! A case has random runs: all of one key, a single run, short ones, around a tile, of several tiles, or of random powers of
//! two; offsets of each width; and keys that start anywhere. It is right if there are no findings under any schedule, the
//! runs are those of a plain loop, and no other memory has changed.
//!
//! By default there are few cases; with `WARPFOLD_TESTS=all`, many. `WARPFOLD_SEED=<number>` repeats the run with that
//! seed.

use std::env;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use cuda_sim::{Schedule, Simulator};
use kernels_gpu::entry::RunKey;
use kernels_gpu::runs::keys_of_tile;
use kernels_sim::kernels::Point;
use kernels_sim::launch::bytes_of;
use kernels_sim::runs::{Runs, find};
use kernels_sim::share::Share;
use libtest_mimic::{Arguments, Failed, Trial};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

/// The kinds of runs.
const KINDS: u64 = 9;

static CASES: AtomicU64 = AtomicU64::new(0);

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let seed = env::var("WARPFOLD_SEED").ok();
    let seed = seed
        .and_then(|seed| seed.parse().ok())
        .unwrap_or_else(|| rand::random::<u32>().into());
    let began = Instant::now();
    let trials = vec![
        trial::<u32>("u32", seed),
        trial::<i32>("i32", seed),
        trial::<u64>("u64", seed),
        trial::<i64>("i64", seed),
        trial::<Point>("a structure", seed),
        Trial::test("more tiles than a warp has lanes", move || many_tiles(seed)),
        Trial::test("a key that differs from itself", nan),
    ];
    let conclusion = libtest_mimic::run(&arguments, trials);
    if !arguments.list {
        println!(
            "summary: runs: {} cases, all checks on (seed {seed}, {:.1} s)",
            CASES.load(Ordering::Relaxed),
            began.elapsed().as_secs_f64()
        );
    }
    conclusion.exit_code()
}

/// A key of random cases.
trait Drawn: RunKey {
    /// One of few keys that differ in some bits only.
    fn drawn(random: &mut StdRng) -> Self;
}

macro_rules! drawn {
    ($($key:ident),*) => { $(
        impl Drawn for $key {
            fn drawn(random: &mut StdRng) -> Self {
                let bit = random.random_range(0..$key::BITS);
                [0, 1 << bit][random.random_range(0..2)]
            }
        }
    )* };
}

drawn!(u32, i32, u64, i64);

impl Drawn for Point {
    fn drawn(random: &mut StdRng) -> Self {
        // -0.0 equals 0.0.
        let x = [0.0, 0.0, 0.0, 0.0, -0.0, 1.0];
        Self {
            x: std::array::from_fn(|_| x[random.random_range(0..x.len())]),
        }
    }
}

fn trial<K: Drawn>(name: &str, seed: u64) -> Trial {
    Trial::test(format!("runs of {name}"), move || {
        let rounds = match Share::of_environment(seed) {
            Share::All => 6 * KINDS,
            Share::Fourth { .. } => KINDS,
        };
        for round in 0..rounds {
            // Each kind in turn.
            let seed = seed.wrapping_add(round);
            let random = &mut StdRng::seed_from_u64(seed);
            let (keys, start) = keys::<K>(random, seed % KINDS);
            check(&keys, start, random.random(), [1, 2, 3], seed).map_err(|why| {
                format!(
                    "{}: {} (seed {seed})",
                    K::ENTRY.name,
                    why.message().unwrap_or("failed")
                )
            })?;
        }
        Ok(())
    })
}

/// The keys of a case in memory, and where they start.
fn keys<K: Drawn>(random: &mut StdRng, kind: u64) -> (Vec<K>, usize) {
    let tile = keys_of_tile::<K>();
    let most = 2 * tile + tile / 2;
    let around = |random: &mut StdRng| tile - 2 + random.random_range(0..5);
    let n = match kind {
        0 => random.random_range(1..70),
        1 => around(random),
        2 => tile + around(random),
        _ => random.random_range(1..=most),
    };
    let len = |random: &mut StdRng| match kind {
        3 => 1,
        4 => most,
        5 => random.random_range(1..4),
        6 => around(random),
        7 => 32 * random.random_range(1..20) + random.random_range(0..2),
        _ => 2f64.powf(random.random_range(0.0..12.0)) as usize,
    };
    let start = random.random_range(0..5);
    let mut keys = vec![];
    while keys.len() < start + n {
        // Adjacent runs may have the same key, and so be one.
        let (key, len) = (K::drawn(random), len(random));
        let len = len.min(start + n - keys.len());
        keys.extend(vec![key; len]);
    }
    (keys, start)
}

/// The runs by a plain loop.
fn wanted<K: RunKey>(keys: &[K]) -> Runs<K> {
    let mut runs = Runs {
        keys: vec![],
        offsets: vec![],
    };
    for (i, key) in keys.iter().enumerate() {
        if i == 0 || *key != keys[i - 1] {
            runs.keys.push(*key);
            runs.offsets.push(i as u64);
        }
    }
    runs.offsets.push(keys.len() as u64);
    runs
}

/// Compares the runs under each schedule, with this number of resident blocks.
fn check<K: RunKey>(
    keys: &[K],
    start: usize,
    wide: bool,
    resident: [u32; 3],
    seed: u64,
) -> Result<(), Failed> {
    let wanted = wanted(&keys[start..]);
    for ((schedule, arch), resident) in [
        (Schedule::Forward, 900),
        (Schedule::Reverse, 750),
        (Schedule::Random(seed), 800),
    ]
    .into_iter()
    .zip(resident)
    {
        let simulator = Simulator::new().check_all().schedule(schedule).arch(arch);
        let simulator = simulator.resident_blocks(resident);
        let got = find(keys, start, wide, simulator)
            .map_err(|wrong| format!("{wrong} ({schedule:?}, arch {arch})"))?;
        if got.offsets != wanted.offsets {
            return Err(format!(
                "{schedule:?}: starts {:?} instead of {:?}",
                got.offsets, wanted.offsets
            )
            .into());
        }
        if bytes_of(&got.keys) != bytes_of(&wanted.keys) {
            return Err(format!(
                "{schedule:?}: keys {:?} instead of {:?}",
                got.keys, wanted.keys
            )
            .into());
        }
    }
    CASES.fetch_add(1, Ordering::Relaxed);
    Ok(())
}

/// A block may have to add the counts of more tiles than it loads at once, if it overtakes those before it.
fn many_tiles(seed: u64) -> Result<(), Failed> {
    let random = &mut StdRng::seed_from_u64(seed);
    let n = 34 * keys_of_tile::<u64>() + random.random_range(0..100);
    let len = random.random_range(1..3000);
    let keys: Vec<u64> = (0..n).map(|i| (i / len) as u64).collect();
    check(&keys, 0, true, [40; 3], seed)
}

/// Each NaN is a run.
fn nan() -> Result<(), Failed> {
    let (zero, nan) = (Point { x: [0.0; 3] }, Point { x: [f32::NAN; 3] });
    let keys = [nan, nan, zero, zero, nan, zero];
    let wanted = wanted(&keys);
    match wanted.offsets == [0, 1, 2, 4, 5, 6] {
        true => check(&keys, 0, false, [1; 3], 0),
        false => Err("the plain loop is wrong".into()),
    }
}
