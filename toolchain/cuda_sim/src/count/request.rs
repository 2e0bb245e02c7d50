//! Single warp instructions with the addresses of their lanes.

mod drawing;
mod exchange;
#[cfg(test)]
mod tests;

use super::InstructionKind;
use super::banks::wavefronts;
use super::coalescing::sectors;
use super::event::Instruction;
use crate::{Site, Space};
use std::fmt;

/// One warp instruction that accesses memory: which lanes took part, and at which addresses. Or a shuffle: which lane each lane
/// reads.
///
/// [`Simulator::record`](crate::Simulator::record) keeps them. [`Display`](fmt::Display) draws the request for a
/// terminal, [`to_svg`](Self::to_svg) for a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Where it is in the source.
    pub site: Site,
    /// The kind of instruction.
    pub what: InstructionKind,
    /// How many bytes each lane accesses; 0 for a shuffle.
    pub size: u32,
    /// The lanes that take part: bit `i` is lane `i`.
    pub active: u32,
    /// The address of each lane in global memory, its offset in shared memory, or the lane that it reads in a shuffle; 0 for a
    /// lane that is not active.
    pub addresses: [u64; 32],
}

impl Request {
    /// The request, if the instruction accesses memory or is a shuffle.
    pub(super) fn of(instruction: Instruction, active: u32, addresses: &[u64; 32]) -> Option<Self> {
        let what = instruction.what();
        let is_drawn = what.space().is_some() || what == InstructionKind::Shuffle;
        is_drawn.then(|| Self {
            site: instruction.site(),
            what: instruction.what(),
            size: instruction.size(),
            active,
            addresses: *addresses,
        })
    }

    /// What the memory does for it: the wavefronts of shared memory, or the 32-byte sectors of global memory; 0 for a shuffle.
    pub fn cost(&self) -> u32 {
        match self.what.space() {
            None => 0,
            Some(Space::Shared) => wavefronts(self.active, &self.addresses, self.size).taken,
            Some(Space::Global) => sectors(self.active, &self.addresses, self.size),
        }
    }

    /// The least cost for as many lanes: that of adjacent elements from the start of a sector.
    pub fn least_cost(&self) -> u32 {
        match self.what.space() {
            None => 0,
            Some(Space::Shared) => wavefronts(self.active, &self.addresses, self.size).ideal,
            Some(Space::Global) => (self.active.count_ones() * self.size).div_ceil(32),
        }
    }

    /// The drawing as an SVG image of its own, with a light background.
    ///
    /// For shared memory, a column is a bank and a row is a wavefront. For global memory, a row is a sector of 32
    /// bytes. A cell holds the lane that accesses this word, with a `+` if there are more. For a shuffle, lines lead from
    /// the lanes that are read to those that read them.
    pub fn to_svg(&self) -> String {
        if self.what == InstructionKind::Shuffle {
            return exchange::svg(self);
        }
        drawing::svg(self)
    }

    /// What it does, in words: `load shared, 4 bytes, 32 lanes: 2 wavefronts; 1 is possible`.
    pub fn summary(&self) -> String {
        if self.what == InstructionKind::Shuffle {
            return exchange::summary(self);
        }
        let (cost, least) = (self.cost(), self.least_cost());
        let unit = match self.what.space() {
            Some(Space::Shared) => "wavefront",
            _ => "sector",
        };
        let lanes = self.active.count_ones();
        let s = |n: u32| if n == 1 { "" } else { "s" };
        let mut text = format!(
            "{}, {} byte{}, {lanes} lane{}: {cost} {unit}{}",
            self.what,
            self.size,
            s(self.size),
            s(lanes),
            s(cost)
        );
        match least {
            1 if cost > 1 => text += "; 1 is possible",
            _ if cost > least => text += &format!("; {least} are possible"),
            _ => {}
        }
        text
    }
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&match self.what {
            InstructionKind::Shuffle => exchange::text(self),
            _ => drawing::text(self),
        })
    }
}
