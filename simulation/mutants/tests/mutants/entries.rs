//! Launches of entries: some of the cases of their suites.

use std::fmt::Display;

use cuda_sim::{Report, Schedule, Simulator};
use kernels_gpu::entry::{
    Entry, Function, Parameter, count, groups::GROUPS, library, segments::PARTITION, teaching,
};
use kernels_gpu::grid::Storage;
use kernels_gpu::tile::ROWS;
use kernels_sim::copying::Copy;
use kernels_sim::counting::Counting;
use kernels_sim::exact::Exact;
use kernels_sim::keyed::{Keyed, Keys};
use kernels_sim::lanes::Lanes;
use kernels_sim::{Case, Data, WrongCase, kernels};

use crate::attempt::{Attempt, Mode};
use crate::{axes, exact, far, groups, runs, segments};

/// Launches the entries, which are all of one kind, until one fails.
pub fn search(entries: &[(&'static str, Function)], mode: Mode) -> Attempt {
    let entries: Vec<Entry> = entries.iter().filter_map(entry).collect();
    assert!(!entries.is_empty(), "no entry of the lists runs the code");
    match entries[0].kernel {
        kernel if kernel.starts_with("count_") => {
            run_all(mode, &[], &counts(&entries), |case, seed, simulator| {
                Counting { seed, ..*case }.run(simulator)
            })
        }
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
        kernel
            if teaching::LANES
                .entries
                .iter()
                .any(|row| row.kernel == kernel) =>
        {
            run_all(mode, &[], &lanes(&entries), |case, seed, simulator| {
                Lanes { seed, ..*case }.run(simulator)
            })
        }
        "exact" => {
            let cases = exact::cases(&entries);
            run_all(mode, &[], &cases, |case, seed, simulator| {
                Exact { seed, ..*case }.run(simulator)
            })
        }
        kernel if kernel.starts_with("segments") => segments::search(&entries, mode),
        kernel if kernel.starts_with("axes") => axes::search(&entries, mode),
        "find_runs" => runs::search(&entries, mode),
        _ if GROUPS
            .entries
            .iter()
            .any(|row| row.kernel == entries[0].kernel) =>
        {
            groups::search(&entries, mode)
        }
        "group_combine" | "group_collect" => groups::search(&entries, mode),
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
        &PARTITION,
        &GROUPS,
        &count::COUNTS,
        &teaching::KERNELS,
        &teaching::COPIES,
        &teaching::LANES,
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
    for turn in 0..SHAPES {
        for &entry in entries {
            let (threads, n, blocks) = shapes(&entry)[turn];
            let vector = entry.load_items();
            // Also equal values, if indices count.
            let data = match entry.op.starts_with("arg") && turn % 2 == 1 {
                true => Data::Zeroes,
                false => Data::Whole,
            };
            for (starts, skew) in starts(&entry, 1 + turn % vector) {
                // The vectors of an array that starts between two of them may need one more block.
                let most = Case::new(entry, threads, n + vector - 1);
                let case = Case {
                    n,
                    blocks: most.blocks.max(blocks),
                    starts,
                    skew,
                    data,
                    ..most
                };
                cases.extend([(case, 1), (case, 4)]);
            }
        }
    }
    cases
}

/// The number of [`shapes`].
const SHAPES: usize = 14;

/// Threads per block, items, and the fewest blocks; the most effective first.
fn shapes(entry: &Entry) -> [(u32, usize, u32); SHAPES] {
    let vector = entry.load_items();
    let row = 32 * vector;
    let tile = ROWS * row;
    // The first number of blocks that are not one group.
    let groups = |threads: u32| {
        let arrivals = |blocks| Storage::of_grid(blocks, threads, entry.acc_bytes).arrivals;
        (2..)
            .find(|blocks| arrivals(*blocks) > 1)
            .expect("a group has at most 4096 blocks")
    };
    let (of_one_warp, of_two_warps) = (groups(32), groups(64));
    // Groups of groups, if they are small.
    let many = if entry.acc_bytes > 16 { 33 * 32 } else { 0 };
    [
        (64, 5 * tile + 5 * row + vector + 1, 0),
        (32, 2 * tile - 1, 0),
        (128, 9 * tile + 4 * row + 3, 0),
        (32, tile, 3),
        (32, tile + 1, 0),
        // With a start just before a vector's end, all of the tile.
        (32, tile + 1 - vector, 0),
        (64, row - 1, 0),
        (32, vector + 1, 0),
        (32, 1, 0),
        (32, 2 * tile - vector, 2),
        (32, 0, 0),
        (32, of_one_warp as usize * tile + row + 1, 0),
        (64, 2 * tile, of_two_warps + 1),
        (32, 3 * tile, many),
    ]
}

/// Offsets of the arrays: none, `start` elements, and another one for the second array or for structures that are not
/// aligned to their size.
fn starts(entry: &Entry, start: usize) -> Vec<([usize; 3], usize)> {
    let inputs = entry.parameters.iter();
    let inputs = inputs.filter(|one| matches!(one, Parameter::Input(..)));
    let mut starts = vec![([0; 3], 0), ([start; 3], 0)];
    if inputs.count() > 1 {
        starts.push(([start, start + 1, start], 0));
    } else if entry.items.contains('_') {
        starts.extend([([start; 3], 1), ([0; 3], 3)]);
    }
    starts
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
    for (threads, narrow) in [(64, "i16"), (32, "u32"), (256, "u8")] {
        let block = threads as usize;
        for n in [3 * block + 7, block, 9 * block + 2, 2, 0] {
            for keys in KEYS {
                cases.extend(entries.iter().flat_map(|entry| {
                    let fewest = Keyed {
                        keys,
                        key: narrow,
                        data: Data::Whole,
                        ..Keyed::new(*entry, threads, n)
                    };
                    // Additional blocks, and keys that do not start with a vector, although the values do.
                    let unaligned = Keyed {
                        blocks: fewest.blocks + 2,
                        keys_start: 1,
                        ..fewest
                    };
                    [fewest, unaligned]
                }));
            }
        }
    }
    cases
}

fn counts(entries: &[Entry]) -> Vec<Counting> {
    const KEYS: [Keys; 5] = [
        Keys::Outside,
        Keys::Random,
        Keys::Ordered,
        Keys::Distinct,
        Keys::Equal,
    ];
    let mut cases = Vec::new();
    for (threads, blocks, start, spare) in [(64, 3, 3, 0), (32, 1, 0, 9000), (96, 2, 1, 300)] {
        for keys in KEYS {
            cases.extend(entries.iter().flat_map(|entry| {
                let vector = entry.load_items();
                let step = threads as usize * vector;
                let sizes = [9 * step + vector + 1, step, 2 * vector - 1, 0];
                sizes.map(|n| Counting {
                    blocks,
                    keys,
                    spare,
                    start,
                    ..Counting::new(*entry, threads, n)
                })
            }));
        }
    }
    cases
}

fn lanes(entries: &[Entry]) -> Vec<Lanes> {
    // The most effective first.
    const KEYS: [Keys; 4] = [Keys::Random, Keys::Distinct, Keys::Few, Keys::Ordered];
    let mut cases = Vec::new();
    for threads in [64, 32] {
        let block = threads as usize;
        for n in [3 * block + 7, block, 2, 0] {
            for keys in KEYS {
                cases.extend(entries.iter().flat_map(|entry| {
                    let fewest = Lanes {
                        keys,
                        ..Lanes::new(*entry, threads, n)
                    };
                    let more = Lanes {
                        blocks: fewest.blocks + 1,
                        start: 1,
                        ..fewest
                    };
                    [fewest, more]
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
