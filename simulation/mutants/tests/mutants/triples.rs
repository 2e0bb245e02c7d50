//! Launches of sums of triples: their suite's, fewer of them.

use kernels_gpu::entry::Function;
use kernels_gpu::entry::triple::{ENTRIES, TripleEntry};
use kernels_sim::triples::{Triples, WrongTriples};

use crate::attempt::{Attempt, Mode};

/// Launches the entries until one fails.
pub fn search(entries: &[Option<(&'static str, Function)>], mode: Mode) -> Attempt {
    let entries: Vec<TripleEntry> = entries.iter().flatten().map(entry).collect();
    assert!(!entries.is_empty(), "no entry of the table runs the code");
    for &schedule in mode.schedules() {
        for n in [100, 1, 31, 700, 0] {
            for (entry, blocks) in entries.iter().flat_map(|entry| [(entry, 1), (entry, 3)]) {
                let triples = Triples {
                    entry: *entry,
                    threads: 64,
                    blocks,
                    n,
                };
                let launch = format!("{triples}, {schedule:?}");
                let attempt = match triples.run(mode.simulator(schedule)) {
                    Ok(_) => Attempt::Fine,
                    Err(WrongTriples::Findings { failure, .. }) => mode.failed(&launch, &failure),
                    Err(WrongTriples::Answer { what, .. }) => {
                        Attempt::wrong(format!("{launch}\n{what}"))
                    }
                    Err(wrong @ WrongTriples::NoData { .. }) => panic!("{wrong}"),
                };
                if matches!(attempt, Attempt::Failed { .. }) {
                    return attempt;
                }
            }
        }
    }
    Attempt::Fine
}

/// The table's entry of the name, with the copy's function.
fn entry(&(name, function): &(&str, Function)) -> TripleEntry {
    let Some(entry) = ENTRIES.iter().find(|entry| entry.name == name) else {
        panic!("the table has no {name}");
    };
    TripleEntry { function, ..*entry }
}
