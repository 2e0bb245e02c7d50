//! Properties of the device.

use std::ffi::{CStr, c_char, c_int, c_uint};

use cust_raw::{CUdevice, CUdevice_attribute, CUresult};

use crate::driver::{self, devices, start, started};
use crate::functions::{functions, put};
use crate::kernel::{MAX_BLOCKS, MAX_THREADS, SHARED_BYTES};
use crate::memory;

const NAME: &CStr = c"warpfold's simulator";

/// CUDA 13.0.
const VERSION: c_int = 13_000;

functions! {
    fn cuInit(flags: c_uint) {
        if flags != 0 {
            return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
        }
        start();
        Ok(())
    }

    fn cuDriverGetVersion(version: *mut c_int) {
        // SAFETY: the caller passes a pointer to an integer.
        unsafe { put(version, VERSION) }
    }

    fn cuDeviceGetCount(count: *mut c_int) {
        started()?;
        // SAFETY: the caller passes a pointer to an integer.
        unsafe { put(count, devices().len() as c_int) }
    }

    fn cuDeviceGet(device: *mut CUdevice, ordinal: c_int) {
        drop(driver::device(ordinal)?);
        // SAFETY: the caller passes a pointer to a device.
        unsafe { put(device, ordinal) }
    }

    fn cuDeviceGetName(name: *mut c_char, len: c_int, device: CUdevice) {
        drop(driver::device(device)?);
        let text = NAME.to_bytes_with_nul();
        let fits = usize::try_from(len).is_ok_and(|len| len >= text.len());
        if name.is_null() || !fits {
            return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
        }
        // SAFETY: the caller passes a buffer of `len` characters, and the text is not longer.
        unsafe { name.copy_from_nonoverlapping(text.as_ptr().cast(), text.len()) };
        Ok(())
    }

    fn cuDeviceTotalMem_v2(bytes: *mut usize, device: CUdevice) {
        drop(driver::device(device)?);
        // SAFETY: the caller passes a pointer to a size.
        unsafe { put(bytes, memory::TOTAL) }
    }

    fn cuDeviceGetAttribute(value: *mut c_int, attribute: CUdevice_attribute, device: CUdevice) {
        let multiprocessors = driver::device(device)?.multiprocessors;
        let known = match attribute {
            CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT => multiprocessors,
            other => attribute_of(other).ok_or(CUresult::CUDA_ERROR_INVALID_VALUE)?,
        };
        // SAFETY: the caller passes a pointer to an integer.
        unsafe { put(value, known) }
    }
}

/// Clock rates and bus widths are those of an H200.
fn attribute_of(attribute: CUdevice_attribute) -> Option<c_int> {
    use cust_raw::CUdevice_attribute::*;
    Some(match attribute {
        CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR => 9,
        CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR => 0,
        CU_DEVICE_ATTRIBUTE_WARP_SIZE => 32,
        CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK => MAX_THREADS as c_int,
        CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X => MAX_THREADS as c_int,
        CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y => MAX_THREADS as c_int,
        CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z => 64,
        CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X => MAX_BLOCKS[0] as c_int,
        CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y => MAX_BLOCKS[1] as c_int,
        CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z => MAX_BLOCKS[2] as c_int,
        CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK
        | CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN => SHARED_BYTES as c_int,
        CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE => 50 << 20,
        CU_DEVICE_ATTRIBUTE_CLOCK_RATE => 1_980_000,
        CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE => 3_201_000,
        CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH => 6144,
        CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING => 1,
        _ => return None,
    })
}
