//! A CUDA driver on top of the simulator: runs unchanged programs that use `libcuda` on the CPU, with checks.
//!
//! ```
//! cuda_sim_driver::install()?;
//! // SAFETY: the driver may be started at any time.
//! let result = unsafe { cust_raw::cuInit(0) };
//! assert_eq!(result, cust_raw::CUresult::CUDA_SUCCESS);
//! assert_eq!(cuda_sim_driver::allocated_bytes(), 0);
//! # Ok::<(), libcuda::InUse>(())
//! ```
//!
//! There is one device of compute capability 9.0, and more can be [added](add_device). Devices have the
//! library's entry points, the entry points of [registered](register) lists, and with the feature `teaching`
//! those of the ladder. A launch calls the host function in the entry's row. A module is the list of entries
//! in its PTX. Commands on streams are executed immediately, one launch after another, with all checks of
//! [`cuda_sim`].
//!
//! | mistake | result |
//! |---|---|
//! | a finding of the simulator in a launch; an array argument that is not inside one allocation | the launch succeeds, and every later call of the context returns `CUDA_ERROR_LAUNCH_FAILED`; `cuGetErrorString` returns the finding |
//! | a copy or fill outside an allocation; memory freed twice | `CUDA_ERROR_INVALID_VALUE` |
//! | a handle of another kind, or of a destroyed object | `CUDA_ERROR_INVALID_HANDLE` |
//! | a call without a current context | `CUDA_ERROR_INVALID_CONTEXT` |
//! | a call that waits or allocates during a capture | `CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED` |
//! | memory that is not freed | [`allocated_bytes`] |
//!
//! A failed context, with its memory, is destroyed when it has been released as often as it was retained. A
//! capture contains one stream; other streams cannot join it by waiting for its events.

mod commands;
mod context;
mod device;
mod driver;
mod errors;
mod event;
mod functions;
mod graph;
mod handles;
mod kernel;
mod memory;
mod module;
mod stream;

use std::ffi::c_void;
use std::ptr::NonNull;

use kernels_gpu::entry::Kernels;

/// Replaces `libcuda.so.1` by this driver for the lifetime of the process.
///
/// # Errors
///
/// [`libcuda::InUse`] if a driver is already in use, including this one.
pub fn install() -> Result<(), libcuda::InUse> {
    // SAFETY: each function has cust_raw's declaration of its name, which the compiler checks, and follows
    // the contract of the CUDA driver.
    unsafe { libcuda::install(lookup) }
}

/// Redirects the driver calls of this thread to this driver, or back to the driver of the process, which may
/// be that of a GPU.
pub fn choose(simulated: bool) {
    // SAFETY: as above.
    unsafe { libcuda::choose(simulated.then_some(lookup as libcuda::Lookup)) }
}

/// Whether [`choose`] redirects the calls of this thread to this driver.
pub fn is_chosen() -> bool {
    libcuda::chosen().is_some()
}

/// Adds a device and returns its index. Errors of one device do not affect the others.
pub fn add_device() -> u32 {
    driver::add_device(driver::MULTIPROCESSORS) as u32
}

/// Adds a device with so many multiprocessors, on which the size of grids depends, and returns its index.
///
/// # Panics
///
/// Panics unless the number is at least 1 and at most `i32::MAX`.
pub fn add_device_of(multiprocessors: u32) -> u32 {
    let count = i32::try_from(multiprocessors)
        .ok()
        .filter(|count| *count > 0);
    let count = count.unwrap_or_else(|| {
        panic!("{multiprocessors} multiprocessors; must be from 1 to 2147483647")
    });
    driver::add_device(count) as u32
}

/// Adds the entry points of another crate's kernels. If two entries have the same name, the later one is
/// used.
///
/// # Panics
///
/// If the rows have no functions, because `kernels-gpu` was built without the feature `simulator`.
pub fn register(kernels: &'static Kernels) {
    kernel::register(kernels);
}

/// The size in bytes of the device memory and page-locked host memory that is not freed.
pub fn allocated_bytes() -> usize {
    let devices = driver::devices().into_iter();
    devices
        .map(|device| driver::lock(device).memory.used())
        .sum()
}

fn lookup(name: &str) -> Option<NonNull<c_void>> {
    [
        errors::lookup,
        device::lookup,
        context::lookup,
        module::lookup,
        memory::lookup,
        stream::lookup,
        event::lookup,
        graph::lookup,
    ]
    .into_iter()
    .find_map(|lookup| lookup(name))
}
