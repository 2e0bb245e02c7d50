//! Requests, counted and summed.

use super::banks::wavefronts;
use super::coalescing::{most_on_one_address, sectors};
use super::counters::{Counters, Counts, Line};
use super::event::{Instruction, InstructionKind};
use super::request::Request;
use crate::Space;

/// The counts so far of a block or a launch.
#[derive(Clone, Default)]
pub(crate) struct Tally {
    entries: Vec<Entry>,
    /// The newest entry of each site: its index plus one, or 0 for none.
    newest: Vec<u32>,
    /// How many requests are kept.
    keep: usize,
    /// The first requests that access memory, and shuffles.
    kept: Vec<Request>,
}

#[derive(Clone, Copy)]
struct Entry {
    instruction: Instruction,
    counts: Counts,
    /// The next older entry of the same site, encoded as in `newest`.
    older: u32,
}

impl Tally {
    /// A tally that keeps the first `keep` requests.
    pub fn keeping(keep: usize) -> Self {
        Self {
            keep,
            ..Self::default()
        }
    }

    /// Adds one warp instruction of the lanes `active`.
    pub(super) fn request(&mut self, instruction: Instruction, active: u32, addresses: &[u64; 32]) {
        let size = instruction.size();
        if self.kept.len() < self.keep {
            self.kept
                .extend(Request::of(instruction, active, addresses));
        }
        let counts = self.counts(instruction);
        counts.requests += 1;
        counts.lanes += u64::from(active.count_ones());
        counts.partial += u64::from(active != u32::MAX);
        let what = instruction.what();
        match what.space() {
            Some(Space::Shared) => {
                let wavefronts = wavefronts(active, addresses, size);
                counts.wavefronts += u64::from(wavefronts.taken);
                counts.ideal_wavefronts += u64::from(wavefronts.ideal);
                counts.max_ways = counts.max_ways.max(wavefronts.ways);
            }
            Some(Space::Global) => {
                counts.sectors += u64::from(sectors(active, addresses, size));
            }
            None => {}
        }
        if let InstructionKind::Atomic(_) = what {
            let most = most_on_one_address(active, addresses);
            counts.passes += u64::from(most);
            counts.max_same_address = counts.max_same_address.max(most);
        }
    }

    /// Adds the counts of another block or launch.
    pub fn add(&mut self, other: &Self) {
        for entry in &other.entries {
            *self.counts(entry.instruction) += entry.counts;
        }
        self.kept.extend_from_slice(&other.kept);
    }

    /// The kept requests; those of the first worker come first.
    pub fn requests(&mut self, keep: usize) -> Vec<Request> {
        self.kept.truncate(keep);
        std::mem::take(&mut self.kept)
    }

    pub fn finish(self) -> Counters {
        let line = |entry: &Entry| Line {
            site: entry.instruction.site(),
            what: entry.instruction.what(),
            size: entry.instruction.size(),
            counts: entry.counts,
        };
        Counters::new(self.entries.iter().map(line).collect())
    }

    #[inline]
    fn counts(&mut self, instruction: Instruction) -> &mut Counts {
        let site = instruction.site_id() as usize;
        if site >= self.newest.len() {
            self.newest.resize(site + 1, 0);
        }
        let mut at = self.newest[site];
        while at != 0 && self.entries[at as usize - 1].instruction != instruction {
            at = self.entries[at as usize - 1].older;
        }
        if at == 0 {
            self.entries.push(Entry {
                instruction,
                counts: Counts::default(),
                older: self.newest[site],
            });
            at = self.entries.len() as u32;
            self.newest[site] = at;
        }
        &mut self.entries[at as usize - 1].counts
    }
}
