//! What it takes to execute a case: run one kernel of the table on three buffers.

use crate::case::Launch;

/// Something that executes the kernels of `conformance-kernels`.
///
/// Every kernel has the same parameters (`conformance_kernels::Function`), so a
/// backend needs a name, a shape and buffers, and cannot pass a wrong argument.
pub trait Backend {
    /// Runs `launches` in order over one set of buffers and waits for them.
    ///
    /// `output` holds the words before the first launch, and those after the last
    /// one on return. The scratch buffer has `scratch_bytes` bytes, zero before the
    /// first launch, and is dropped afterwards.
    ///
    /// # Errors
    /// [`BackendError::OutOfMemory`] when the buffers do not fit, else
    /// [`BackendError::Launch`].
    fn run(
        &self,
        launches: &[Launch],
        input: &[u64],
        output: &mut [u64],
        scratch_bytes: u64,
    ) -> Result<(), BackendError>;
}

/// Why a backend could not execute a case.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BackendError {
    /// There is no driver, or it has no device: nothing to execute on, and nothing broken.
    #[error("no CUDA device: {cause}")]
    NoDevice {
        /// What was missing.
        cause: String,
    },
    /// The device has too little free memory for the case.
    #[error("the device cannot hold {bytes} bytes: {cause}")]
    OutOfMemory {
        /// Size of all buffers together.
        bytes: u64,
        /// What the device said.
        cause: String,
    },
    /// A kernel was not found, was refused, or failed while it ran.
    #[error("kernel {kernel}: {step}: {cause}")]
    Launch {
        /// The kernel's name.
        kernel: String,
        /// What was being done.
        step: &'static str,
        /// What the device said.
        cause: String,
    },
    /// The device, a module or a buffer could not be prepared.
    #[error("{step}: {cause}")]
    Setup {
        /// What was being done.
        step: &'static str,
        /// What the device said.
        cause: String,
    },
}
