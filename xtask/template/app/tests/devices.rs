//! The same results on every device: the CPU, a simulated GPU, and a GPU if there is one.

use std::io::{Write, stderr};

use my_project::{KERNELS, Result, calibrate_on_cpu, calibrate_on_gpu, readings};
use my_project_kernels::{Reading, TimeAbove};
use warpfold::{Device, Error};

const LENGTHS: [usize; 8] = [0, 1, 31, 32, 33, 1000, 4097, 20_001];

/// The result of a loop. Halves of seconds add up without rounding.
fn time_above(readings: &[Reading], limit: f32) -> f64 {
    let warm = readings.iter().filter(|reading| reading.celsius > limit);
    warm.map(|reading| f64::from(reading.seconds)).sum()
}

/// Reduces on a device.
fn check(device: Device) -> Result<()> {
    let device = device.with(&KERNELS)?;
    for len in LENGTHS {
        let readings = readings(len);
        let x = device.upload(&readings)?;
        let limit = 25.0;
        let seconds = device.reduce(&x, TimeAbove { limit }).run()?;
        assert_eq!(seconds, time_above(&readings, limit), "{len} readings");
    }
    Ok(())
}

#[test]
fn on_the_cpu() -> Result<()> {
    check(Device::cpu())
}

#[test]
fn on_a_simulated_gpu() -> Result<()> {
    check(Device::simulated()?)
}

#[test]
fn on_a_gpu() -> Result<()> {
    let device = match Device::first() {
        Ok(device) => device.with(&KERNELS)?,
        Err(reason @ (Error::NoDriver { .. } | Error::NoDevice { .. })) => {
            // Not `eprintln`, whose output is hidden if the test passes.
            writeln!(stderr(), "on_a_gpu is skipped: {reason}")?;
            return Ok(());
        }
        Err(error) => return Err(error.into()),
    };
    check(device.clone())?;
    for len in LENGTHS {
        let mut readings = readings(len);
        let mut x = device.upload(&readings)?;
        calibrate_on_gpu(&device, &mut x, 1.25, -0.5)?;
        calibrate_on_cpu(&mut readings, 1.25, -0.5);
        assert_eq!(device.download(&x)?, readings, "{len} readings");
    }
    Ok(())
}
