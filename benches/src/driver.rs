//! Calls of the driver that the library has no name for.

use anyhow::{Result, ensure};
use cust_raw::CUresult;

/// The driver's error by its name.
pub fn checked(call: &str, status: CUresult) -> Result<()> {
    ensure!(status == CUresult::CUDA_SUCCESS, "{call}: {status:?}");
    Ok(())
}

/// The simulated device, whatever the machine has. Every test that opens a device calls this first: the
/// driver of the first call is that of the process.
#[cfg(test)]
pub fn simulated() -> warpfold::Device {
    cuda_sim_driver::register(&outside_kernels::KERNELS);
    let _ = cuda_sim_driver::install(); // by the first test
    warpfold::Device::nth(0).expect("the simulated one")
}
