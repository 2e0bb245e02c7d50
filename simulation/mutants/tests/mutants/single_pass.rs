//! Launches of single passes: their suite's, fewer of them.

use cuda_sim::Schedule;
use kernels_gpu::entry::single_pass::{ENTRIES, Function, Reads, SinglePassEntry};
use kernels_sim::Data;
use kernels_sim::single_pass::{SinglePass, WrongPass};

use crate::attempt::{Attempt, Mode};

/// Threads per block and blocks: fewer and more than the lanes of the warp that takes the partials, and
/// more than all of its lanes have under way at once.
const GRIDS: [(u32, u32); 7] = [
    (64, 3),
    (32, 2),
    (32, 33),
    (32, 130),
    (128, 5),
    (64, 70),
    (32, 1),
];

/// Blocks that run side by side: one after another, and several.
const RESIDENT: [u32; 2] = [1, 4];

/// Launches the entries until one fails.
pub fn search(entries: &[Option<(&'static str, Function)>], mode: Mode) -> Attempt {
    let entries: Vec<SinglePassEntry> = entries.iter().flatten().map(entry).collect();
    assert!(!entries.is_empty(), "no entry of the table runs the code");
    // Blocks that meet can come between any two words of one another.
    let more = (3..12).map(Schedule::Random);
    let more = more.filter(|_| matches!(mode, Mode::Checks));
    let schedules = mode.schedules().iter().copied().chain(more);
    for (round, schedule) in schedules.enumerate() {
        for (turn, pass) in passes(&entries).into_iter().enumerate() {
            let seed = (round * 1000 + turn) as u64;
            let pass = SinglePass { seed, ..pass };
            for resident in RESIDENT {
                let launch = format!("{pass}, {resident} at a time, {schedule:?}");
                let simulator = mode.simulator(schedule).resident_blocks(resident);
                let attempt = match pass.run(simulator) {
                    Ok(_) => Attempt::Fine,
                    Err(WrongPass::Findings { failure, .. }) => mode.failed(&launch, &failure),
                    Err(WrongPass::Answer { what, .. }) => {
                        Attempt::wrong(format!("{launch}\n{what}"))
                    }
                    Err(wrong @ WrongPass::NoOracle { .. }) => panic!("{wrong}"),
                };
                if matches!(attempt, Attempt::Failed { .. }) {
                    return attempt;
                }
            }
        }
    }
    Attempt::Fine
}

fn passes(entries: &[SinglePassEntry]) -> Vec<SinglePass> {
    let mut passes = Vec::new();
    for (threads, blocks) in GRIDS {
        let grid = (threads * blocks) as usize;
        // Where there is one block, enough for all loads that a thread has under way at once.
        let many = (blocks == 1).then_some(17 * grid + 5);
        for n in [5 * grid + 3, grid + 1, 1, 0].into_iter().chain(many) {
            let start = n % 3;
            for entry in entries {
                // Two arrays lie alike, or not.
                let others: &[usize] = match entry.reads {
                    Reads::Two => &[start, start + 1],
                    Reads::One | Reads::OneAndValue => &[0],
                };
                passes.extend(others.iter().map(|&other_start| SinglePass {
                    entry: *entry,
                    threads,
                    blocks,
                    n,
                    start,
                    other_start,
                    data: Data::Whole,
                    seed: 0,
                }));
            }
        }
    }
    passes
}

/// The table's entry of the name, with the copy's function.
fn entry(&(name, function): &(&str, Function)) -> SinglePassEntry {
    let Some(entry) = ENTRIES.iter().find(|entry| entry.name == name) else {
        panic!("the table has no {name}");
    };
    SinglePassEntry { function, ..*entry }
}
