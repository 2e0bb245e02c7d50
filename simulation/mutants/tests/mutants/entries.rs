//! Launches of entries of the table: the suite's cases, fewer of them.

use kernels_gpu::entry::{ENTRIES, Entry, Function};
use kernels_sim::{Case, Data, Wrong};

use crate::attempt::{Attempt, Mode};
use crate::far;

/// Threads per block: one warp, two, and a tree with steps on either side of a warp.
const BLOCKS: [u32; 3] = [64, 32, 256];

/// Blocks that a launch has more than it needs, and loads that the input begins late by: vectors
/// find a head there.
const SPARE: [(u32, usize); 2] = [(0, 0), (2, 3)];

/// Launches the entries until one fails.
pub fn search(entries: &[Option<(&'static str, Function)>], mode: Mode) -> Attempt {
    let entries: Vec<Entry> = entries.iter().flatten().map(entry).collect();
    assert!(!entries.is_empty(), "no entry of the table runs the code");
    for (round, &schedule) in mode.schedules().iter().enumerate() {
        for (turn, case) in cases(&entries).into_iter().enumerate() {
            let seed = (round * 1000 + turn) as u64;
            let case = Case { seed, ..case };
            let launch = format!("{case}, {schedule:?}");
            let attempt = match case.run(mode.simulator(schedule)) {
                Ok(_) => Attempt::Fine,
                Err(Wrong::Findings { failure, .. }) => mode.failed(&launch, &failure),
                Err(Wrong::Answer { what, .. }) => Attempt::wrong(format!("{launch}\n{what}")),
                Err(wrong @ Wrong::NoOracle { .. }) => panic!("{wrong}"),
            };
            if matches!(attempt, Attempt::Failed { .. }) {
                return attempt;
            }
        }
    }
    far::search(&entries, mode)
}

fn cases(entries: &[Entry]) -> Vec<Case> {
    let mut cases = Vec::new();
    for threads in BLOCKS {
        for n in sizes(threads as usize) {
            for (spare, late) in SPARE {
                cases.extend(entries.iter().map(|entry| {
                    let fewest = Case::new(*entry, threads, n);
                    Case {
                        blocks: fewest.blocks + spare,
                        start: late * entry.start_elements(),
                        data: Data::Whole,
                        ..fewest
                    }
                }));
            }
        }
    }
    cases
}

/// Numbers of elements around the edges of blocks, of two blocks, and of many chunks.
fn sizes(threads: usize) -> [usize; 9] {
    [
        3 * threads + 7,
        threads,
        threads - 1,
        2 * threads + 1,
        9 * threads + 2,
        20 * threads - 5,
        1,
        2,
        0,
    ]
}

/// The table's entry of the name, with the copy's function.
fn entry(&(name, function): &(&str, Function)) -> Entry {
    let Some(entry) = ENTRIES.iter().find(|entry| entry.name == name) else {
        panic!("the table has no {name}");
    };
    Entry { function, ..*entry }
}
