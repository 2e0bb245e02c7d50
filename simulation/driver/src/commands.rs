//! What is put on a stream: done at once, or when a graph that has it is launched.

use std::{ptr, slice};

use cust_raw::CUresult;

use crate::kernel::Launch;
use crate::memory::Memory;

/// Addresses of the host are exposed.
#[derive(Clone)]
pub enum Command {
    Fill { to: u64, byte: u8, bytes: usize },
    ToDevice { to: u64, from: usize, bytes: usize },
    ToHost { to: usize, from: u64, bytes: usize },
    OnDevice { to: u64, from: u64, bytes: usize },
    Launch(Launch),
}

/// Why a command cannot be done.
pub enum Wrong {
    /// The call says so.
    Refused(CUresult),
    /// The device fails, with these words.
    Found(String),
}

impl From<CUresult> for Wrong {
    fn from(code: CUresult) -> Self {
        Self::Refused(code)
    }
}

impl Command {
    pub fn run(&self, memory: &mut Memory) -> Result<(), Wrong> {
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
                // SAFETY: whoever asked for the copy has so many bytes there, which nobody changes
                // before the stream has been waited for.
                Ok(memory.write(to, unsafe { slice::from_raw_parts(from, bytes) })?)
            }
            Self::ToHost { to, from, bytes } => {
                let from = memory.read(from, bytes)?;
                let to = ptr::with_exposed_provenance_mut::<u8>(to);
                // SAFETY: whoever asked for the copy has room for so many bytes there, which nobody
                // uses before the stream has been waited for; the source has them (`read`).
                unsafe { ptr::copy(from, to, bytes) };
                Ok(())
            }
            Self::OnDevice { to, from, bytes } => {
                let from = memory.read(from, bytes)?;
                // SAFETY: the allocation has so many bytes (`read`), all of them set, and nothing
                // is running that writes them.
                let copied = unsafe { slice::from_raw_parts(from, bytes) }.to_vec();
                Ok(memory.write(to, &copied)?)
            }
            Self::Launch(ref launch) => launch.run(memory).map_err(Wrong::Found),
        }
    }
}
