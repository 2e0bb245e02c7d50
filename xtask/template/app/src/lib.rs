//! The program's work on a device, in a library so that tests can call it.

use cust::launch;
use cust::stream::{Stream, StreamFlags};
use my_project_kernels::{Reading, calibrated};
use warpfold::{Buffer, Device};

pub type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

warpfold::embedded!(
    /// The PTX of the crate `my-project-kernels`, which the build script compiles.
    pub static KERNELS: my_project_kernels::KERNELS
);

/// `len` reproducible readings of half a second each, from -40 to 60 degrees.
pub fn readings(len: usize) -> Vec<Reading> {
    let celsius = |i: usize| (i * 7919 % 401) as f32 / 4.0 - 40.0;
    let reading = |i| Reading {
        celsius: celsius(i),
        seconds: 0.5,
    };
    (0..len).map(reading).collect()
}

/// Calibrates readings on the CPU.
pub fn calibrate_on_cpu(readings: &mut [Reading], gain: f32, offset: f32) {
    for reading in readings {
        *reading = calibrated(*reading, gain, offset);
    }
}

/// Calibrates readings in the memory of a GPU, by the kernel `calibrate`.
pub fn calibrate_on_gpu(
    device: &Device,
    readings: &mut Buffer<Reading>,
    gain: f32,
    offset: f32,
) -> Result<()> {
    const THREADS: u32 = 256;
    // The driver compiles the PTX for this device.
    let module = device.module(&KERNELS, "calibration")?;
    let calibrate = module.get_function("calibrate")?;
    let stream = Stream::new(StreamFlags::NON_BLOCKING, None)?;
    let len = readings.len();
    let blocks = len.div_ceil(THREADS as usize).clamp(1, 4096) as u32;
    let address = readings.address()?;
    // SAFETY: the arguments are those of `calibrate`, in order and of the same sizes; `readings` is borrowed
    // until the stream has been waited for.
    unsafe { launch!(calibrate<<<blocks, THREADS, 0, stream>>>(address, len, gain, offset))? };
    stream.synchronize()?;
    Ok(())
}
