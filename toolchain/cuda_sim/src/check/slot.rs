//! Accesses of a warp, packed into sixteen bytes.

use crate::Site;
use crate::access::{Kind, TracedAccess};

/// Accesses by lanes of one warp with the same kind, site, size and time.
///
/// A slot without lanes is empty. A slot with lanes and time zero refers to a list in
/// [`Lists`](super::page::Lists), because accesses have later times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Slot {
    pub block: u32,
    /// The threads' clock at the access.
    pub time: u32,
    pub lanes: u32,
    /// Site, size, flags, and warp.
    label: u32,
}

const WARP_BITS: u32 = 5;
const FLAG_BITS: u32 = 3;
const SIZE_BITS: u32 = 3;
const FLAGS: u32 = WARP_BITS;
const SIZE: u32 = FLAGS + FLAG_BITS;
const SITE: u32 = SIZE + SIZE_BITS;

/// The flag of an atomic operation that reads.
pub(super) const READS: u32 = 1 << FLAGS;
/// The flag of an atomic operation that writes.
pub(super) const WRITES: u32 = 2 << FLAGS;
/// The flag of an atomic operation of block scope.
pub(super) const NARROW: u32 = 4 << FLAGS;

impl Slot {
    /// The slot of `access` by one thread; `flags` is zero for a plain access.
    #[inline]
    pub fn new(block: u32, thread: u32, time: u32, access: &TracedAccess, flags: u32) -> Self {
        let site = access.site.id();
        assert!(
            site >> (u32::BITS - SITE) == 0,
            "too many access sites in the source"
        );
        Self {
            block,
            time,
            lanes: 1 << (thread % 32),
            label: (site << SITE) | (access.size.trailing_zeros() << SIZE) | flags | (thread / 32),
        }
    }

    /// A reference to the list with this number.
    pub fn list(number: u32) -> Self {
        Self {
            block: number,
            time: 0,
            lanes: u32::MAX,
            label: 0,
        }
    }

    /// The number of the list that this slot refers to.
    #[inline]
    pub fn as_list(&self) -> Option<u32> {
        (self.time == 0 && self.lanes != 0).then_some(self.block)
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.lanes == 0
    }

    #[inline]
    pub fn warp(&self) -> u32 {
        self.label & ((1 << WARP_BITS) - 1)
    }

    /// Whether any of `flags` is set.
    #[inline]
    pub fn has(&self, flags: u32) -> bool {
        self.label & flags != 0
    }

    /// The flags that are set: [`READS`], [`WRITES`], [`NARROW`].
    pub fn flags(&self) -> u32 {
        self.label & (READS | WRITES | NARROW)
    }

    /// Whether the slots differ at most in their lanes.
    #[inline]
    pub fn like(&self, other: &Self) -> bool {
        self.block == other.block && self.time == other.time && self.label == other.label
    }

    pub fn same_warp(&self, other: &Self) -> bool {
        self.block == other.block && self.warp() == other.warp()
    }

    /// The first thread among `lanes`.
    pub fn thread(&self, lanes: u32) -> u32 {
        self.warp() * 32 + lanes.trailing_zeros()
    }

    /// The access, with one of its bytes at `address`.
    pub fn access(&self, kind: Kind, address: usize) -> TracedAccess {
        let size = 1 << ((self.label >> SIZE) & ((1 << SIZE_BITS) - 1));
        TracedAccess {
            site: Site::from_id(self.label >> SITE),
            kind,
            address: address & !(size as usize - 1),
            size,
        }
    }
}
