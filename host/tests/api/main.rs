//! Every call of the library on every device, held against NumPy's answers.
//!
//! The answers are in `tests/data/numpy/answers.jsonl`, which `make.py` there makes and describes.
//! Where we mean something else than NumPy, [`suite`]'s `differences` says so, and nothing else does.
//! `simulator.rs` runs the same tests on the simulated GPU.

mod suite;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};
use warpfold::{Device, Error};

/// On the first GPU of this machine. One that is there and does not work fails.
fn on_cuda() -> Vec<Trial> {
    match Device::first() {
        Ok(device) => suite::on("cuda", Ok(device)),
        Err(Error::NoDriver { .. } | Error::NoDevice { .. }) => {
            suite::on("cuda", Err("no CUDA device"))
        }
        Err(broken) => vec![Trial::test("cuda", move || Err(broken.into()))],
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let mut trials = suite::on("cpu", Ok(Device::cpu()));
    trials.extend(on_cuda());
    suite::run(&arguments, trials).exit_code()
}
