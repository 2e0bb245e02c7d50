//! Launches of segmented reductions: random segments of each kind, and then bad offsets.

use kernels_gpu::entry::{Entry, SinglePass};
use kernels_gpu::op::{ArgMax, Sum};
use kernels_gpu::segments::RUN;
use kernels_sim::data::DrawnItems;
use kernels_sim::kernels::Horner;
use kernels_sim::segments::{
    Drawn, KINDS, Kernels, Wrong, combines, overlaps, partitions, parts, reduce, runs_of_parts,
};

use crate::attempt::{Attempt, Mode};

/// The cases of each kind.
const ROUNDS: u64 = 6;

/// Launches segmented reductions with these kernels under each schedule, until one fails.
pub fn search(entries: &[Entry], mode: Mode) -> Attempt {
    let find = |name: &str| entries.iter().find(|entry| entry.name == name).copied();
    let kernels = |of: &str| {
        Some(Kernels {
            partition: find("segments_partition")?,
            window: find(&format!("segments_{of}"))?,
            combine: find(&format!("segments_combine_{of}"))?,
            by_part: find(&format!("segments_by_part_{of}"))?,
        })
    };
    // The last kind, rows without windows, comes between the others, too: there are several of them.
    let cases = (0..ROUNDS * KINDS).flat_map(|case| [(case, case % KINDS), (case, KINDS - 1)]);
    for case in cases.filter(|(case, kind)| *kind == case % KINDS || case % 3 == 0) {
        let sum = kernels("sum_f32").map(|kernels| reduces::<f32, _>(&kernels, Sum, mode, case));
        let horner = kernels("horner_u32")
            .map(|kernels| reduces::<u32, _>(&kernels, Horner { x: 31 }, mode, case));
        let arg_max =
            kernels("arg_max_f32").map(|kernels| reduces::<f32, _>(&kernels, ArgMax, mode, case));
        let (number, kind) = case;
        let large = kernels("sum_f32").filter(|_| kind == 0);
        let large = large.map(|kernels| rare(&kernels, mode, number));
        let attempts = [sum, horner, arg_max, large];
        assert!(
            attempts.iter().any(Option::is_some),
            "the kernels are complete"
        );
        for attempt in attempts.into_iter().flatten() {
            if matches!(attempt, Attempt::Failed { .. }) {
                return attempt;
            }
        }
    }
    Attempt::Fine
}

/// Launches the kernels before and behind the one of the windows for large arrays, and all of them for segments that overlap.
fn rare(kernels: &Kernels, mode: Mode, case: u64) -> Attempt {
    let schedules = mode.schedules();
    let schedule = schedules[(case / KINDS) as usize % schedules.len()];
    let simulator = || mode.simulator(schedule);
    let huge = (2, RUN + 1 + case as usize);
    let launched = partitions(&kernels.partition, case, &simulator)
        .and_then(|()| combines(&kernels.combine, huge, case, &simulator))
        .and_then(|()| overlaps(kernels, &simulator))
        .and_then(|()| parts(kernels, case, &simulator))
        .and_then(|()| match case {
            0 => runs_of_parts(kernels, case, &simulator),
            _ => Ok(()),
        });
    let launch = format!("rare cases, case {case}, {schedule:?}");
    match launched {
        Ok(()) => Attempt::Fine,
        Err(Wrong::Findings(kernel, failure)) => {
            mode.failed(&format!("{kernel}: {launch}"), &failure)
        }
        Err(wrong) => Attempt::wrong(format!("{launch}\n{wrong}")),
    }
}

/// Launches one case of a kind.
fn reduces<I: DrawnItems, O: SinglePass<I>>(
    kernels: &Kernels,
    op: O,
    mode: Mode,
    (case, kind): (u64, u64),
) -> Attempt {
    // A schedule for each case, so that there are many cases.
    let schedules = mode.schedules();
    let schedule = schedules[(case / KINDS) as usize % schedules.len()];
    let simulator = || mode.simulator(schedule);
    let mut drawn = Drawn::draw::<I>(&kernels.window, kind, case);
    let launch = format!("{}, case {case}, {schedule:?}", kernels.window.name);
    let failed = |wrong: Wrong| match wrong {
        Wrong::Findings(kernel, failure) => mode.failed(&format!("{kernel}: {launch}"), &failure),
        wrong => Attempt::wrong(format!("{launch}\n{wrong}")),
    };
    let accumulators = match reduce::<I, O>(kernels, op, &drawn.input, &drawn.parts, &simulator) {
        Ok(accumulators) => accumulators,
        Err(wrong) => return failed(wrong),
    };
    if let Err(what) = drawn.check::<I, O>(op, &accumulators) {
        return Attempt::wrong(format!("{launch}\n{what}"));
    }
    let first_bad = drawn.spoil();
    let ended = reduce::<I, O>(kernels, op, &drawn.input, &drawn.parts, &simulator);
    match drawn.check_spoiled(first_bad, ended) {
        Ok(()) => Attempt::Fine,
        Err(wrong) => failed(wrong),
    }
}
