//! Every call of the library on every device, held against NumPy's answers.
//!
//! The answers are in `tests/data/numpy/answers.jsonl`, which `make.py` there makes and describes.
//! Where we mean something else than NumPy, [`suite`]'s `differences` says so, and nothing else does.
//! Here on the CPU; `simulator.rs` runs the same tests on the simulated GPU, and `tests/gpu` on a CUDA
//! device.

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
