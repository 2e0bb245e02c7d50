//! Calls of the driver that the library has no name for.

use anyhow::{Result, ensure};
use cust_raw::CUresult;

/// The driver's error by its name.
pub fn checked(call: &str, status: CUresult) -> Result<()> {
    ensure!(status == CUresult::CUDA_SUCCESS, "{call}: {status:?}");
    Ok(())
}
