//! Compares every call of the library on every device with NumPy's results.
//!
//! The results are in `tests/data/numpy/answers.jsonl`, which `make.py` there makes and describes. Intended
//! differences to NumPy are only in [`suite`]'s `differences`. This program runs on the CPU; `simulator.rs`
//! runs the same tests on the simulated GPU, and `tests/gpu` on a CUDA device.

mod suite;

use std::process::ExitCode;

use libtest_mimic::Arguments;
use warpfold::Device;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let mut trials = suite::on("cpu", Ok(Device::cpu()));
    trials.extend(suite::of_comparisons());
    libtest_mimic::run(&arguments, trials).exit_code()
}
