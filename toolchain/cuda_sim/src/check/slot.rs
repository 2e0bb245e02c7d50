//! Accesses of a warp, packed into sixteen bytes.

use crate::Site;
use crate::access::{Kind, TracedAccess};

/// Accesses by lanes of one warp with the same kind, site, size and time.
///
/// A slot without lanes is empty. A slot with lanes and time zero stands for a list in
/// [`Lists`](super::page::Lists): no clock shows time zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Slot {
    pub block: u32,
    /// The threads' clock at the access.
    pub time: u32,
    pub lanes: u32,
    /// Site, size, attributes, and warp.
    label: u32,
}

const WARP_BITS: u32 = 5;
const DOES_BITS: u32 = 3;
const SIZE_BITS: u32 = 3;
const DOES: u32 = WARP_BITS;
const SIZE: u32 = DOES + DOES_BITS;
const SITE: u32 = SIZE + SIZE_BITS;

/// An atomic operation that reads.
pub(super) const READS: u32 = 1 << DOES;
/// An atomic operation that writes.
pub(super) const WRITES: u32 = 2 << DOES;
/// An atomic operation of block scope.
pub(super) const NARROW: u32 = 4 << DOES;

impl Slot {
    /// `access` by one thread; `does` is zero for a plain access.
    #[inline]
    pub fn new(block: u32, thread: u32, time: u32, access: &TracedAccess, does: u32) -> Self {
        let site = access.site.id();
        assert!(
            site >> (u32::BITS - SITE) == 0,
            "too many access sites in the source"
        );
        Self {
            block,
            time,
            lanes: 1 << (thread % 32),
            label: (site << SITE) | (access.size.trailing_zeros() << SIZE) | does | (thread / 32),
        }
    }

    /// The list with this number.
    pub fn list(number: u32) -> Self {
        Self {
            block: number,
            time: 0,
            lanes: u32::MAX,
            label: 0,
        }
    }

    /// The number of the list that this slot stands for.
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

    /// Whether it has any of the attributes `what`.
    #[inline]
    pub fn does(&self, what: u32) -> bool {
        self.label & what != 0
    }

    /// Its attributes: [`READS`], [`WRITES`], [`NARROW`].
    pub fn flags(&self) -> u32 {
        self.label & (READS | WRITES | NARROW)
    }

    /// Whether the two differ in their lanes only.
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
