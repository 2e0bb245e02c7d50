//! Launches of entries that reduce by key: their suite's cases, fewer of them.

use kernels_gpu::entry::keyed::{ENTRIES, Entry, Function};
use kernels_sim::Data;
use kernels_sim::keyed::{Keyed, Keys, WrongKeyed};

use crate::attempt::{Attempt, Mode};

/// Threads per block.
const BLOCKS: [u32; 3] = [64, 32, 256];

/// The likeliest to show something first.
const KEYS: [Keys; 6] = [
    Keys::Ordered,
    Keys::Outside,
    Keys::Random,
    Keys::Few,
    Keys::Equal,
    Keys::Distinct,
];

/// Launches the entries until one fails.
pub fn search(entries: &[Option<(&'static str, Function)>], mode: Mode) -> Attempt {
    let entries: Vec<Entry> = entries.iter().flatten().map(entry).collect();
    assert!(!entries.is_empty(), "no entry of the table runs the code");
    for (round, &schedule) in mode.schedules().iter().enumerate() {
        for (turn, case) in cases(&entries).into_iter().enumerate() {
            let seed = (round * 10_000 + turn) as u64;
            let case = Keyed { seed, ..case };
            let launch = format!("{case}, {schedule:?}");
            let attempt = match case.run(mode.simulator(schedule)) {
                Ok(_) => Attempt::Fine,
                Err(WrongKeyed::Findings { failure, .. }) => mode.failed(&launch, &failure),
                Err(WrongKeyed::Answer { what, .. }) => Attempt::wrong(format!("{launch}\n{what}")),
                Err(wrong @ WrongKeyed::NoOracle { .. }) => panic!("{wrong}"),
            };
            if matches!(attempt, Attempt::Failed { .. }) {
                return attempt;
            }
        }
    }
    Attempt::Fine
}

fn cases(entries: &[Entry]) -> Vec<Keyed> {
    let mut cases = Vec::new();
    for threads in BLOCKS {
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

/// The table's entry of the name, with the copy's function.
fn entry(&(name, function): &(&str, Function)) -> Entry {
    let Some(entry) = ENTRIES.iter().find(|entry| entry.name == name) else {
        panic!("the table has no {name}");
    };
    Entry { function, ..*entry }
}
