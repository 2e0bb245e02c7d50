//! Driver calls that the library does not wrap.

use anyhow::{Result, ensure};
use cust_raw::CUresult;

/// Converts a driver status to an error that names the call.
pub fn checked(call: &str, status: CUresult) -> Result<()> {
    ensure!(status == CUresult::CUDA_SUCCESS, "{call}: {status:?}");
    Ok(())
}

/// The simulated device, also on a machine with a GPU. Every test that opens a device calls this first: the
/// first call determines the driver of the process.
#[cfg(test)]
pub fn simulated() -> warpfold::Device {
    cuda_sim_driver::register(&outside_kernels::KERNELS);
    let _ = cuda_sim_driver::install(); // fails if another test has installed it
    warpfold::Device::nth(0).expect("the simulated device")
}
