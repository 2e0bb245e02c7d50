//! What launches that find runs leave for each other, and how the host learns the number of runs.

use std::time::{Duration, Instant};

use kernels_gpu::runs::{Count, Work};

use crate::backend::Queue;
use crate::error::Error;
use crate::memory::{DeviceMemory, PinnedMemory};

/// How long the host loads the number of runs again and again, before it waits for the stream. The time between a launch's last
/// tile and the next launch matters only if the launch is short.
const SPIN: Duration = Duration::from_millis(2);

/// The epoch of captured calls, which run again and again: each of them clears the words.
const CAPTURED: u64 = Work::EPOCHS - 1;

/// The memory of the kernel that finds runs. It belongs to a stream, whose launches do not overlap.
pub(super) struct Search {
    /// The words of the tiles. Their epochs are earlier ones than that of the next launch.
    pub(super) tiles: DeviceMemory<u64>,
    /// The counter that numbers the tiles; 0 between launches.
    pub(super) arrivals: DeviceMemory<u32>,
    /// Two words for the number of runs and the epoch: of the last launch that has stored them, and of the last captured one,
    /// which may run at any time.
    runs: PinnedMemory<u64>,
    /// The epoch of the last launch that was not captured.
    epoch: u64,
    /// Whether the last launch was captured.
    is_captured: bool,
}

impl Search {
    pub(super) fn new(queue: &Queue) -> Result<Self, Error> {
        Ok(Self {
            tiles: DeviceMemory::filled(queue, 0, 0)?,
            arrivals: DeviceMemory::filled(queue, 0, 0)?,
            runs: PinnedMemory::new(queue.gpu(), 0)?,
            epoch: 0,
            is_captured: false,
        })
    }

    /// Begins a launch, and returns its epoch, which no word has.
    pub(super) fn begin(&mut self, queue: &Queue, tiles: usize) -> Result<u64, Error> {
        if self.runs.len() == 0 {
            self.runs = PinnedMemory::new(queue.gpu(), 2)?;
            self.arrivals = DeviceMemory::filled(queue, 1, 0)?;
        }
        if tiles > self.tiles.len() {
            self.tiles = DeviceMemory::filled(queue, tiles.next_power_of_two(), 0)?;
        }
        queue.gpu().enter()?;
        self.is_captured = queue.is_captured()?;
        if self.is_captured {
            self.tiles.enqueue_fill(queue, 0)?;
            return Ok(CAPTURED);
        }
        self.epoch += 1;
        if self.epoch == CAPTURED {
            self.tiles.enqueue_fill(queue, 0)?;
            self.epoch = 1;
        }
        Ok(self.epoch)
    }

    /// The address of the word for the number of runs.
    pub(super) fn address(&self) -> u64 {
        self.runs.address_of(usize::from(self.is_captured))
    }

    /// Waits for the count of the last launch, whose number is that of the runs. What else it stores may come later. An error if it was captured.
    pub(super) fn wait(&self, queue: &Queue) -> Result<Count, Error> {
        let start = Instant::now();
        // A captured launch stores nothing now, and the wait for the stream is an error until the capture ends.
        while !self.is_captured && start.elapsed() < SPIN {
            if let Some(count) = self.stored() {
                return Ok(count);
            }
            std::hint::spin_loop();
        }
        queue.synchronize()?;
        let kernel = "find_runs";
        self.stored().ok_or(Error::NotEnqueued { kernel })
    }

    /// What the last launch has stored.
    fn stored(&self) -> Option<Count> {
        let word = self.runs.word(0);
        let is_stored = !self.is_captured && word >> Work::EPOCH_BIT == self.epoch;
        is_stored.then(|| Count::of_word(word))
    }
}
