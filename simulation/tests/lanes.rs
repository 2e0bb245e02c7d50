//! Runs every search for peers, all-reduce of peers and filter in the simulator with all checks, one trial each: every
//! distribution of the keys, and all `n` around the edges of warps and blocks. See `suite` for what is right.

use std::env;
use std::process::ExitCode;

use cuda_sim::{Schedule, Simulator};
use kernels_gpu::entry::Entry;
use kernels_gpu::entry::teaching::LANES;
use kernels_sim::keyed::Keys;
use kernels_sim::lanes::Lanes;
use libtest_mimic::{Arguments, Failed, Trial};

const THREADS: [u32; 3] = [32, 128, 256];

fn main() -> ExitCode {
    let seed = env::var("WARPFOLD_SEED").ok();
    let seed = seed
        .and_then(|seed| seed.parse().ok())
        .unwrap_or_else(|| rand::random::<u32>().into());
    let trials = LANES
        .entries
        .iter()
        .map(|entry| Trial::test(format!("lanes {}", entry.name), move || sweep(*entry, seed)));
    libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit_code()
}

fn sweep(entry: Entry, seed: u64) -> Result<(), Failed> {
    let mut turn = 0;
    for threads in THREADS {
        let block = threads as usize;
        for n in [0, 1, 31, 32, 33, block - 1, block, block + 1, 5 * block + 7] {
            for keys in Keys::ALL {
                for schedule in [Schedule::Forward, Schedule::Reverse, Schedule::Random(seed)] {
                    turn += 1;
                    let fewest = Lanes::new(entry, threads, n);
                    let case = Lanes {
                        blocks: fewest.blocks + turn % 2,
                        keys,
                        start: turn as usize % 3,
                        seed: seed.wrapping_add(turn.into()),
                        ..fewest
                    };
                    let arch = [900, 750][turn as usize / 2 % 2];
                    case.run(Simulator::new().check_all().schedule(schedule).arch(arch))
                        .map_err(|wrong| {
                            format!("{wrong} ({schedule:?}, arch {arch}, seed {seed})")
                        })?;
                }
            }
        }
    }
    Ok(())
}
