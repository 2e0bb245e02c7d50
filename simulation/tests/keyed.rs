//! Runs every entry of the keyed table, and every entry that counts keys, in the simulator with all checks and counters, one trial each.
//!
//! A trial launches its entry with several numbers of threads and all `n` around an edge (zero, a warp, a
//! block, a tile, several tiles). It uses every kind of keys and four schedules. The launches alternate
//! between aligned and unaligned arrays, all kinds of values, compute capability 9.0 and 7.5, and minimal and
//! larger grids, and between keys of 8, 16 and 32 bits. A launch is right if there are no findings, every cell equals a naive loop's, the elements
//! without a cell are counted, and no other memory has changed.
//!
//! By default a fourth of the launches runs ([`Share`]). The data and two schedules are random;
//! `WARPFOLD_SEED=<number>` repeats the run with that seed.

use std::env;
use std::process::ExitCode;

use cuda_sim::{Schedule, Simulator};
use kernels_gpu::entry::Entry;
use kernels_gpu::entry::count::COUNTS;
use kernels_gpu::entry::library::KERNELS;
use kernels_sim::Data;
use kernels_sim::counting::Counting;
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
    let trials = entries
        .filter(|entry| entry.kernel.starts_with("keyed"))
        .map(|entry| {
            Trial::test(format!("simulator {}", entry.name), move || {
                sweep(*entry, seed)
            })
        });
    let counts = COUNTS.entries.iter().map(|entry| {
        Trial::test(format!("simulator {}", entry.name), move || {
            count_sweep(*entry, seed)
        })
    });
    libtest_mimic::run(&Arguments::from_args(), trials.chain(counts).collect()).exit_code()
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
                    key: match entry.key {
                        "u32" => ["u32", "u8", "i16"][turn / 2 % 3],
                        key => key,
                    },
                    keys_start,
                    values_start,
                    data: Data::ALL[turn / STARTS.len() % Data::ALL.len()],
                    seed: seed.wrapping_add(turn as u64),
                    ..fewest
                };
                let (schedule, arch) = schedules(seed)[turn / 7 % 4];
                let simulator = Simulator::new().check_all().count();
                case.run(simulator.schedule(schedule).arch(arch))
                    .map_err(|wrong| format!("{wrong} ({schedule:?}, arch {arch}, seed {seed})"))?;
            }
        }
    }
    Ok(())
}

/// The schedules, and the architectures.
fn schedules(seed: u64) -> [(Schedule, u32); 4] {
    [
        (Schedule::Forward, 900),
        (Schedule::Reverse, 750),
        (Schedule::Random(seed ^ 1), 900),
        (Schedule::Random(seed ^ 2), 750),
    ]
}

/// Counts with numbers of blocks of which some have no share, and of cells for which there are many copies or one.
fn count_sweep(entry: Entry, seed: u64) -> Result<(), Failed> {
    let (mut turn, share) = (0, Share::of_environment(seed));
    let vector = entry.load_items();
    for threads in [32, 96, 512] {
        let step = threads as usize * vector;
        for n in [
            0,
            1,
            2,
            vector - 1,
            vector,
            vector + 1,
            31,
            32,
            33,
            step - 1,
            step,
            step + 1,
            4 * step,
            9 * step + vector + 1,
        ] {
            for keys in Keys::ALL {
                turn += 1;
                if !share.has(turn) {
                    continue;
                }
                let case = Counting {
                    blocks: [1, 2, 3, 7][turn % 4],
                    keys,
                    signed: turn / 3 % 2 == 1,
                    spare: [0, 300, 1100, 9000][turn / 5 % 4],
                    start: [0, 1, 0, 3, 16][turn % 5],
                    seed: seed.wrapping_add(turn as u64),
                    ..Counting::new(entry, threads, n)
                };
                let (schedule, arch) = schedules(seed)[turn / 7 % 4];
                let simulator = Simulator::new().check_all().count();
                case.run(simulator.schedule(schedule).arch(arch))
                    .map_err(|wrong| format!("{wrong} ({schedule:?}, arch {arch}, seed {seed})"))?;
            }
        }
    }
    Ok(())
}
