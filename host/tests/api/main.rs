//! Compares every call of the library on every device with NumPy's results.
//!
//! The results are in `tests/data/numpy/answers.jsonl`; `make.py` there writes and describes this file.
//! Intended differences to NumPy are only in [`suite`]'s `differences`. This program runs on the CPU and on
//! the simulated GPU: the library uses a CUDA driver that runs the kernels under `cuda_sim` with all checks.
//! At the end no simulated memory may be allocated. `tests/gpu` runs the same tests on a CUDA device.

mod suite;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};
use warpfold::Device;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    cuda_sim_driver::install().expect("the driver has not been called before");
    let mut trials = suite::on("cpu", Ok(Device::cpu()));
    let simulated = Device::first().expect("the simulated device opens");
    trials.extend(suite::on("simulator", Ok(simulated)));
    trials.extend(suite::of_comparisons());
    trials.push(suite::order::with_numpy());
    trials.push(suite::parts_by_numpy::trial());
    trials.extend([1, 20, 58, 132, 148].map(of_multiprocessors));
    let conclusion = libtest_mimic::run(&arguments, trials);
    let left = cuda_sim_driver::allocated_bytes();
    if left > 0 {
        eprintln!("{left} bytes are still allocated on the simulated device");
        return ExitCode::FAILURE;
    }
    conclusion.exit_code()
}

/// The same bits on a device with so many multiprocessors.
fn of_multiprocessors(count: u32) -> Trial {
    let name = format!("simulator/order: as on the CPU with {count} multiprocessors");
    Trial::test(name, move || {
        let device = Device::nth(cuda_sim_driver::add_device_of(count))?;
        suite::order::on_devices_of(count, &device)
    })
}
