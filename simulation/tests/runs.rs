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

use cuda_sim::{Buffer, Schedule, Simulator};
use kernels_gpu::entry::RunKey;
use kernels_gpu::runs::{THREADS, Work, keys_of_tile};
use kernels_sim::kernels::Point;
use kernels_sim::launch::{Array, bytes_of, launch};
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
        Trial::test("the sum before a tile", move || look_back(seed)),
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

/// Blocks of more tiles than one loads at once.
fn many_tiles(seed: u64) -> Result<(), Failed> {
    let random = &mut StdRng::seed_from_u64(seed);
    let n = 34 * keys_of_tile::<u64>() + random.random_range(0..100);
    let len = random.random_range(1..3000);
    let keys: Vec<u64> = (0..n).map(|i| (i / len) as u64).collect();
    check(&keys, 0, true, [40; 3], seed)
}

/// The last tile alone, behind tiles of which any has a sum: the tiles behind that one only have counts, and those before it
/// must not be added.
fn look_back(seed: u64) -> Result<(), Failed> {
    let random = &mut StdRng::seed_from_u64(seed);
    let tile = keys_of_tile::<u64>();
    for in_front in [1, 2, 31, 32, 33, 63, 64, 65, 100] {
        let with_sum = random.random_range(0..in_front);
        let keys: Vec<u64> = (0..in_front * tile + 100).map(|i| i as u64 / 7).collect();
        let n = keys.len();
        let mut words = vec![0; Work::words(in_front + 1)];
        let mut before = 0;
        for (number, word) in words[Work::TILES..][..in_front].iter_mut().enumerate() {
            let starts = random.random_range(0..tile as u64);
            before += if number >= with_sum { starts } else { 0 };
            *word = starts | [Work::COUNT, Work::SUM][usize::from(number == with_sum)];
        }
        let memory: Buffer<u64> = Buffer::from(&keys);
        let unique: Buffer<u64> = Buffer::uninitialised(n);
        let (narrow, wide): (Buffer<u32>, Buffer<u64>) =
            (Buffer::from(&[]), Buffer::uninitialised(n + 1));
        let words: Buffer<u64> = Buffer::from(&words);
        let arrivals: Buffer<u32> = Buffer::from(&[in_front as u32]);
        let arrays = [
            Array::new("keys", memory.as_ptr(), n),
            Array::new("unique", unique.as_ptr(), n),
            Array::new("narrow", narrow.as_ptr(), 0),
            Array::new("wide", wide.as_ptr(), n + 1),
            Array::new("words", words.as_ptr(), words.len()),
            Array::new("arrivals", arrivals.as_ptr(), 1),
        ];
        let entry = <u64 as RunKey>::ENTRY;
        let simulator = Simulator::new()
            .check_all()
            .schedule(Schedule::Random(seed))
            .grid(1)
            .block(THREADS)
            .dynamic_shared_memory(entry.needs.shared_bytes(THREADS, entry.acc_bytes));
        // SAFETY: the arrays exist, and have the lengths that the kernel requires. The block draws the last tile, and all
        // tiles in front have a count or a sum, which are less than the number of keys in front.
        unsafe { launch(entry, simulator, (), &arrays) }
            .map_err(|failure| format!("{in_front} tiles in front: {failure} (seed {seed})"))?;
        let (first, own) = (in_front * tile, &keys[in_front * tile..]);
        let mut wanted = wanted(own);
        // The tile may continue the run of the tile before.
        let continues = usize::from(own[0] == keys[first - 1]);
        wanted.offsets.drain(..continues);
        let runs = before + wanted.offsets.len() as u64 - 1;
        let words = words.to_vec();
        if words[Work::RUNS] != runs || words[Work::TILES + in_front] != Work::SUM | runs {
            let (got, last) = (words[Work::RUNS], words[Work::TILES + in_front]);
            return Err(format!(
                "{in_front} tiles in front, {with_sum} has the sum: {got} runs and {last:#x} instead of {runs} (seed {seed})"
            )
            .into());
        }
        for (run, offset) in wanted.offsets.iter().enumerate() {
            let at = before as usize + run;
            // SAFETY: the kernel has stored this offset; the simulator found no access out of bounds.
            let got = unsafe { wide.as_ptr().add(at).read() };
            if got != offset + first as u64 {
                return Err(format!(
                    "{in_front} tiles in front: start {at} is {got} (seed {seed})"
                )
                .into());
            }
        }
        CASES.fetch_add(1, Ordering::Relaxed);
    }
    Ok(())
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
