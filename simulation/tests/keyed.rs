//! Runs every entry of the keyed table in the simulator with all checks and counters, one trial each.
//!
//! A trial launches its entry with several numbers of threads and all `n` around an edge (zero, a warp, a
//! block, a tile, several tiles). It uses every kind of keys and four schedules. The launches alternate
//! between aligned and unaligned arrays, all kinds of values, compute capability 9.0 and 7.5, and minimal and
//! larger grids. A launch is right if there are no findings, every cell equals a naive loop's, the elements
//! without a cell are counted, and no other memory has changed.
//!
//! By default a fourth of the launches runs ([`Share`]). The data and two schedules are random;
//! `WARPFOLD_SEED=<number>` repeats the run with that seed.

use std::env;
use std::process::ExitCode;

use cuda_sim::{Schedule, Simulator};
use kernels_gpu::entry::Entry;
use kernels_gpu::entry::library::KERNELS;
use kernels_sim::Data;
use kernels_sim::keyed::{Keyed, Keys};
use kernels_sim::share::Share;
use libtest_mimic::{Arguments, Failed, Trial};

const THREADS: [u32; 4] = [32, 96, 256, 1024];

/// The offsets of keys and values.
const STARTS: [(usize, usize); 5] = [(0, 0), (1, 1), (0, 3), (2, 0), (4, 4)];

fn main() -> ExitCode {
    let seed = env::var("WARPFOLD_SEED").ok();
    let seed = seed
        .and_then(|seed| seed.parse().ok())
        .unwrap_or_else(|| rand::random::<u32>().into());
    let entries = KERNELS.entries.iter();
    let trials = entries.filter(|entry| !entry.key.is_empty()).map(|entry| {
        Trial::test(format!("simulator {}", entry.name), move || {
            sweep(*entry, seed)
        })
    });
    libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit_code()
}

/// Around zero, a warp, a block and a tile; several tiles.
fn sizes(threads: usize, tile: usize) -> Vec<usize> {
    let mut sizes = vec![0, 1, 2, 31, 32, 33, 65, 127, 128, 129];
    sizes.extend([threads - 1, threads, threads + 1]);
    sizes.extend([
        tile - 1,
        tile,
        tile + 1,
        2 * tile + 31,
        3 * tile + threads / 2 + 1,
    ]);
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

fn sweep(entry: Entry, seed: u64) -> Result<(), Failed> {
    let (mut turn, share) = (0, Share::of_environment(seed));
    for threads in THREADS {
        let per_thread = entry.needs.per_thread.unwrap_or(1);
        for n in sizes(threads as usize, (threads * per_thread) as usize) {
            for keys in Keys::ALL {
                turn += 1;
                if !share.has(turn) {
                    continue;
                }
                let fewest = Keyed::new(entry, threads, n);
                let (keys_start, values_start) = STARTS[turn % STARTS.len()];
                let case = Keyed {
                    blocks: fewest.blocks + [0, 1, 3][turn % 3],
                    keys,
                    keys_start,
                    values_start,
                    data: Data::ALL[turn / STARTS.len() % Data::ALL.len()],
                    seed: seed.wrapping_add(turn as u64),
                    ..fewest
                };
                let (schedule, arch) = [
                    (Schedule::Forward, 900),
                    (Schedule::Reverse, 750),
                    (Schedule::Random(seed ^ 1), 900),
                    (Schedule::Random(seed ^ 2), 750),
                ][turn / 7 % 4];
                let simulator = Simulator::new().check_all().count();
                case.run(simulator.schedule(schedule).arch(arch))
                    .map_err(|wrong| format!("{wrong} ({schedule:?}, arch {arch}, seed {seed})"))?;
            }
        }
    }
    Ok(())
}
