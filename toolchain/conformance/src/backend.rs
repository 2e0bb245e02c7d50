//! The interface that executes a case: runs one kernel of the table with three buffers.

use crate::case::Launch;

/// Executes kernels of `conformance-kernels`.
///
/// Every kernel has the same parameters (`conformance_kernels::Function`). So a backend needs only a name, a
/// shape and buffers, and cannot pass a wrong argument.
pub trait Backend {
    /// Runs `launches` in order with one set of buffers, and waits for them.
    ///
    /// `output` contains the words before the first launch; on return, those after the last one. The scratch
    /// buffer has `scratch_bytes` bytes, is zero before the first launch, and is dropped afterwards.
    ///
    /// # Errors
    /// [`BackendError::OutOfMemory`] if the buffers do not fit, else [`BackendError::Launch`].
    fn run(
        &self,
        launches: &[Launch],
        input: &[u64],
        output: &mut [u64],
        scratch_bytes: u64,
    ) -> Result<(), BackendError>;
}

/// The reason why a backend could not execute a case.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BackendError {
    /// There is no driver or no device.
    #[error("no CUDA device: {cause}")]
    NoDevice {
        /// What is missing.
        cause: String,
    },
    /// The device has too little free memory for the case.
    #[error("the buffers need {bytes} bytes, more than the device has: {cause}")]
    OutOfMemory {
        /// The size of all buffers together.
        bytes: u64,
        /// The device's message.
        cause: String,
    },
    /// A kernel was not found, was rejected, or failed while it ran.
    #[error("kernel {kernel}: {step}: {cause}")]
    Launch {
        /// The kernel's name.
        kernel: String,
        /// The step that failed.
        step: &'static str,
        /// The device's message.
        cause: String,
    },
    /// The device, a module or a buffer could not be prepared.
    #[error("{step}: {cause}")]
    Setup {
        /// The step that failed.
        step: &'static str,
        /// The device's message.
        cause: String,
    },
}
