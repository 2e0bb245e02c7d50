//! Finds runs of equal keys in the simulator with all checks, a trial for each type of keys.
//!
//! A case has random runs: all of one key, a single run, short ones, around a tile, of several tiles, or of random powers of
//! two; offsets of each width; and keys that start anywhere. It is right if there are no findings under any schedule, the
//! runs are those of a plain loop, and no other memory has changed.
//!
//! [`trials`](kernels_sim::trials) says how many cases there are.

use std::process::ExitCode;

use cuda_sim::{Schedule, Simulator};
use kernels_gpu::entry::RunKey;
use kernels_gpu::runs::keys_of_tile;
use kernels_sim::kernels::{Long, Point};
use kernels_sim::runs::{self, Drawn, KINDS, keys};
use kernels_sim::trials::{count_case, rounds, run, simulators};
use libtest_mimic::{Failed, Trial};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

fn main() -> ExitCode {
    run("runs", |seed| {
        vec![
            trial::<u32>("u32", seed),
            trial::<i32>("i32", seed),
            trial::<u64>("u64", seed),
            trial::<i64>("i64", seed),
            trial::<Point>("a structure", seed),
            trial::<Long>("keys that do not stay in shared memory", seed),
            Trial::test("more tiles than a warp has lanes", move || many_tiles(seed)),
            Trial::test("the sum before a tile", move || look_back(seed)),
            Trial::test("a key that differs from itself", nan),
        ]
    })
}

fn trial<K: Drawn + RunKey>(name: &str, seed: u64) -> Trial {
    Trial::test(format!("runs of {name}"), move || {
        rounds(seed, KINDS, 6 * KINDS, |seed| {
            let random = &mut StdRng::seed_from_u64(seed);
            let (keys, start) = keys::<K>(random, seed % KINDS);
            check(&keys, start, random.random(), [1, 2, 3], seed)
        })
    })
}

/// Compares the runs under each schedule, with this number of resident blocks.
fn check<K: RunKey>(
    keys: &[K],
    start: usize,
    wide: bool,
    resident: [u32; 3],
    seed: u64,
) -> Result<(), Failed> {
    for ((schedule, simulator), resident) in simulators(seed).into_iter().zip(resident) {
        let simulator = simulator.resident_blocks(resident);
        runs::check(K::ENTRY, keys, start, wide, simulator)
            .map_err(|wrong| format!("{}: {wrong} ({schedule})", K::ENTRY.name))?;
    }
    Ok(())
}

/// Blocks of more tiles than one loads at once.
fn many_tiles(seed: u64) -> Result<(), Failed> {
    let random = &mut StdRng::seed_from_u64(seed);
    let n = 34 * keys_of_tile::<u64>() + random.random_range(0..100);
    let len = random.random_range(1..3000);
    let keys: Vec<u64> = (0..n).map(|i| (i / len) as u64).collect();
    count_case();
    check(&keys, 0, true, [40; 3], seed)
}

/// The last tile behind tiles of which any has a sum.
fn look_back(seed: u64) -> Result<(), Failed> {
    let random = &mut StdRng::seed_from_u64(seed);
    for in_front in [1, 2, 31, 32, 33, 63, 64, 65, 100] {
        let simulator = Simulator::new()
            .check_all()
            .schedule(Schedule::Random(seed));
        runs::look_back(<u64 as RunKey>::ENTRY, in_front, random, simulator)
            .map_err(|wrong| format!("{in_front} tiles in front: {wrong} (seed {seed})"))?;
        count_case();
    }
    Ok(())
}

/// Each NaN is a run.
fn nan() -> Result<(), Failed> {
    let (zero, nan) = (Point { x: [0.0; 3] }, Point { x: [f32::NAN; 3] });
    let keys = [nan, nan, zero, zero, nan, zero];
    let found = runs::find(Point::ENTRY, &keys, 0, false, Simulator::new().check_all())
        .map_err(|wrong| wrong.to_string())?;
    match found.offsets == [0, 1, 2, 4, 5, 6] {
        true => check(&keys, 0, false, [1; 3], 0),
        false => Err(format!("starts {:?}", found.offsets).into()),
    }
}
