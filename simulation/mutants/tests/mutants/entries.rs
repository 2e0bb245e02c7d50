//! Launches of entries: some of the cases of their suites.

use std::fmt::Display;

use cuda_sim::{Report, Schedule, Simulator};
use kernels_gpu::entry::{Entry, Function, Parameter, library, teaching};
use kernels_sim::copying::Copy;
use kernels_sim::keyed::{Keyed, Keys};
use kernels_sim::{Case, Data, WrongCase, kernels};

use crate::attempt::{Attempt, Mode};
use crate::far;

/// Launches the entries, which are all of one kind, until one fails.
pub fn search(entries: &[(&'static str, Function)], mode: Mode) -> Attempt {
    let entries: Vec<Entry> = entries.iter().filter_map(entry).collect();
    assert!(!entries.is_empty(), "no entry of the lists runs the code");
    match entries[0].kernel {
        kernel if kernel.starts_with("keyed") => {
            run_all(mode, &[], &keyed(&entries), |case, seed, simulator| {
                Keyed { seed, ..*case }.run(simulator)
            })
        }
        kernel if kernel.starts_with("copy") => {
            run_all(mode, &[], &copies(&entries), |case, seed, simulator| {
                Copy { seed, ..*case }.run(simulator)
            })
        }
        "single_pass" => {
            // Resident blocks can be interleaved between any two accesses.
            let more: Vec<_> = (3..12).map(Schedule::Random).collect();
            let cases = single_pass_cases(&entries);
            run_all(mode, &more, &cases, |(case, resident), seed, simulator| {
                Case { seed, ..*case }.run(simulator.resident_blocks(*resident))
            })
        }
        _ => {
            let cases = reductions(&entries);
            let attempt = run_all(mode, &[], &cases, |case, seed, simulator| {
                Case { seed, ..*case }.run(simulator)
            });
            match attempt {
                Attempt::Fine => far::search(&entries, mode),
                failed => failed,
            }
        }
    }
}

/// The entry with this name and the copy's function.
fn entry(&(name, function): &(&str, Function)) -> Option<Entry> {
    let lists = [
        &library::KERNELS,
        &teaching::KERNELS,
        &teaching::COPIES,
        &kernels::KERNELS,
    ];
    let mut all = lists.into_iter().flat_map(|list| list.entries);
    let entry = all.find(|entry| entry.name == name)?;
    Some(Entry {
        function: Some(function),
        ..*entry
    })
}

/// Launches the cases under each schedule, with different data each time, until one fails. Mode with checks
/// uses more schedules.
fn run_all<C, W: Display>(
    mode: Mode,
    more: &[Schedule],
    cases: &[C],
    run: impl Fn(&C, u64, Simulator) -> Result<Report, WrongCase<W>>,
) -> Attempt {
    let more = match mode {
        Mode::Checks => more,
        Mode::AnswersAlone => &[],
    };
    for (round, &schedule) in (0..).zip(mode.schedules().iter().chain(more)) {
        for (turn, case) in (0..).zip(cases) {
            let attempt = match run(case, round * 10_000 + turn, mode.simulator(schedule)) {
                Ok(_) => Attempt::Fine,
                Err(WrongCase::Findings { case, failure }) => {
                    mode.failed(&format!("{case}, {schedule:?}"), &failure)
                }
                Err(WrongCase::Answer { case, what }) => {
                    Attempt::wrong(format!("{case}, {schedule:?}\n{what}"))
                }
                Err(wrong @ WrongCase::NoOracle { .. }) => panic!("{wrong}"),
            };
            if matches!(attempt, Attempt::Failed { .. }) {
                return attempt;
            }
        }
    }
    Attempt::Fine
}

/// Cases of rungs, Kepler kernels, read ceilings and triples.
fn reductions(entries: &[Entry]) -> Vec<Case> {
    let mut cases = Vec::new();
    // Threads per block: one warp, two, and a tree with steps larger and smaller than a warp.
    for threads in [64, 32, 256] {
        let block = threads as usize;
        // Around the edges of blocks, of two blocks, and of many chunks.
        for n in [
            3 * block + 7,
            block,
            block - 1,
            2 * block + 1,
            9 * block + 2,
            20 * block - 5,
            1,
            2,
            0,
        ] {
            // Additional blocks of a launch, and offsets of the input in loads: vectors then have a head.
            for (spare, late) in [(0, 0), (2, 3)] {
                cases.extend(entries.iter().map(|entry| {
                    let fewest = Case::new(*entry, threads, n);
                    Case {
                        blocks: fewest.blocks + spare,
                        starts: [late * entry.start_elements(); 3],
                        data: Data::Whole,
                        ..fewest
                    }
                }));
            }
        }
    }
    cases
}

/// Each with the number of resident blocks: one, and several.
fn single_pass_cases(entries: &[Entry]) -> Vec<(Case, u32)> {
    let mut cases = Vec::new();
    // Threads per block and blocks: fewer and more than the lanes of the warp that combines the partials, and
    // more than all its lanes have in flight.
    for (threads, blocks) in [
        (64, 3),
        (32, 2),
        (32, 33),
        (32, 130),
        (128, 5),
        (64, 70),
        (32, 1),
    ] {
        let grid = (threads * blocks) as usize;
        // With one block, enough items for all loads that a thread has in flight.
        let many = (blocks == 1).then_some(17 * grid + 5);
        // 513 items are 128 vectors of 4, one tile of a warp for ordered reductions, and one item more.
        let sizes = [5 * grid + 3, grid + 1, 513, 1, 0];
        for (turn, n) in sizes.into_iter().chain(many).enumerate() {
            let start = n % 3;
            for entry in entries {
                // Also equal values, if indices count.
                let data = match entry.op.starts_with("arg") && turn % 2 == 1 {
                    true => Data::Zeroes,
                    false => Data::Whole,
                };
                let inputs = entry.parameters.iter();
                let inputs = inputs.filter(|one| matches!(one, Parameter::Input(..)));
                // Several arrays with equal or different alignment; structures that are not aligned to their
                // size.
                let starts: &[_] = match inputs.count() {
                    1 if entry.items.contains('_') => &[([start; 3], 0), ([start; 3], 1)],
                    1 => &[([start; 3], 0)],
                    _ => &[([start; 3], 0), ([start, start + 1, start], 0)],
                };
                for &(starts, skew) in starts {
                    let case = Case {
                        blocks,
                        starts,
                        skew,
                        data,
                        ..Case::new(*entry, threads, n)
                    };
                    cases.extend([(case, 1), (case, 4)]);
                }
            }
        }
    }
    cases
}

fn keyed(entries: &[Entry]) -> Vec<Keyed> {
    // The most effective first.
    const KEYS: [Keys; 6] = [
        Keys::Ordered,
        Keys::Outside,
        Keys::Random,
        Keys::Few,
        Keys::Equal,
        Keys::Distinct,
    ];
    let mut cases = Vec::new();
    for threads in [64, 32, 256] {
        let block = threads as usize;
        for n in [3 * block + 7, block, 9 * block + 2, 2, 0] {
            for keys in KEYS {
                cases.extend(entries.iter().flat_map(|entry| {
                    let fewest = Keyed {
                        keys,
                        data: Data::Whole,
                        ..Keyed::new(*entry, threads, n)
                    };
                    let blocks = fewest.blocks + 2;
                    [fewest, Keyed { blocks, ..fewest }]
                }));
            }
        }
    }
    cases
}

fn copies(entries: &[Entry]) -> Vec<Copy> {
    let mut copies = Vec::new();
    for n in [1000, 64, 5, 1, 0] {
        // Offsets of source and target in elements: equal and different.
        for (from, to) in [(0, 0), (3, 3), (1, 0), (0, 2)] {
            for blocks in [3, 1] {
                copies.extend(entries.iter().map(|&entry| Copy {
                    entry,
                    threads: 32,
                    blocks,
                    n,
                    from,
                    to,
                    arch: 900,
                    seed: 0,
                }));
            }
        }
    }
    copies
}
