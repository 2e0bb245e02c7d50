//! The temporary storage of single-pass kernels, and the result cell of blocking calls.

use crate::element::Element;
use crate::error::Error;
use crate::memory::{DeviceMemory, PinnedMemory};
use crate::policy::Policy;
use crate::stream::Stream;

/// The temporary storage of single-pass kernels. It belongs to a stream, whose launches do not overlap.
pub(crate) struct TempStorage {
    /// The words of the partials, with their ready flags; 0 between launches.
    pub(crate) partials: DeviceMemory<u64>,
    /// The arrival counter; 0 between launches.
    pub(crate) arrivals: DeviceMemory<u32>,
}

impl TempStorage {
    /// Words for a partial of 24 bytes for each block of the largest grid; each word holds 32 bits of a
    /// partial.
    const WORDS: usize = Policy::SINGLE_PASS_MAX_BLOCKS as usize * 6;

    pub(crate) fn new(stream: &Stream) -> Result<Self, Error> {
        Ok(Self {
            partials: DeviceMemory::filled(stream, Self::WORDS, 0)?,
            arrivals: DeviceMemory::filled(stream, 1, 0)?,
        })
    }

    /// The maximum number of blocks: the number of partials of `acc_bytes` bytes that the storage can hold.
    pub(crate) const fn room(acc_bytes: usize) -> u32 {
        let words = acc_bytes.div_ceil(size_of::<u32>());
        let room = match words {
            0 => usize::MAX,
            words => Self::WORDS / words,
        };
        if room < Policy::SINGLE_PASS_MAX_BLOCKS as usize {
            room as u32
        } else {
            Policy::SINGLE_PASS_MAX_BLOCKS
        }
    }
}

/// The workspace of a stream's blocking calls; the first call allocates it.
pub(crate) struct Workspace {
    pub(crate) storage: TempStorage,
    cell: PinnedMemory<u64>,
}

impl Workspace {
    pub(crate) fn new(stream: &Stream) -> Result<Self, Error> {
        Ok(Self {
            storage: TempStorage::new(stream)?,
            cell: PinnedMemory::new(stream.gpu(), PinnedMemory::WORDS)?,
        })
    }

    /// The address of the result cell.
    pub(crate) fn cell(&self) -> u64 {
        self.cell.address()
    }

    /// The result that a kernel has stored; the caller has waited for the kernel.
    pub(crate) fn result<A: Element>(&mut self) -> A {
        self.cell.read()
    }
}
