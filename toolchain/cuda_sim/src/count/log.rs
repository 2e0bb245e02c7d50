//! The logs of the lanes of one warp since it last converged.

use super::event::{Event, Instruction};
use super::flow::Flow;
use super::merge;
use super::tally::Tally;

/// The logs of a warp's lanes.
pub(crate) struct WarpLog {
    lanes: [Vec<Entry>; 32],
    flow: Flow,
}

/// One event of one lane.
#[derive(Clone, Copy)]
pub(super) struct Entry {
    pub instruction: Instruction,
    pub address: u64,
}

impl WarpLog {
    /// The length at which a lane should wait for the others: see [`drain`](Self::drain).
    pub const FULL: usize = 4096;

    pub fn new() -> Self {
        Self {
            lanes: std::array::from_fn(|_| Vec::with_capacity(16)),
            flow: Flow::default(),
        }
    }

    /// Logs a lane's next event; a collective when it has completed. Returns whether the lane's log is
    /// [full](Self::FULL); it still accepts more.
    #[inline]
    pub fn push(&mut self, lane: u32, event: Event) -> bool {
        let log = &mut self.lanes[lane as usize % 32];
        log.push(Entry {
            instruction: event.instruction(),
            address: event.address,
        });
        log.len() >= Self::FULL
    }

    /// Counts and clears all logs. The whole warp must be converged: every lane has exited, or has just
    /// logged the collective that all remaining lanes are in.
    pub fn flush(&mut self, tally: &mut Tally) {
        let logs = self.lanes.each_ref().map(Vec::as_slice);
        merge::all(logs, &mut self.flow, tally);
        for lane in &mut self.lanes {
            lane.clear();
        }
    }

    /// Counts as much as possible while the warp is diverged, and keeps the rest. Each lane must have a full
    /// log, wait, or have exited.
    pub fn drain(&mut self, tally: &mut Tally) {
        let logs = self.lanes.each_ref().map(Vec::as_slice);
        let done = merge::some(logs, Self::FULL, &mut self.flow, tally);
        for (lane, done) in self.lanes.iter_mut().zip(done) {
            lane.drain(..done);
            lane.shrink_to(2 * Self::FULL);
        }
    }
}
