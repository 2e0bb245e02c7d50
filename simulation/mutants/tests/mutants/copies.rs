//! Launches of copies: their suite's, fewer of them.

use kernels_gpu::entry::Function;
use kernels_gpu::entry::copy::{CopyEntry, ENTRIES};
use kernels_sim::copying::{Copy, WrongCopy};

use crate::attempt::{Attempt, Mode};

/// Offsets of source and target, in elements: alike, and not.
const OFFSETS: [(usize, usize); 4] = [(0, 0), (3, 3), (1, 0), (0, 2)];

/// Launches the entries until one fails.
pub fn search(entries: &[Option<(&'static str, Function)>], mode: Mode) -> Attempt {
    let entries: Vec<CopyEntry> = entries.iter().flatten().map(entry).collect();
    assert!(!entries.is_empty(), "no entry of the table runs the code");
    for (round, &schedule) in mode.schedules().iter().enumerate() {
        for (turn, copy) in copies(&entries).into_iter().enumerate() {
            let copy = Copy {
                seed: (round * 1000 + turn) as u64,
                ..copy
            };
            let launch = format!("{copy}, {schedule:?}");
            let attempt = match copy.run(mode.simulator(schedule)) {
                Ok(_) => Attempt::Fine,
                Err(WrongCopy::Findings { failure, .. }) => mode.failed(&launch, &failure),
                Err(WrongCopy::Answer { what, .. }) => Attempt::wrong(format!("{launch}\n{what}")),
            };
            if matches!(attempt, Attempt::Failed { .. }) {
                return attempt;
            }
        }
    }
    Attempt::Fine
}

fn copies(entries: &[CopyEntry]) -> Vec<Copy> {
    let mut copies = Vec::new();
    for n in [1000, 64, 5, 1, 0] {
        for (from, to) in OFFSETS {
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

/// The table's entry of the name, with the copy's function.
fn entry(&(name, function): &(&str, Function)) -> CopyEntry {
    let Some(entry) = ENTRIES.iter().find(|entry| entry.name == name) else {
        panic!("the table has no {name}");
    };
    CopyEntry { function, ..*entry }
}
