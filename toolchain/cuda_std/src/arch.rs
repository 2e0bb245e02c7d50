//! The line between device and host: every primitive of this crate, twice, under one name.
//!
//! `nvptx` says it in instructions, `host` says what happens without a GPU. Nothing else in the
//! crate asks for the target, so a simulator has exactly one folder to replace.

#[cfg(target_arch = "nvptx64")]
mod nvptx;
#[cfg(target_arch = "nvptx64")]
pub(crate) use nvptx::*;

#[cfg(not(target_arch = "nvptx64"))]
mod host;
#[cfg(not(target_arch = "nvptx64"))]
pub(crate) use host::*;
