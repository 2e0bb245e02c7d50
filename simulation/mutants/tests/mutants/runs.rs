//! Launches that find runs: random runs of each kind, and the last tile alone.

use kernels_gpu::element::Element;
use kernels_gpu::entry::Entry;
use kernels_sim::kernels::Point;
use kernels_sim::runs::{Drawn, KINDS, Wrong, check, keys, look_back};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use cuda_sim::Simulator;

use crate::attempt::{Attempt, Mode};

/// The tiles in front of the last one: fewer than a warp has lanes, and more.
const IN_FRONT: [usize; 3] = [2, 33, 70];

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
    Attempt::Fine
}

fn finds<K: Drawn + Element>(entry: &Entry, case: u64, simulator: Simulator) -> Result<(), Wrong> {
    let random = &mut StdRng::seed_from_u64(case);
    let (keys, start) = keys::<K>(random, case % KINDS);
    check(entry, &keys, start, random.random(), simulator)
}
