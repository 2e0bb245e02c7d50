//! Commands of a stream: executed immediately, or when a graph that contains them is launched.

use std::{ptr, slice};

use cust_raw::CUresult;

use crate::kernel::Launch;
use crate::memory::Memory;

/// A command. Host addresses have exposed provenance.
#[derive(Clone)]
pub enum Command {
    Fill { to: u64, byte: u8, bytes: usize },
    ToDevice { to: u64, from: usize, bytes: usize },
    ToHost { to: usize, from: u64, bytes: usize },
    OnDevice { to: u64, from: u64, bytes: usize },
    Launch(Launch),
}

pub enum Failure {
    /// The call fails with this code.
    Call(CUresult),
    /// The context fails with this message.
    Context(String),
}

impl From<CUresult> for Failure {
    fn from(code: CUresult) -> Self {
        Self::Call(code)
    }
}

impl Command {
    pub fn run(&self, memory: &mut Memory) -> Result<(), Failure> {
        match *self {
            Self::Fill { bytes: 0, .. }
            | Self::ToDevice { bytes: 0, .. }
            | Self::ToHost { bytes: 0, .. }
            | Self::OnDevice { bytes: 0, .. } => Ok(()),
            Self::ToDevice { from: 0, .. } | Self::ToHost { to: 0, .. } => {
                Err(CUresult::CUDA_ERROR_INVALID_VALUE.into())
            }
            Self::Fill { to, byte, bytes } => Ok(memory.write(to, &vec![byte; bytes])?),
            Self::ToDevice { to, from, bytes } => {
                let from = ptr::with_exposed_provenance::<u8>(from);
                // SAFETY: by the copy's contract, the source has that many bytes, and they do not change
                // until the stream is synchronised.
                Ok(memory.write(to, unsafe { slice::from_raw_parts(from, bytes) })?)
            }
            Self::ToHost { to, from, bytes } => {
                let from = memory.read(from, bytes)?;
                let to = ptr::with_exposed_provenance_mut::<u8>(to);
                // SAFETY: by the copy's contract, the target has room for that many bytes, and nothing uses
                // them until the stream is synchronised. `read` has checked the source.
                unsafe { ptr::copy(from, to, bytes) };
                Ok(())
            }
            Self::OnDevice { to, from, bytes } => {
                let from = memory.read(from, bytes)?;
                // SAFETY: the allocation has that many bytes (`read`), all of them are initialised, and no
                // kernel that writes to them is running.
                let copied = unsafe { slice::from_raw_parts(from, bytes) }.to_vec();
                Ok(memory.write(to, &copied)?)
            }
            Self::Launch(ref launch) => launch.run(memory).map_err(Failure::Context),
        }
    }
}
