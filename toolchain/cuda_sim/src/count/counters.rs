//! The result.

mod table;

use super::What;
use crate::{Site, Space};
use std::ops::AddAssign;

/// What the launch would have cost a GPU, per line of source.
///
/// It is exact for the model that it is counted by, and the model is of the source: what a compiler
/// keeps in registers, moves or joins is not known. [`Display`](std::fmt::Display) gives a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    lines: Vec<Line>,
}

/// The cost of one instruction of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// Where it is.
    pub site: Site,
    /// What it does.
    pub what: What,
    /// How many bytes each lane accesses; 0 where it accesses none.
    pub size: u32,
    /// What it cost.
    pub counts: Counts,
}

/// What one or more instructions of the source cost, over all warps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Warp instructions: lanes that are at the same place together make one.
    pub requests: u64,
    /// Lanes that were active, over all requests.
    pub lanes: u64,
    /// Requests in which fewer than 32 lanes were active.
    pub partial: u64,
    /// How often shared memory had to be asked: per group of lanes that ask together, as often as
    /// its busiest bank has different words to serve. The groups are the warp for elements of up to
    /// 4 bytes, its halves for 8 bytes and its quarters for 16; loads, stores and atomics alike.
    pub wavefronts: u64,
    /// The same without bank conflicts: the groups that had an active lane.
    pub ideal_wavefronts: u64,
    /// The most words that one bank had to serve of lanes that asked together; 1 is no conflict.
    pub max_ways: u32,
    /// Different 32-byte sectors of global memory, counted per request.
    pub sectors: u64,
    /// Atomics of the same request on the same address follow one another. Passes are the lanes on
    /// the request's most popular address, added up; without contention there are as many as
    /// requests. They are not wavefronts: lanes on one address share one wavefront.
    pub passes: u64,
    /// The most lanes of one request on one address, of atomics.
    pub max_same_address: u32,
}

impl Counters {
    pub(super) fn new(mut lines: Vec<Line>) -> Self {
        lines.sort_unstable_by_key(|line| (line.site, line.what, line.size));
        Self { lines }
    }

    /// Everything that was executed, in the order of the source.
    pub fn lines(&self) -> &[Line] {
        &self.lines
    }

    /// The sum over those lines that `of` accepts.
    pub fn sum(&self, of: impl Fn(&Line) -> bool) -> Counts {
        let mut sum = Counts::default();
        for line in self.lines.iter().filter(|line| of(line)) {
            sum += line.counts;
        }
        sum
    }

    /// The sum over all lines that do this.
    pub fn of(&self, what: What) -> Counts {
        self.sum(|line| line.what == what)
    }

    /// Everything that was executed.
    pub fn total(&self) -> Counts {
        self.sum(|_| true)
    }

    /// All accesses to shared memory.
    pub fn shared(&self) -> Counts {
        self.sum(|line| line.what.space() == Some(Space::Shared))
    }

    /// All accesses to global memory.
    pub fn global(&self) -> Counts {
        self.sum(|line| line.what.space() == Some(Space::Global))
    }

    /// All atomics.
    pub fn atomics(&self) -> Counts {
        self.sum(|line| matches!(line.what, What::Atomic(_)))
    }
}

impl Counts {
    /// Wavefronts that bank conflicts cost.
    pub fn conflicts(&self) -> u64 {
        self.wavefronts - self.ideal_wavefronts
    }

    /// 32 where no lane stood aside; NaN without requests.
    pub fn lanes_per_request(&self) -> f64 {
        self.lanes as f64 / self.requests as f64
    }

    /// 4 is ideal for 4-byte elements, 8 for 8-byte elements. Only of a sum over
    /// [`global`](Counters::global) accesses it means something; NaN without requests.
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
