//! Runs every trial on the simulator, with the same expectations as on a device.
//!
//! Environment: `CONFORMANCE_SEED` repeats the data and the random schedule of a run. With
//! `WARPFOLD_TESTS=all` every trial runs in each of the three schedules, and each function of floats has 2^20
//! arguments; otherwise a trial runs in one schedule, which the seed selects, and a function has 2^14 arguments.

use std::env;
use std::process::ExitCode;

use conformance::cases::{self, Print, Trap};
use conformance::simulator::{RUN, Simulated};
use conformance::{Backend, BackendError, Outcome};
use cuda_sim::{Printed, Schedule};
use libtest_mimic::{Arguments, Completion, Failed, Trial};

const SEED: &str = "CONFORMANCE_SEED";

fn main() -> ExitCode {
    let seed = match env::var(SEED) {
        Ok(text) => match text.parse() {
            Ok(seed) => seed,
            Err(error) => {
                eprintln!("{SEED}={text} is not a number: {error}");
                return ExitCode::from(2);
            }
        },
        Err(_) => rand::random(),
    };
    println!("seed {seed:#x} ({SEED}={seed} repeats data and schedule)");
    // The older device has no `redux` and uses shuffles instead.
    let devices = [
        ("forward/sm_90", Schedule::Forward, 900),
        ("reverse/sm_75", Schedule::Reverse, 750),
        ("random/sm_90", Schedule::Random(seed), 900),
    ];
    let is_all = env::var_os("WARPFOLD_TESTS").is_some_and(|tests| tests == "all");
    let arguments = if is_all { 1 << 20 } else { 1 << 14 };
    let mut trials = Vec::new();
    for (index, (name, schedule, arch)) in (0..).zip(devices) {
        let simulated = || Simulated {
            schedule,
            arch,
            printed: Printed::new(),
        };
        // Functions of floats do not depend on the schedule; one schedule is enough for a million arguments
        // each.
        let runs = |(number, trial): &(u64, cases::Trial)| match trial.name.starts_with("float/") {
            true => schedule == Schedule::Forward,
            false => is_all || seed.wrapping_add(*number) % 3 == index,
        };
        trials.extend(
            (0..)
                .zip(cases::trials(arguments))
                .filter(runs)
                .map(|(_, trial)| {
                    let simulated = simulated();
                    Trial::ignorable_test(format!("{name}/{}", trial.name), move || {
                        run(&simulated, &trial, seed)
                    })
                }),
        );
        trials.extend(cases::prints(seed).into_iter().map(|case| {
            let simulated = simulated();
            Trial::test(format!("{name}/{}", case.name), move || {
                print(&simulated, &case, seed)
            })
        }));
        trials.extend(cases::traps().into_iter().map(|trap| {
            let simulated = simulated();
            Trial::test(format!("{name}/{}", trap.name), move || {
                run_trap(&simulated, &trap)
            })
        }));
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn run(simulated: &Simulated, trial: &cases::Trial, seed: u64) -> Result<Completion, Failed> {
    for case in trial.cases(seed) {
        match case.run(simulated) {
            Ok(Outcome::Passed) => {}
            Ok(Outcome::Skipped(reason)) => return Ok(Completion::ignored_with(reason)),
            Err(text) => return Err(format!("{text}\n{SEED}={seed} repeats this").into()),
        }
    }
    Ok(Completion::Completed)
}

/// Checks that the launch prints its lines in the order of the schedule, and has no findings.
fn print(simulated: &Simulated, print: &Print, seed: u64) -> Result<(), Failed> {
    let ran = print.case.run(simulated).map(drop);
    let printed = ran.and_then(|()| print.check(&simulated.printed.take()));
    printed.map_err(|text| format!("{text}\n{SEED}={seed} repeats this").into())
}

/// Checks that the kernel's own panic ends the launch.
fn run_trap(simulated: &Simulated, trap: &Trap) -> Result<(), Failed> {
    let case = trap.case();
    let result = simulated.run(
        &case.launches,
        &case.input,
        &mut case.output.clone(),
        case.scratch_bytes,
    );
    match result {
        Err(BackendError::Launch {
            step: RUN, cause, ..
        }) if trap.finding().iter().all(|part| cause.contains(part)) => Ok(()),
        Err(error) => {
            let expected = trap.finding().join(" ... ");
            Err(format!("expected the kernel's panic, {expected}, got: {error}").into())
        }
        Ok(()) => Err("a thread panicked and the launch did not fail".into()),
    }
}
