//! Runs every single-pass reduction in the simulator with all checks, one trial each.
//!
//! A trial launches its entry with several numbers of threads, blocks and items around an edge. It uses four
//! schedules, in which the blocks arrive in different orders. A launch is right if there are no findings, the
//! result equals a naive loop's, the arrival counter is 0 again, and no other memory has changed. The result
//! must have the same bits under all four schedules.
//!
//! By default a fourth of the cases runs ([`Share`]). `WARPFOLD_SEED=<number>` repeats the run with that
//! seed.

use std::env;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use cuda_sim::{Schedule, Simulator};
use kernels_gpu::entry::{Entry, library};
use kernels_sim::share::Share;
use kernels_sim::{Case, Data, kernels};
use libtest_mimic::{Arguments, Failed, Trial};

static LAUNCHES: AtomicU64 = AtomicU64::new(0);

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let seed = env::var("WARPFOLD_SEED").ok();
    let seed = seed
        .and_then(|seed| seed.parse().ok())
        .unwrap_or_else(|| rand::random::<u32>().into());
    let began = Instant::now();
    let lists = [&library::KERNELS, &kernels::KERNELS];
    let entries = lists.into_iter().flat_map(|list| list.entries);
    let entries = entries.filter(|entry| entry.kernel == "single_pass");
    let trials: Vec<_> = entries
        .map(|entry| {
            let name = format!("simulator {}", entry.name);
            Trial::test(name, move || sweep(*entry, seed))
        })
        .collect();
    let entries = trials.len();
    let conclusion = libtest_mimic::run(&arguments, trials);
    if !arguments.list {
        println!(
            "summary: single-pass reductions: {entries} entries, {} launches, all checks on (seed {seed}, {:.1} s)",
            LAUNCHES.load(Ordering::Relaxed),
            began.elapsed().as_secs_f64()
        );
    }
    conclusion.exit_code()
}

/// Around zero, a vector, a warp, the grid, and several rounds of the grid.
fn sizes(grid: usize, vector: usize) -> [usize; 12] {
    let round = grid * vector;
    let rounds = 4 * round;
    [
        0,
        1,
        vector - 1,
        vector + 1,
        31,
        33,
        grid + 1,
        round - 1,
        round + vector + 1,
        rounds - 1,
        rounds + 1,
        rounds + 2 * round + 5,
    ]
}

fn sweep(entry: Entry, seed: u64) -> Result<(), Failed> {
    let (mut turn, share) = (0, Share::of_environment(seed));
    let vector = entry.load_items();
    for (threads, blocks) in [(32, 1), (32, 5), (64, 3), (128, 2), (64, 70)] {
        for n in sizes((threads * blocks) as usize, vector) {
            turn += 1;
            if !share.has(turn) {
                continue;
            }
            let mut bits = None;
            // Several arrays with the same alignment, or one with another.
            let mut starts = [turn % (vector + 1); 3];
            starts[1 + turn % 2] += turn / 3 % 2;
            let case = Case {
                blocks,
                starts,
                skew: turn / 5 % 3,
                data: Data::ALL[turn % Data::ALL.len()],
                seed: seed.wrapping_add(turn as u64),
                ..Case::new(entry, threads, n)
            };
            for (schedule, arch) in [
                (Schedule::Forward, 900),
                (Schedule::Reverse, 750),
                (Schedule::Random(seed ^ 1), 900),
                (Schedule::Random(seed ^ turn as u64), 800),
            ] {
                let simulator = Simulator::new().check_all().schedule(schedule).arch(arch);
                let launched = case
                    .launch(simulator.resident_blocks(1 + turn as u32 % 4))
                    .map_err(|wrong| format!("{wrong} ({schedule:?}, arch {arch}, seed {seed})"))?;
                let first = bits.get_or_insert_with(|| launched.bytes.clone());
                if *first != launched.bytes {
                    return Err(format!("{case}: the bits differ under {schedule:?}").into());
                }
                LAUNCHES.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
    Ok(())
}
