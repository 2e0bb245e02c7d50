//! Runs every exact sum in the simulator with all checks, two trials each.
//!
//! A trial launches its entry with several numbers of threads and blocks, and all `n` around an edge (zero, a warp, a
//! group, several groups), with all kinds of floats and arrays that start at any element. Another one adds more items to
//! the digits of one warp than they can hold. Each launch has three schedules. It is right if there are no findings, the
//! cells are the sum of the host, item by item, with all bits and flags, the cells of the next launch are 0, and no other
//! memory has changed. The cells must have the same bits under all schedules.
//!
//! By default a fourth of the launches runs ([`Share`]). `WARPFOLD_SEED=<number>` repeats the run with that seed.

use std::env;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use cuda_sim::{Schedule, Simulator};
use kernels_gpu::entry::Entry;
use kernels_gpu::entry::library::KERNELS;
use kernels_sim::exact::{Exact, Floats};
use kernels_sim::share::Share;
use libtest_mimic::{Arguments, Failed, Trial};

/// Threads and blocks.
const GRIDS: [(u32, u32); 4] = [(32, 1), (64, 3), (256, 1), (32, 2)];

/// More offsets than a vector has elements.
const STARTS: usize = 17;

/// Each lane adds less than 2^16 to a digit for every item, so this many of a warp fit into 32 bits.
const MOST_OF_A_WARP: usize = 1 << 15;

static LAUNCHES: AtomicU64 = AtomicU64::new(0);

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let seed = env::var("WARPFOLD_SEED").ok();
    let seed = seed
        .and_then(|seed| seed.parse().ok())
        .unwrap_or_else(|| rand::random::<u32>().into());
    let began = Instant::now();
    let entries = KERNELS.entries.iter();
    let trials = entries
        .filter(|entry| entry.kernel == "exact")
        .flat_map(|entry| {
            let trial = |what, check: fn(Entry, u64) -> Result<(), Failed>| {
                let name = format!("{what} {}", entry.name);
                Trial::test(name, move || check(*entry, seed))
            };
            [trial("simulator", sweep), trial("full digits", full_digits)]
        });
    let conclusion = libtest_mimic::run(&arguments, trials.collect());
    if !arguments.list {
        println!(
            "summary: exact sums: {} launches, all checks on (seed {seed}, {:.1} s)",
            LAUNCHES.load(Ordering::Relaxed),
            began.elapsed().as_secs_f64()
        );
    }
    conclusion.exit_code()
}

/// The number of items that a warp loads at a time: 64 bytes for each lane.
fn group(entry: &Entry) -> usize {
    32 * 64 / entry.read_bytes.iter().sum::<usize>()
}

/// Around zero, a warp and a group; several groups.
fn sizes(group: usize, warps: usize) -> [usize; 11] {
    [
        0,
        1,
        31,
        32,
        33,
        group - 1,
        group,
        group + 1,
        2 * group,
        5 * group + 7,
        (2 * warps + 1) * group + 40,
    ]
}

fn sweep(entry: Entry, seed: u64) -> Result<(), Failed> {
    let (mut turn, share) = (0, Share::of_environment(seed));
    for (threads, blocks) in GRIDS {
        for n in sizes(group(&entry), (threads / 32 * blocks) as usize) {
            for floats in Floats::ALL {
                turn += 1;
                if !share.has(turn) {
                    continue;
                }
                // The arrays of a pair have the same alignment in half of the launches.
                let start = turn % STARTS;
                let case = Exact {
                    blocks,
                    starts: [start, start + turn / STARTS % 2 * (turn % 5)],
                    floats,
                    seed: seed.wrapping_add(turn as u64),
                    ..Exact::new(entry, threads, n)
                };
                run(&case, seed, turn)?;
            }
        }
    }
    Ok(())
}

fn full_digits(entry: Entry, seed: u64) -> Result<(), Failed> {
    let case = Exact {
        floats: Floats::Greatest,
        seed,
        ..Exact::new(entry, 32, MOST_OF_A_WARP + 2 * group(&entry))
    };
    run(&case, seed, 0)
}

/// Launches the case under three schedules.
fn run(case: &Exact, seed: u64, turn: usize) -> Result<(), Failed> {
    let mut cells = None;
    for (schedule, arch) in [
        (Schedule::Forward, 900),
        (Schedule::Reverse, 750),
        (Schedule::Random(seed ^ turn as u64), 800),
    ] {
        let simulator = Simulator::new().check_all().schedule(schedule).arch(arch);
        let launched = case
            .launch(simulator.resident_blocks(1 + turn as u32 % 4))
            .map_err(|wrong| format!("{wrong} ({schedule:?}, arch {arch}, seed {seed})"))?;
        if *cells.get_or_insert_with(|| launched.cells.clone()) != launched.cells {
            return Err(format!("{case}: the cells differ under {schedule:?}").into());
        }
        LAUNCHES.fetch_add(1, Ordering::Relaxed);
    }
    Ok(())
}
