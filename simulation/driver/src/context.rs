//! The primary context, and which is current.

use std::ptr;

use cust_raw::{CUcontext, CUdevice, CUresult};

use crate::driver::{CURRENT, entered, started};
use crate::functions::{functions, put};

functions! {
    fn cuDevicePrimaryCtxRetain(context: *mut CUcontext, device: CUdevice) {
        let mut driver = started()?;
        crate::device::check(device)?;
        if driver.retained == 0 {
            driver.context += 1;
        }
        driver.retained += 1;
        // SAFETY: the caller gives a place for a handle.
        unsafe { put(context, ptr::without_provenance_mut(driver.context)) }
    }

    fn cuDevicePrimaryCtxRelease_v2(device: CUdevice) {
        let mut driver = started()?;
        crate::device::check(device)?;
        match driver.retained {
            0 => return Err(CUresult::CUDA_ERROR_INVALID_CONTEXT),
            1 => driver.end_context(),
            _ => {}
        }
        driver.retained -= 1;
        Ok(())
    }

    fn cuCtxSetCurrent(context: CUcontext) {
        let driver = started()?;
        let is_ours = driver.retained > 0 && context.addr() == driver.context;
        if !context.is_null() && !is_ours {
            return Err(CUresult::CUDA_ERROR_INVALID_CONTEXT);
        }
        CURRENT.set(context.addr());
        Ok(())
    }

    fn cuCtxGetCurrent(context: *mut CUcontext) {
        let _driver = started()?;
        // SAFETY: the caller gives a place for a handle.
        unsafe { put(context, ptr::without_provenance_mut(CURRENT.get())) }
    }

    fn cuCtxSynchronize() {
        entered()?.forbid_in_captures(|_| true)
    }
}
