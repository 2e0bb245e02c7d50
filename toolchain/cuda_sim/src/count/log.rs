//! What the lanes of one warp did since it was last aligned.

use super::event::{Event, Instruction};
use super::flow::Flow;
use super::merge;
use super::tally::Tally;

/// The lanes' logs.
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
    /// Events after which a lane had better wait for the others: see [`drain`](Self::drain).
    pub const FULL: usize = 4096;

    pub fn new() -> Self {
        Self {
            lanes: std::array::from_fn(|_| Vec::with_capacity(16)),
            flow: Flow::default(),
        }
    }

    /// Logs what a lane did next; a collective when it is done. Says whether the lane's log is
    /// [full](Self::FULL); more still fits.
    #[inline]
    pub fn push(&mut self, lane: u32, event: Event) -> bool {
        let log = &mut self.lanes[lane as usize % 32];
        log.push(Entry {
            instruction: event.instruction(),
            address: event.address,
        });
        log.len() >= Self::FULL
    }

    /// Counts everything, and forgets it. To be called where the whole warp is aligned: every lane
    /// has exited, or has just logged the meeting that all that have not exited are in.
    pub fn flush(&mut self, tally: &mut Tally) {
        let logs = self.lanes.each_ref().map(Vec::as_slice);
        merge::all(logs, &mut self.flow, tally);
        for lane in &mut self.lanes {
            lane.clear();
        }
    }

    /// Counts what can be counted while the warp is not aligned, and keeps the rest. To be called
    /// when each lane's log is full, or the lane waits or has exited.
    pub fn drain(&mut self, tally: &mut Tally) {
        let logs = self.lanes.each_ref().map(Vec::as_slice);
        let done = merge::some(logs, Self::FULL, &mut self.flow, tally);
        for (lane, done) in self.lanes.iter_mut().zip(done) {
            lane.drain(..done);
            lane.shrink_to(2 * Self::FULL);
        }
    }
}
