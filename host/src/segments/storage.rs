//! Memory on a GPU between the kernels, and what they tell of bad offsets.

use kernels_gpu::segments::{Layout, Reports};

use crate::backend::Queue;
use crate::error::Error;
use crate::memory::DeviceMemory;
use crate::segments::search::Search;

/// Memory on a GPU between the kernels of segmented reductions, and of searches for runs. It belongs to a stream, whose launches do not overlap.
pub(crate) struct Storage {
    pub(super) partials: DeviceMemory<u64>,
    pub(super) work: DeviceMemory<u64>,
    pub(super) counts: DeviceMemory<u32>,
    /// The counts of stored partials, of an earlier [epoch](Self::begin) than the next launch.
    pub(super) arrived: DeviceMemory<u64>,
    /// The number of the next call.
    call: u64,
    pub(super) search: Search,
    /// A bad offset that an earlier array of words has told.
    told: Option<u64>,
}

/// A call that is enqueued.
pub(super) struct Call {
    pub(super) number: u64,
    pub(super) epoch: u64,
    pub(super) is_captured: bool,
}

impl Storage {
    pub(crate) fn new(queue: &Queue) -> Result<Self, Error> {
        Ok(Self {
            partials: DeviceMemory::filled(queue, 0, 0)?,
            work: DeviceMemory::filled(queue, 0, 0)?,
            counts: DeviceMemory::filled(queue, 0, 0)?,
            arrived: DeviceMemory::filled(queue, 0, 0)?,
            call: 0,
            search: Search::new(queue)?,
            told: None,
        })
    }

    /// Makes room. If there is too little, it allocates, which waits for all work on the device.
    pub(super) fn reserve(
        &mut self,
        queue: &Queue,
        layout: Layout,
        acc_bytes: usize,
    ) -> Result<(), Error> {
        self.reserve_partials(queue, layout.partials() * acc_bytes)?;
        if layout.counters() > self.counts.len() {
            self.counts = DeviceMemory::filled(queue, layout.counters().next_power_of_two(), 0)?;
        }
        self.reserve_work(queue, layout.words())
    }

    /// The same for a kernel with a warp for each part of a segment.
    pub(super) fn reserve_places(
        &mut self,
        queue: &Queue,
        places: usize,
        acc_bytes: usize,
    ) -> Result<(), Error> {
        self.reserve_partials(queue, places * acc_bytes)?;
        if places > self.arrived.len() {
            self.arrived = DeviceMemory::filled(queue, places.next_power_of_two(), 0)?;
        }
        self.reserve_work(queue, Reports::WORDS)
    }

    fn reserve_partials(&mut self, queue: &Queue, bytes: usize) -> Result<(), Error> {
        let words = bytes.div_ceil(size_of::<u64>());
        if words > self.partials.len() {
            self.partials = DeviceMemory::filled(queue, words.next_power_of_two(), 0)?;
        }
        Ok(())
    }

    fn reserve_work(&mut self, queue: &Queue, words: usize) -> Result<(), Error> {
        if words > self.work.len() {
            self.told = self.first_bad(queue)?;
            // No offset is bad: `Reports::NONE`.
            self.work = DeviceMemory::filled(queue, words.next_power_of_two(), u8::MAX)?;
        }
        Ok(())
    }

    /// Begins a call: its number, and the epoch of its counts, which the kernel takes for 0 if their epoch is an earlier one. The
    /// last epoch is for captured calls, which run again and again: each of them clears its counts.
    pub(super) fn begin(&mut self, queue: &Queue) -> Result<Call, Error> {
        const CAPTURED: u64 = u8::MAX as u64;
        let (number, is_captured) = (self.call, queue.is_captured()?);
        let mut epoch = CAPTURED;
        if !is_captured {
            self.call += 1;
            epoch = number % CAPTURED;
            if epoch == 0 {
                self.arrived.enqueue_fill(queue, 0)?;
            }
        }
        Ok(Call {
            number,
            epoch,
            is_captured,
        })
    }

    /// The index of the first bad offset of the first call that had one, after all work on the stream.
    pub(super) fn first_bad(&self, queue: &Queue) -> Result<Option<u64>, Error> {
        if self.told.is_some() || self.work.len() == 0 {
            return Ok(self.told);
        }
        let word = self.work.span(Reports::FIRST, 1).download(queue)?[0];
        Ok((word != Reports::NONE).then_some(word & ((1 << Reports::INDEX_BITS) - 1)))
    }

    /// [`first_bad`](Self::first_bad), and forgets it.
    pub(super) fn take_bad(&mut self, queue: &Queue) -> Result<Option<u64>, Error> {
        let bad = self.first_bad(queue)?;
        if bad.is_some() {
            self.told = None;
            let none = [Reports::NONE; Reports::WORDS];
            let (words, _) = self.work.all_mut().split_at(none.len());
            words.write(queue, &none)?;
        }
        Ok(bad)
    }
}
