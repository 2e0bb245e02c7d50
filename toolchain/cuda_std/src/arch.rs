//! The primitives of this crate, once for the device and once for the host, under the same names.
//!
//! `nvptx` uses instructions; `host` uses the simulator, or works without a GPU. No other module depends on
//! the target.

#[cfg(target_arch = "nvptx64")]
mod nvptx;
#[cfg(target_arch = "nvptx64")]
pub(crate) use nvptx::*;

#[cfg(not(target_arch = "nvptx64"))]
mod host;
#[cfg(not(target_arch = "nvptx64"))]
pub(crate) use host::*;
