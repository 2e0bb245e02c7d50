//! The primary contexts, and the current context of each thread.

use std::collections::BTreeMap;
use std::ptr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use cust_raw::{CUcontext, CUdevice, CUresult};

use crate::driver::{CURRENT, device, entered, started};
use crate::functions::{functions, put};
use crate::handles::unique;

/// The devices of all live contexts.
static ALIVE: Mutex<BTreeMap<usize, usize>> = Mutex::new(BTreeMap::new());

fn alive() -> MutexGuard<'static, BTreeMap<usize, usize>> {
    ALIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

functions! {
    fn cuDevicePrimaryCtxRetain(context: *mut CUcontext, index: CUdevice) {
        let mut driver = device(index)?;
        if driver.retained == 0 {
            driver.context = unique();
            alive().insert(driver.context, index as usize);
        }
        driver.retained += 1;
        // SAFETY: the caller passes a pointer to a handle.
        unsafe { put(context, ptr::without_provenance_mut(driver.context)) }
    }

    fn cuDevicePrimaryCtxRelease_v2(index: CUdevice) {
        let mut driver = device(index)?;
        match driver.retained {
            0 => return Err(CUresult::CUDA_ERROR_INVALID_CONTEXT),
            1 => {
                alive().remove(&driver.context);
                driver.end_context();
            }
            _ => {}
        }
        driver.retained -= 1;
        Ok(())
    }

    fn cuCtxSetCurrent(context: CUcontext) {
        started()?;
        let current = match context.is_null() {
            true => (0, 0),
            false => {
                let device = alive().get(&context.addr()).copied();
                (device.ok_or(CUresult::CUDA_ERROR_INVALID_CONTEXT)?, context.addr())
            }
        };
        CURRENT.set(current);
        Ok(())
    }

    fn cuCtxGetCurrent(context: *mut CUcontext) {
        started()?;
        // SAFETY: the caller passes a pointer to a handle.
        unsafe { put(context, ptr::without_provenance_mut(CURRENT.get().1)) }
    }

    fn cuCtxSynchronize() {
        entered()?.forbid_in_captures(|_| true)
    }
}
