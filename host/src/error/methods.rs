//! Questions about an error, and conversions to one.

use super::texts::sticky;
use super::{Error, OtherError};

impl Error {
    /// Converts any error: an [`Error`] stays as it is, every other error becomes [`Error::Other`].
    pub fn other(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        match error.into().downcast::<Self>() {
            Ok(error) => *error,
            Err(error) => Self::Other(OtherError::new(error)),
        }
    }

    /// Whether the driver refuses all further work of this process on the device, as after a kernel's fault.
    ///
    /// All memory on the device is lost, and every call returns the same error: restart the process. After an
    /// [`Error::Finding`] another simulated device works. The codes are those for which the driver's
    /// documentation demands a restart.
    pub fn is_sticky(&self) -> bool {
        match self {
            Self::Cuda { code, .. } => sticky(*code),
            Self::Finding { .. } => true,
            Self::Deferred(error) => error.is_sticky(),
            _ => false,
        }
    }

    pub(crate) fn is_out_of_memory(&self) -> bool {
        const OUT_OF_MEMORY: i32 = 2;
        matches!(
            self,
            Self::Cuda {
                code: OUT_OF_MEMORY,
                ..
            }
        )
    }
}
