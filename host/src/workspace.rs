//! The temporary storage of single-pass kernels, and the result cell of blocking calls.

use kernels_gpu::entry::Entry;
use kernels_gpu::grid::Storage;

use crate::element::Element;
use crate::error::Error;
use crate::launch::Grid;
use crate::memory::{DeviceMemory, PinnedMemory};
use crate::stream::Stream;

/// The temporary storage of single-pass kernels. It belongs to a stream, whose launches do not overlap.
pub(crate) struct TempStorage {
    /// The words of the partials, with their ready flags; 0 between launches.
    pub(crate) partials: DeviceMemory<u64>,
    /// The arrival counters; 0 between launches.
    pub(crate) arrivals: DeviceMemory<u32>,
}

impl TempStorage {
    /// The words of new storage: enough for sums of 1.5 GiB with accumulators of 32 bits.
    const WORDS: usize = 24 << 10;

    /// The arrival counters of new storage, enough for as many blocks.
    const ARRIVALS: usize = 64;

    pub(crate) fn new(stream: &Stream) -> Result<Self, Error> {
        Ok(Self {
            partials: DeviceMemory::filled(stream, Self::WORDS, 0)?,
            arrivals: DeviceMemory::filled(stream, Self::ARRIVALS, 0)?,
        })
    }

    /// Makes room for the partials of this grid. If there is too little, it allocates, which waits for all work on the
    /// device.
    pub(crate) fn reserve(
        &mut self,
        stream: &Stream,
        grid: Grid,
        entry: &Entry,
    ) -> Result<(), Error> {
        let Storage { partials, arrivals } = grid.storage(entry);
        let words = partials * entry.partial_bytes() / size_of::<u64>();
        if words > self.partials.len() {
            self.partials = DeviceMemory::filled(stream, words.next_power_of_two(), 0)?;
        }
        if arrivals > self.arrivals.len() {
            self.arrivals = DeviceMemory::filled(stream, arrivals.next_power_of_two(), 0)?;
        }
        Ok(())
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
