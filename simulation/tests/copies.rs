//! Runs every copy in the simulator with all checks and counters, one trial each.
//!
//! A trial copies between all offsets within 32 bytes. It also copies around all edges of words, warps,
//! blocks and grids, with some offsets. A launch is right if there are no findings, the target equals the
//! source, no other memory has changed, and each byte was copied once, in the widest words that both
//! alignments allow.

use std::env;
use std::process::ExitCode;

use cuda_sim::{InstructionKind, Schedule, Simulator, Space};
use kernels_gpu::entry::Entry;
use kernels_gpu::entry::teaching::COPIES;
use kernels_sim::copying::Copy;
use libtest_mimic::{Arguments, Failed, Trial};

/// The range of offsets in bytes: the widest word.
const OFFSETS: usize = 32;

const ARCHES: [u32; 3] = [900, 750, 1000];

fn main() -> ExitCode {
    let seed = env::var("WARPFOLD_SEED").ok();
    let seed = seed
        .and_then(|seed| seed.parse().ok())
        .unwrap_or_else(|| rand::random::<u32>().into());
    let trials = COPIES.entries.iter().flat_map(|entry| {
        let trial = |what, check: fn(Entry, u64) -> Result<(), Failed>| {
            Trial::test(format!("{what} {}", entry.name), move || {
                check(*entry, seed).map_err(|wrong| {
                    format!("{}\n(seed {seed})", wrong.message().unwrap_or_default()).into()
                })
            })
        };
        [
            trial("every offset", every_offset),
            trial("every edge", every_edge),
            trial("sectors", sectors),
        ]
    });
    libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit_code()
}

fn schedules(seed: u64) -> [Schedule; 4] {
    let random = |turn| Schedule::Random(seed ^ turn);
    [Schedule::Forward, Schedule::Reverse, random(1), random(2)]
}

fn check_all(schedule: Schedule) -> Simulator {
    Simulator::new().check_all().count().schedule(schedule)
}

/// Lengths around the number of elements in a word.
fn lengths(word: usize) -> [usize; 12] {
    [
        0,
        1,
        2,
        word - 1,
        word,
        word + 1,
        2 * word - 1,
        2 * word,
        2 * word + 1,
        31,
        33,
        32 * word + 5,
    ]
}

fn every_offset(entry: Entry, seed: u64) -> Result<(), Failed> {
    let offsets = OFFSETS / entry.read_bytes[0];
    let mut turn = 0;
    for from in 0..offsets {
        for to in 0..offsets {
            for n in lengths(offsets) {
                let copy = Copy {
                    entry,
                    threads: 32,
                    blocks: 1 + (turn % 2) as u32,
                    n,
                    from,
                    to,
                    arch: ARCHES[turn % ARCHES.len()],
                    seed: seed ^ turn as u64,
                };
                let schedule = schedules(seed)[turn % 4];
                copy.run(check_all(schedule))?;
                turn += 1;
            }
        }
    }
    Ok(())
}

fn every_edge(entry: Entry, seed: u64) -> Result<(), Failed> {
    let word = OFFSETS / entry.read_bytes[0];
    let mut turn = 0;
    for threads in [32, 128, 1024] {
        for blocks in [1, 3] {
            let grid = threads as usize * blocks as usize;
            let edges = [threads as usize, grid, word * grid, 2 * word * grid];
            let sizes = edges
                .into_iter()
                .flat_map(|edge| [edge - 1, edge, edge + 1]);
            for n in sizes.chain(lengths(word)) {
                for (from, to) in [(0, 0), (1, 1), (0, 1), (word - 1, word - 1), (word / 2, 0)] {
                    let copy = Copy {
                        entry,
                        threads,
                        blocks,
                        n,
                        from,
                        to,
                        arch: ARCHES[turn % ARCHES.len()],
                        seed: seed ^ turn as u64,
                    };
                    copy.run(check_all(schedules(seed)[turn % 4]))?;
                    turn += 1;
                }
            }
        }
    }
    Ok(())
}

/// Aligned arrays of whole warps: a warp's request accesses as many 32-byte sectors as each lane has bytes,
/// and there are no additional requests.
fn sectors(entry: Entry, seed: u64) -> Result<(), Failed> {
    for arch in ARCHES {
        let copy = Copy {
            entry,
            threads: 128,
            blocks: 4,
            n: 3 * 128 * 4 * OFFSETS / entry.read_bytes[0],
            from: 0,
            to: 0,
            arch,
            seed,
        };
        let report = copy.run(check_all(Schedule::Forward))?;
        let counters = report.counters.as_ref().expect("every launch counts");
        let bytes = (copy.n * entry.read_bytes[0]) as u64;
        let request = 32 * copy.word() as u64;
        for what in [
            InstructionKind::Load(Space::Global),
            InstructionKind::Store(Space::Global),
        ] {
            let counts = counters.of(what);
            let got = (counts.requests, counts.partial, counts.sectors);
            let expected = (bytes / request, 0, bytes / 32);
            if got != expected {
                return Err(format!(
                    "{copy}: {what:?}: {got:?} requests, partial ones, sectors; expected {expected:?}"
                )
                .into());
            }
        }
    }
    Ok(())
}
