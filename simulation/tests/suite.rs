//! Runs every rung, Kepler kernel, read ceiling and reduction of triples in the simulator with all checks and
//! counters, one trial each.
//!
//! A trial launches its entry with every number of threads and all `n` around an edge (zero, a warp, a block,
//! a tile, several tiles, many). It uses four schedules: forward, reverse and two random ones. The launches
//! alternate between aligned and unaligned input, all kinds of data, and compute capability 9.0 and 7.5; the
//! last schedule's grid is larger than needed. A launch is right if there are no findings, every output
//! equals a naive loop's, and no other memory has changed.
//!
//! By default a fourth of these launches runs ([`Share`]). The data and two schedules are random;
//! `WARPFOLD_SEED=<number>` repeats the run with that seed.

use std::env;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use cuda_sim::{Report, Schedule, Simulator};
use kernels_gpu::entry::Entry;
use kernels_gpu::entry::teaching::KERNELS;
use kernels_sim::share::Share;
use kernels_sim::{Case, Data};
use libtest_mimic::{Arguments, Failed, Trial};

const THREADS: [u32; 6] = [32, 64, 128, 256, 512, 1024];

/// The offsets of the input in elements.
const STARTS: [usize; 5] = [0, 1, 2, 3, 5];

/// The number of additional blocks.
const SPARE_BLOCKS: [u32; 3] = [1, 2, 5];

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let seed = env::var("WARPFOLD_SEED").ok();
    let seed = seed
        .and_then(|seed| seed.parse().ok())
        .unwrap_or_else(|| rand::random::<u32>().into());
    let began = Instant::now();
    let trials = KERNELS.entries.iter().map(|entry| {
        Trial::test(format!("simulator {}", entry.name), move || {
            sweep(*entry, seed)
        })
    });
    let conclusion = libtest_mimic::run(&arguments, trials.collect());
    if !arguments.list {
        println!(
            "summary: {} (seed {seed}, {:.1} s)",
            DONE.summary(),
            began.elapsed().as_secs_f64()
        );
    }
    conclusion.exit_code()
}

/// Around zero, a warp, a block and a tile; several tiles and many.
fn sizes(threads: usize, tile: usize) -> Vec<usize> {
    let mut sizes = vec![0, 1, 2, 31, 32, 33, 63, 64, 65];
    sizes.extend([threads / 2, threads - 1, threads, threads + 1]);
    sizes.extend([tile - 1, tile, tile + 1, tile + 31]);
    sizes.extend([2 * tile - 1, 2 * tile, 2 * tile + 1]);
    sizes.extend([3 * tile + threads / 2 + 1, 7 * tile + 1001]);
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

fn sweep(entry: Entry, seed: u64) -> Result<(), Failed> {
    let (mut turn, share) = (0, Share::of_environment(seed));
    for threads in THREADS {
        for n in sizes(threads as usize, tile(&entry, threads)) {
            let spare = SPARE_BLOCKS[turn % SPARE_BLOCKS.len()];
            for (schedule, arch, spare) in [
                (Schedule::Forward, 900, 0),
                (Schedule::Reverse, 750, 0),
                (Schedule::Random(seed ^ 1), 900, 0),
                (Schedule::Random(seed ^ 2), 750, spare),
            ] {
                turn += 1;
                if !share.has(turn) {
                    continue;
                }
                let fewest = Case::new(entry, threads, n);
                let case = Case {
                    blocks: fewest.blocks + spare,
                    data: Data::ALL[turn % Data::ALL.len()],
                    starts: [STARTS[turn / Data::ALL.len() % STARTS.len()] * entry.start_elements();
                        3],
                    seed: seed.wrapping_add(turn as u64),
                    ..fewest
                };
                let simulator = Simulator::new().check_all().count();
                let report = case
                    .run(simulator.schedule(schedule).arch(arch))
                    .map_err(|wrong| format!("{wrong} ({schedule:?}, arch {arch}, seed {seed})"))?;
                DONE.add(&case, &report);
            }
        }
    }
    DONE.entries.fetch_add(1, Ordering::Relaxed);
    Ok(())
}

/// The number of elements that a block loads at a time.
fn tile(entry: &Entry, threads: u32) -> usize {
    let per_thread = entry
        .needs
        .per_thread
        .map_or(1, |elements| elements as usize);
    per_thread * entry.load_items() * threads as usize
}

/// The totals of all trials.
struct Done {
    entries: AtomicU64,
    launches: AtomicU64,
    threads: AtomicU64,
    accesses: AtomicU64,
    outputs: AtomicU64,
}

static DONE: Done = Done {
    entries: AtomicU64::new(0),
    launches: AtomicU64::new(0),
    threads: AtomicU64::new(0),
    accesses: AtomicU64::new(0),
    outputs: AtomicU64::new(0),
};

impl Done {
    fn add(&self, case: &Case, report: &Report) {
        let counters = report.counters.as_ref().expect("every launch counts");
        let add = |to: &AtomicU64, what: u64| to.fetch_add(what, Ordering::Relaxed);
        add(&self.launches, 1);
        add(
            &self.threads,
            u64::from(report.blocks) * u64::from(report.threads),
        );
        add(&self.accesses, counters.total().lanes);
        add(&self.outputs, case.entry.needs.outputs(case.blocks) as u64);
    }

    fn summary(&self) -> String {
        let [entries, launches, threads, accesses, outputs] = [
            &self.entries,
            &self.launches,
            &self.threads,
            &self.accesses,
            &self.outputs,
        ]
        .map(|number| number.load(Ordering::Relaxed));
        format!(
            "simulator: {entries} of {} entries, {launches} launches of {threads} threads, all \
             checks and counters on: {accesses} accesses and collectives traced, {outputs} outputs \
             compared",
            KERNELS.entries.len()
        )
    }
}
