//! The tests that require a CUDA device; ignored without one. The data is random.
//!
//! | variable | effect |
//! |---|---|
//! | `WARPFOLD_SEED=<number>` | repeats a run whose failure printed this seed |
//! | `WARPFOLD_LIGHT=1` | few and small launches, for racecheck, which makes kernels a million times slower |
//! | `WARPFOLD_CALLS=<number>` | the number of calls of each thread in tests with many threads |
//! | `WARPFOLD_ALONE=1` | with one test thread: also compares the device's free memory before and after |

mod allocations;
#[path = "../api/suite/mod.rs"]
mod api;
mod copies;
mod errors;
mod huge;
mod interop;
mod keyed;
mod lab;
mod ladder;
mod lanes;
mod long;
mod oracle;
mod simulator;
mod sizes;
mod streams;
mod triples;
mod usage;
mod values;

use std::env;
use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

fn main() -> ExitCode {
    errors::child();
    let arguments = Arguments::from_args();
    let seed = env::var("WARPFOLD_SEED").ok();
    let seed = seed
        .and_then(|seed| seed.parse().ok())
        .unwrap_or_else(rand::random);
    let lab = lab::Lab::new(seed);
    if let (Some(reason), false) = (lab.absent(), arguments.list) {
        println!("no CUDA device: {reason}");
    }
    let trials = [
        ladder::trials(&lab),
        long::trials(&lab),
        huge::trials(&lab),
        values::trials(&lab),
        errors::trials(&lab),
        usage::trials(&lab),
        simulator::trials(&lab),
        copies::trials(&lab),
        keyed::trials(&lab),
        triples::trials(&lab),
        lanes::trials(&lab),
        streams::trials(&lab),
        interop::trials(&lab),
        allocations::trials(&lab),
        api(&lab),
        api::of_comparisons(),
    ];
    libtest_mimic::run(&arguments, trials.into_iter().flatten().collect()).exit_code()
}

/// The calls of the library, which `tests/api` runs on other devices.
fn api(lab: &lab::Lab) -> Vec<Trial> {
    match lab.device() {
        Ok(device) => api::on("cuda", Ok(device.clone())),
        Err(_) if lab.absent().is_some() => api::on("cuda", Err("no CUDA device")),
        // All other trials report the error.
        Err(_) => vec![],
    }
}
