//! Events in a lane's log.

use crate::{Site, Space};
use std::fmt;

/// The kinds of instructions that are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum InstructionKind {
    /// A plain load.
    Load(Space),
    /// A plain store.
    Store(Space),
    /// An atomic operation.
    Atomic(Space),
    /// A block barrier, counted once for each warp.
    Barrier,
    /// `sync_warp`.
    SyncWarp,
    /// A shuffle.
    Shuffle,
    /// A vote.
    Vote,
    /// A match.
    Match,
    /// A warp reduction, `redux`.
    Redux,
    /// A fence.
    Fence,
}

impl InstructionKind {
    /// All kinds, in the order of [`code`](Self::code).
    const ALL: [Self; 13] = [
        Self::Load(Space::Global),
        Self::Load(Space::Shared),
        Self::Store(Space::Global),
        Self::Store(Space::Shared),
        Self::Atomic(Space::Global),
        Self::Atomic(Space::Shared),
        Self::Barrier,
        Self::SyncWarp,
        Self::Shuffle,
        Self::Vote,
        Self::Match,
        Self::Redux,
        Self::Fence,
    ];

    /// The memory that it accesses.
    pub fn space(self) -> Option<Space> {
        match self {
            Self::Load(space) | Self::Store(space) | Self::Atomic(space) => Some(space),
            _ => None,
        }
    }

    /// Whether lanes wait for each other in it.
    fn is_collective(self) -> bool {
        self.space().is_none() && self != Self::Fence
    }

    #[inline]
    fn code(self) -> u8 {
        let second = |space| u8::from(space == Space::Shared);
        match self {
            Self::Load(space) => second(space),
            Self::Store(space) => 2 + second(space),
            Self::Atomic(space) => 4 + second(space),
            Self::Barrier => 6,
            Self::SyncWarp => 7,
            Self::Shuffle => 8,
            Self::Vote => 9,
            Self::Match => 10,
            Self::Redux => 11,
            Self::Fence => 12,
        }
    }
}

impl fmt::Display for InstructionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Load(Space::Global) => "load global",
            Self::Load(Space::Shared) => "load shared",
            Self::Store(Space::Global) => "store global",
            Self::Store(Space::Shared) => "store shared",
            Self::Atomic(Space::Global) => "atomic global",
            Self::Atomic(Space::Shared) => "atomic shared",
            Self::Barrier => "barrier",
            Self::SyncWarp => "sync_warp",
            Self::Shuffle => "shuffle",
            Self::Vote => "vote",
            Self::Match => "match",
            Self::Redux => "redux",
            Self::Fence => "fence",
        })
    }
}

/// One access, collective or fence by one lane.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Event {
    pub site: Site,
    pub what: InstructionKind,
    /// The address in global memory, the offset in shared memory, the source lane of a shuffle; 0 for other events.
    pub address: u64,
    /// In bytes; 0 for events without an address.
    pub size: u32,
}

impl Event {
    #[inline]
    pub(super) fn instruction(&self) -> Instruction {
        debug_assert!(
            self.size <= 32,
            "an access of {} bytes; the limit is 32",
            self.size
        );
        Instruction(
            u64::from(self.site.id())
                | u64::from(self.what.code()) << 32
                | u64::from(self.size) << 40,
        )
    }
}

/// Site, kind and size in one word: lanes with equal instructions can form one request.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Instruction(u64);

impl Instruction {
    pub fn site_id(self) -> u32 {
        self.0 as u32
    }

    pub fn site(self) -> Site {
        Site::from_id(self.site_id())
    }

    #[inline]
    pub fn what(self) -> InstructionKind {
        InstructionKind::ALL[usize::from((self.0 >> 32) as u8)]
    }

    #[inline]
    pub fn size(self) -> u32 {
        (self.0 >> 40) as u32
    }

    pub fn is_collective(self) -> bool {
        self.what().is_collective()
    }

    /// Its position in the source.
    pub fn position(self) -> impl Ord {
        (self.site(), self.what(), self.size())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::Location;

    #[test]
    fn an_instruction_is_site_what_and_size() {
        let site = Site::of(Location::caller());
        for what in InstructionKind::ALL {
            for size in [0, 1, 16, 32] {
                let address = 7;
                let event = Event {
                    site,
                    what,
                    address,
                    size,
                };
                let instruction = event.instruction();
                assert_eq!(instruction.site(), site);
                assert_eq!(instruction.what(), what);
                assert_eq!(instruction.size(), size);
            }
        }
    }
}
