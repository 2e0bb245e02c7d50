//! Launches that find runs: random runs of each kind, and the last tile alone.

use kernels_gpu::element::Element;
use kernels_gpu::entry::Entry;
use kernels_sim::kernels::Point;
use kernels_sim::runs::{Drawn, KINDS, Wrong, check, keys, look_back};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use cuda_sim::{Schedule, Simulator};
use kernels_gpu::runs::keys_of_tile;

use crate::attempt::{Attempt, Mode};

/// The tiles in front of the last one: fewer than a warp has lanes, and more.
const IN_FRONT: [usize; 3] = [2, 33, 70];

/// The random schedules of many tiles.
const INTERLEAVED: u64 = 6;

/// Launches these entries under each schedule, until one fails.
pub fn search(entries: &[Entry], mode: Mode) -> Attempt {
    for (round, &schedule) in (0..).zip(mode.schedules()) {
        for case in KINDS * round..KINDS * (round + 1) {
            for entry in entries {
                let simulator = || mode.simulator(schedule);
                let resident = || simulator().resident_blocks(1 + case as u32 % 3);
                let mut launched = match entry.read_bytes[0] {
                    4 => finds::<u32>(entry, case, resident()),
                    8 => finds::<u64>(entry, case, resident()),
                    _ => finds::<Point>(entry, case, resident()),
                };
                if let Some(in_front) = IN_FRONT.get((case % KINDS) as usize)
                    && entry.read_bytes[0] == size_of::<u64>()
                    && launched.is_ok()
                {
                    let random = &mut StdRng::seed_from_u64(case);
                    launched = look_back(entry, *in_front, random, simulator());
                }
                let launch = format!("{}, case {case}, {schedule:?}", entry.name);
                let attempt = match launched {
                    Ok(()) => Attempt::Fine,
                    Err(Wrong::Findings(failure)) => mode.failed(&launch, &failure),
                    Err(wrong) => Attempt::wrong(format!("{launch}\n{wrong}")),
                };
                if matches!(attempt, Attempt::Failed { .. }) {
                    return attempt;
                }
            }
        }
    }
    if mode == Mode::AnswersAlone {
        return Attempt::Fine;
    }
    // Many tiles whose blocks can be interleaved between any two accesses.
    for seed in 0..INTERLEAVED {
        let schedule = Schedule::Random(seed);
        let simulator = mode.simulator(schedule).resident_blocks(8);
        for entry in entries.iter().filter(|entry| entry.read_bytes[0] == 8) {
            let keys: Vec<u64> = (0..8 * keys_of_tile::<u64>() as u64)
                .map(|i| i / 90)
                .collect();
            if let Err(wrong) = check(entry, &keys, 0, true, simulator.clone()) {
                let launch = format!("{}, eight tiles, {schedule:?}", entry.name);
                return match wrong {
                    Wrong::Findings(failure) => mode.failed(&launch, &failure),
                    wrong => Attempt::wrong(format!("{launch}\n{wrong}")),
                };
            }
        }
    }
    Attempt::Fine
}

fn finds<K: Drawn + Element>(entry: &Entry, case: u64, simulator: Simulator) -> Result<(), Wrong> {
    let random = &mut StdRng::seed_from_u64(case);
    let (keys, start) = keys::<K>(random, case % KINDS);
    check(entry, &keys, start, random.random(), simulator)
}
