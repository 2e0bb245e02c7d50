//! The tests of `main.rs` on the simulated GPU: the library uses a CUDA driver that runs the kernels under
//! `cuda_sim` with all checks. Afterwards no memory may be allocated.

mod suite;

use std::process::ExitCode;

use libtest_mimic::Arguments;
use warpfold::Device;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    cuda_sim_driver::install().expect("the driver has not been called before");
    let device = Device::first().expect("the simulated device opens");
    let mut trials = suite::on("simulator", Ok(device));
    trials.extend(suite::of_comparisons());
    let conclusion = libtest_mimic::run(&arguments, trials);
    let left = cuda_sim_driver::allocated_bytes();
    if left > 0 {
        eprintln!("{left} bytes are still allocated on the simulated device");
        return ExitCode::FAILURE;
    }
    conclusion.exit_code()
}
