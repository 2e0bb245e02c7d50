//! Launches of reductions along axes: random columns of each kind.

use cuda_sim::Simulator;
use kernels_gpu::entry::{Entry, SinglePass};
use kernels_gpu::op::{ArgMax, Max, Sum};
use kernels_sim::axes::{Drawn, KINDS, Kernels, reduce, several_rounds};
use kernels_sim::data::DrawnItems;
use kernels_sim::kernels::Horner;
use kernels_sim::segments::Wrong;
use rand::SeedableRng;
use rand::rngs::StdRng;

use crate::attempt::{Attempt, Mode};

/// The cases of each kind under a schedule.
const ROUNDS: u64 = 4;

/// Launches reductions along axes with these kernels under each schedule, until one fails.
pub fn search(entries: &[Entry], mode: Mode) -> Attempt {
    let find = |name: &str| entries.iter().find(|entry| entry.name == name).copied();
    let kernels = |of: &str| {
        Some(Kernels {
            columns: find(&format!("axes_{of}"))?,
            combine: find(&format!("axes_combine_{of}"))?,
        })
    };
    let sum = kernels("sum_f32");
    let (max, arg_max) = (kernels("max_i32"), kernels("arg_max_f32"));
    let horner = kernels("horner_u32");
    let all = [&sum, &max, &arg_max, &horner];
    assert!(all.iter().any(|kernels| kernels.is_some()));
    for (round, &schedule) in (0..).zip(mode.schedules()) {
        let simulator = || mode.simulator(schedule);
        for case in ROUNDS * KINDS * round..ROUNDS * KINDS * (round + 1) {
            let run = |what: &str, launched: Option<Result<(), Wrong>>| {
                let launch = format!("{what}, case {case}, {schedule:?}");
                match launched? {
                    Ok(()) => None,
                    Err(Wrong::Findings(kernel, failure)) => {
                        match mode.failed(&format!("{kernel}: {launch}"), &failure) {
                            Attempt::Fine => None,
                            failed => Some(failed),
                        }
                    }
                    Err(wrong) => Some(Attempt::wrong(format!("{launch}\n{wrong}"))),
                }
            };
            let partials = sum.as_ref().filter(|_| case % KINDS == 0).map(|kernels| {
                let random = &mut StdRng::seed_from_u64(case);
                several_rounds(&kernels.combine, random, &simulator)
            });
            let failed = run(
                "sums",
                sum.map(|k| reduces::<f32, _>(&k, Sum, case, &simulator)),
            )
            .or_else(|| run("partials", partials))
            .or_else(|| {
                run(
                    "maxima",
                    max.map(|k| reduces::<i32, _>(&k, Max, case, &simulator)),
                )
            })
            .or_else(|| {
                let of_index = arg_max.map(|k| reduces::<f32, _>(&k, ArgMax, case, &simulator));
                run("indices of maxima", of_index)
            })
            .or_else(|| {
                let op = Horner { x: 31 };
                run(
                    "polynomials",
                    horner.map(|k| reduces::<u32, _>(&k, op, case, &simulator)),
                )
            });
            if let Some(failed) = failed {
                return failed;
            }
        }
    }
    Attempt::Fine
}

/// Launches one case.
fn reduces<I: DrawnItems, O: SinglePass<I>>(
    kernels: &Kernels,
    op: O,
    case: u64,
    simulator: &dyn Fn() -> Simulator,
) -> Result<(), Wrong> {
    let mut drawn = Drawn::draw::<I>(&kernels.columns, case % KINDS, case);
    let accumulators = reduce::<I, O>(kernels, op, &drawn, simulator)?;
    drawn
        .check::<I, O>(op, &accumulators)
        .map_err(Wrong::Results)
}
