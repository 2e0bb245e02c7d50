//! The temporary storage of single-pass kernels on a stream, and where blocking calls find their result.

use crate::element::Element;
use crate::error::Error;
use crate::memory::{DeviceMemory, PinnedMemory};
use crate::policy::Policy;
use crate::stream::Stream;

/// What the blocks of a single-pass kernel combine their partials in. It belongs to a stream, whose
/// launches do not overlap.
pub(crate) struct Storage {
    /// Words of partials. 0 between launches.
    pub(crate) partials: DeviceMemory<u64>,
    /// The arrival counter. 0 between launches.
    pub(crate) arrivals: DeviceMemory<u32>,
}

impl Storage {
    /// Room for a partial of 24 bytes of each of the most blocks; each word carries 32 bits of a partial.
    const WORDS: usize = Policy::SINGLE_PASS_MAX_BLOCKS as usize * 6;

    pub(crate) fn new(stream: &Stream) -> Result<Self, Error> {
        Ok(Self {
            partials: DeviceMemory::filled(stream, Self::WORDS, 0)?,
            arrivals: DeviceMemory::filled(stream, 1, 0)?,
        })
    }

    /// For how many partials of so many bytes there is room, and so the most blocks of a grid.
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

/// What blocking calls reduce with: made by a stream's first, and used by all.
pub(crate) struct Workspace {
    pub(crate) storage: Storage,
    cell: PinnedMemory<u64>,
}

impl Workspace {
    pub(crate) fn new(stream: &Stream) -> Result<Self, Error> {
        Ok(Self {
            storage: Storage::new(stream)?,
            cell: PinnedMemory::new(stream.gpu(), PinnedMemory::WORDS)?,
        })
    }

    /// The address of the cell for the result.
    pub(crate) fn cell(&self) -> u64 {
        self.cell.address()
    }

    /// The result, which a launch has left and which has been waited for.
    pub(crate) fn result<A: Element>(&mut self) -> A {
        self.cell.read()
    }
}
