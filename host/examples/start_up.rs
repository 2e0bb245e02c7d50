//! Start-up times: opening the device, and the first use of each kind of kernel, for which the driver compiles
//! a module or finds it in its cache.
//! ```text
//! CUDA_CACHE_DISABLE=1 start_up     # nothing is cached
//! start_up; start_up                # the second time all is cached, unless the cache is too small
//! ```
//!
//! It requires the feature `teaching`.

use std::process::ExitCode;
use std::time::Instant;

use warpfold::{Algorithm, Device, Error, Sum};

/// Prints how long a step takes.
fn step<R>(name: &str, work: impl FnOnce() -> Result<R, Error>) -> Result<R, Error> {
    let start = Instant::now();
    let result = work()?;
    let milliseconds = start.elapsed().as_secs_f64() * 1e3;
    println!("{milliseconds:>9.2} ms  {name}");
    Ok(result)
}

fn run() -> Result<(), Error> {
    let start = Instant::now();
    let device = step("Device::first()", Device::first)?;
    let ones = step("1000 i32 to the device", || device.upload(&[1i32; 1000]))?;
    let sum = step("their sum", || device.sum(&ones))?;
    let milliseconds = start.elapsed().as_secs_f64() * 1e3;
    println!("{milliseconds:>9.2} ms  from the start to this first result, {sum}");

    step("their sum again", || device.sum(&ones))?;

    let stable = |ones| {
        device
            .reduce(ones, Sum)
            .algorithm(Algorithm::Stable { vector: 4 })
    };
    step("their sum by shuffles", || stable(&ones).run())?;
    step("their sum by shuffles again", || stable(&ones).run())?;

    let ones = step("1000 f64 to the device", || device.upload(&[1f64; 1000]))?;
    step("their sum", || device.sum(&ones))?;
    step("their sum again", || device.sum(&ones))?;
    Ok(())
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("start_up: {error}");
            ExitCode::FAILURE
        }
    }
}
