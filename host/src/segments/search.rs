//! What launches that find runs leave for each other, and how the host learns the number of runs.

use std::time::{Duration, Instant};

use kernels_gpu::runs::Work;

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
    /// The number of runs, of the last launch that has stored it, and its epoch.
    pub(super) runs: PinnedMemory<u64>,
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
            self.runs = PinnedMemory::new(queue.gpu(), 1)?;
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

    /// Waits for the number of runs of the last launch. What else it stores may come later.
    pub(super) fn wait(&self, queue: &Queue) -> Result<u64, Error> {
        let start = Instant::now();
        // A captured launch stores nothing now, and the wait for the stream is an error.
        while !self.is_captured && start.elapsed() < SPIN {
            if let Some(runs) = self.stored() {
                return Ok(runs);
            }
            std::hint::spin_loop();
        }
        queue.synchronize()?;
        Ok(self.stored().expect("the launch stores the number of runs"))
    }

    fn stored(&self) -> Option<u64> {
        let word = self.runs.word(0);
        (word >> Work::EPOCH_BIT == self.epoch).then_some(word & Work::NUMBER)
    }
}
