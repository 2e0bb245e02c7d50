//! Calibrates a day of readings and prints how long it was warm, on a GPU or, without one, on the CPU.

use my_project::{KERNELS, Result, calibrate_on_cpu, calibrate_on_gpu, readings};
use my_project_kernels::TimeAbove;
use warpfold::Device;

fn main() -> Result<()> {
    // A GPU if there is one. `with` registers this project's operators.
    let device = Device::auto()?.with(&KERNELS)?;
    match device.fallback_reason() {
        None => println!("on {}", device.name()),
        Some(reason) if std::env::args().any(|arg| arg == "--why") => {
            println!("on the CPU: {reason}")
        }
        Some(_) => println!("on the CPU: no usable CUDA device; `cargo run -- --why` prints the reason"),
    }

    let (gain, offset) = (1.25, -0.5);
    let mut day = readings(2 * 24 * 60 * 60);
    let x = match device.is_gpu() {
        true => {
            let mut x = device.upload(&day)?;
            calibrate_on_gpu(&device, &mut x, gain, offset)?;
            x
        }
        false => {
            calibrate_on_cpu(&mut day, gain, offset);
            device.upload(&day)?
        }
    };

    let seconds = device.reduce(&x, TimeAbove { limit: 25.0 }).run()?;
    println!("above 25 degrees for {:.2} of 24 hours", seconds / 3600.0);
    Ok(())
}
