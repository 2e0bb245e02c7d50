//! A CUDA driver over the simulator: programs that use a GPU through `libcuda` run on the CPU as they
//! are, and their mistakes are found.
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
//! There is one device, of compute capability 9.0, and those that are [added](add_device). They run the entry
//! points of the library, with the feature `teaching` those of the ladder, and those of the lists that are
//! [registered](register), each by the function of its row; a module is the names of the entries in its PTX.
//! What is put on a stream is done at once, one launch after another, with all checks of [`cuda_sim`].
//!
//! | mistake | what a caller sees |
//! |---|---|
//! | whatever the simulator finds in a launch; an array among its arguments that is not all in one allocation | the launch succeeds, and every later call of the context answers `CUDA_ERROR_LAUNCH_FAILED`, of which `cuGetErrorString` has the finding |
//! | a copy or fill beyond an allocation, or of none; memory freed twice | `CUDA_ERROR_INVALID_VALUE` |
//! | a handle of something else, or of what has been destroyed | `CUDA_ERROR_INVALID_HANDLE` |
//! | a call without a current context | `CUDA_ERROR_INVALID_CONTEXT` |
//! | a call that waits or allocates while a stream is captured | `CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED` |
//! | memory that is never freed | [`allocated_bytes`] |
//!
//! A failed context is gone when all who retain it have released it, its memory too. A capture is of
//! one stream: others cannot join it by waiting for its events.

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

/// Puts this driver in the place of `libcuda.so.1`, for the life of the process.
///
/// # Errors
///
/// [`libcuda::InUse`] when a driver is in use already, this one too.
pub fn install() -> Result<(), libcuda::InUse> {
    // SAFETY: each function is held against cust_raw's declaration of its name, and keeps the driver's
    // contract.
    unsafe { libcuda::install(lookup) }
}

/// Lets the calls of this thread go to this driver, or to the process's own again, which may be a GPU's.
pub fn choose(simulated: bool) {
    // SAFETY: as above.
    unsafe { libcuda::choose(simulated.then_some(lookup as libcuda::Lookup)) }
}

/// Whether the calls of this thread come here by [`choose`].
pub fn is_chosen() -> bool {
    libcuda::chosen().is_some()
}

/// Another device, beside those that there are: its number. What goes wrong on one has no effect on the others.
pub fn add_device() -> u32 {
    driver::add_device() as u32
}

/// Adds the entry points of another crate's kernels to those that the devices run. Of two entries with
/// the same name, the one registered later is run.
///
/// # Panics
///
/// When the rows have no functions, because `kernels-gpu` was built without the feature `simulator`.
pub fn register(kernels: &'static Kernels) {
    kernel::register(kernels);
}

/// How many bytes of the devices' memory, and of host memory locked for them, have not been freed.
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
