//! The counters of a launch.

mod table;

use super::InstructionKind;
use crate::{Site, Space};
use std::ops::AddAssign;

/// Warp instructions and memory transactions of a launch, for each instruction of the source.
///
/// The counts are exact for a model of the source code. They do not include what a compiler changes: values
/// kept in registers, instructions moved or combined. [`Display`](std::fmt::Display) prints a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    lines: Vec<Line>,
}

/// The counts of one instruction of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// Where it is in the source.
    pub site: Site,
    /// The kind of instruction.
    pub what: InstructionKind,
    /// How many bytes each lane accesses; 0 for instructions without an access.
    pub size: u32,
    /// Its counts over all warps.
    pub counts: Counts,
}

/// The counts of one or more instructions of the source, over all warps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Warp instructions: lanes that execute an instruction together form one request.
    pub requests: u64,
    /// Active lanes, summed over all requests.
    pub lanes: u64,
    /// Requests with fewer than 32 active lanes.
    pub partial: u64,
    /// Wavefronts of shared memory. Each group of lanes needs as many as its busiest bank has different words
    /// to serve. A group is the warp for elements of up to 4 bytes, half a warp for 8 bytes and a quarter for
    /// 16 bytes. This holds for loads, stores and atomics.
    pub wavefronts: u64,
    /// Wavefronts without bank conflicts: one for each group with an active lane.
    pub ideal_wavefronts: u64,
    /// The largest number of words that one bank served for one group; 1 means no conflict.
    pub max_ways: u32,
    /// Different 32-byte sectors of global memory, counted for each request.
    pub sectors: u64,
    /// Serialised passes of atomics: for each request, the number of lanes on its most frequent address.
    /// Without contention it equals the number of requests. Passes are not wavefronts: lanes at one address
    /// share one wavefront.
    pub passes: u64,
    /// For atomics: the largest number of lanes of one request on one address.
    pub max_same_address: u32,
}

impl Counters {
    pub(super) fn new(mut lines: Vec<Line>) -> Self {
        lines.sort_unstable_by_key(|line| (line.site, line.what, line.size));
        Self { lines }
    }

    /// All executed instructions, in source order.
    pub fn lines(&self) -> &[Line] {
        &self.lines
    }

    /// The sum over the lines that `of` accepts.
    pub fn sum(&self, of: impl Fn(&Line) -> bool) -> Counts {
        let mut sum = Counts::default();
        for line in self.lines.iter().filter(|line| of(line)) {
            sum += line.counts;
        }
        sum
    }

    /// The sum over all instructions of this kind.
    pub fn of(&self, what: InstructionKind) -> Counts {
        self.sum(|line| line.what == what)
    }

    /// The sum over all instructions.
    pub fn total(&self) -> Counts {
        self.sum(|_| true)
    }

    /// The sum over all accesses to shared memory.
    pub fn shared(&self) -> Counts {
        self.sum(|line| line.what.space() == Some(Space::Shared))
    }

    /// The sum over all accesses to global memory.
    pub fn global(&self) -> Counts {
        self.sum(|line| line.what.space() == Some(Space::Global))
    }

    /// The sum over all atomics.
    pub fn atomics(&self) -> Counts {
        self.sum(|line| matches!(line.what, InstructionKind::Atomic(_)))
    }
}

impl Counts {
    /// Additional wavefronts that bank conflicts cause.
    pub fn conflicts(&self) -> u64 {
        self.wavefronts - self.ideal_wavefronts
    }

    /// The mean number of active lanes: 32 without divergence; NaN without requests.
    pub fn lanes_per_request(&self) -> f64 {
        self.lanes as f64 / self.requests as f64
    }

    /// The mean number of sectors. The optimum is 4 for 4-byte elements and 8 for 8-byte elements.
    ///
    /// Meaningful only for sums over [`global`](Counters::global) accesses; NaN without requests.
    pub fn sectors_per_request(&self) -> f64 {
        self.sectors as f64 / self.requests as f64
    }
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.requests += other.requests;
        self.lanes += other.lanes;
        self.partial += other.partial;
        self.wavefronts += other.wavefronts;
        self.ideal_wavefronts += other.ideal_wavefronts;
        self.max_ways = self.max_ways.max(other.max_ways);
        self.sectors += other.sectors;
        self.passes += other.passes;
        self.max_same_address = self.max_same_address.max(other.max_same_address);
    }
}
