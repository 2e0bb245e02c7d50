//! What test programs with random cases have in common: the seed, rounds, and the number of cases.
//!
//! By default a program runs few cases; with `WARPFOLD_TESTS=all`, many. `WARPFOLD_SEED=<number>` repeats the run with that
//! seed.

use std::env;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use cuda_sim::{Schedule, Simulator};
use libtest_mimic::{Arguments, Failed, Trial};

use crate::share::Share;

static CASES: AtomicU64 = AtomicU64::new(0);

/// Counts a case for the summary.
pub fn count_case() {
    CASES.fetch_add(1, Ordering::Relaxed);
}

/// Runs the trials for a seed, and prints a summary of them: `what` they are.
pub fn run(what: &str, trials: impl FnOnce(u64) -> Vec<Trial>) -> ExitCode {
    let arguments = Arguments::from_args();
    let seed = env::var("WARPFOLD_SEED").ok();
    let seed = seed
        .and_then(|seed| seed.parse().ok())
        .unwrap_or_else(|| rand::random::<u32>().into());
    let began = Instant::now();
    let conclusion = libtest_mimic::run(&arguments, trials(seed));
    if !arguments.list {
        println!(
            "summary: {what}: {} cases, all checks on (seed {seed}, {:.1} s)",
            CASES.load(Ordering::Relaxed),
            began.elapsed().as_secs_f64()
        );
    }
    conclusion.exit_code()
}

/// Calls `case` with a seed for each round, one behind the other, so that each kind of cases has its turn: `few` rounds by
/// default, or `all`.
///
/// # Errors
///
/// Those of the case, with its seed.
pub fn rounds<W: Into<Failed>>(
    seed: u64,
    few: u64,
    all: u64,
    case: impl Fn(u64) -> Result<(), W>,
) -> Result<(), Failed> {
    let rounds = match Share::of_environment(seed) {
        Share::All => all,
        Share::Fourth { .. } => few,
    };
    for seed in (0..rounds).map(|round| seed.wrapping_add(round)) {
        case(seed).map_err(|why| {
            let why = why.into();
            format!("{} (seed {seed})", why.message().unwrap_or("failed"))
        })?;
        count_case();
    }
    Ok(())
}

/// Simulators with all checks that differ in schedule and architecture, and the name of each.
pub fn simulators(seed: u64) -> [(String, Simulator); 3] {
    let schedules = [
        (Schedule::Forward, 900),
        (Schedule::Reverse, 750),
        (Schedule::Random(seed), 800),
    ];
    schedules.map(|(schedule, arch)| {
        let simulator = Simulator::new().check_all().schedule(schedule).arch(arch);
        (format!("{schedule:?}, arch {arch}"), simulator)
    })
}
