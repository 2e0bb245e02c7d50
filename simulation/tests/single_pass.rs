//! Runs every single-pass reduction in the simulator with all checks, one trial each.
//!
//! A trial launches its entry with several numbers of threads, blocks and items around an edge. It uses four
//! schedules, in which the blocks arrive in different orders. A launch is right if there are no findings, the
//! result equals a naive loop's, the arrival counters are 0 again, and no other memory has changed. The result
//! must have the same bits under all four schedules.
//!
//! By default a fourth of the cases runs ([`Share`]). `WARPFOLD_SEED=<number>` repeats the run with that
//! seed.

use std::process::ExitCode;

use cuda_sim::{Schedule, Simulator};
use kernels_gpu::entry::{Entry, library};
use kernels_gpu::tile::ROWS;
use kernels_sim::share::Share;
use kernels_sim::trials::{count_case, run};
use kernels_sim::{Case, Data, kernels};
use libtest_mimic::{Failed, Trial};

fn main() -> ExitCode {
    run("single-pass reductions", |seed| {
        let lists = [&library::KERNELS, &kernels::KERNELS];
        let entries = lists.into_iter().flat_map(|list| list.entries);
        entries
            .filter(|entry| entry.kernel == "single_pass")
            .map(|entry| {
                let name = format!("simulator {}", entry.name);
                Trial::test(name, move || sweep(*entry, seed))
            })
            .collect()
    })
}

/// Around zero, a vector, a row, a tile, a block and a group of blocks.
fn sizes(threads: usize, vector: usize) -> [usize; 14] {
    let row = 32 * vector;
    let tile = ROWS * row;
    let block = threads / 32 * tile;
    [
        0,
        1,
        vector - 1,
        vector + 1,
        31,
        33,
        row - 1,
        4 * row + vector + 1,
        tile - 1,
        tile,
        tile + 1,
        block + 5 * row + 1,
        3 * block - 1,
        (threads + 2) * block + 3,
    ]
}

fn sweep(entry: Entry, seed: u64) -> Result<(), Failed> {
    let (mut turn, share) = (0, Share::of_environment(seed));
    let vector = entry.load_items();
    for threads in [32, 64, 128] {
        for n in sizes(threads, vector) {
            turn += 1;
            // More than a group of blocks, only of the smallest.
            if !share.has(turn) || (threads > 32 && n > 64 * threads * ROWS * vector) {
                continue;
            }
            let mut bits = None;
            // Several arrays with the same alignment, or one with another.
            let mut starts = [turn % (vector + 1); 3];
            starts[1 + turn % 2] += turn / 3 % 2;
            let new = Case::new(entry, threads as u32, n + vector - 1);
            let case = Case {
                n,
                // Sometimes a block without items; or any number, if a warp takes several tiles.
                blocks: match entry.needs.per_thread {
                    Some(_) => new.blocks + u32::from(turn % 7 == 0),
                    None => 1 + turn as u32 % 5,
                },
                starts,
                skew: turn / 5 % 3,
                data: Data::ALL[turn % Data::ALL.len()],
                seed: seed.wrapping_add(turn as u64),
                ..new
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
                count_case();
            }
        }
    }
    Ok(())
}
