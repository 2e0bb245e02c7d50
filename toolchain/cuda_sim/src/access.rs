//! What a thread does to memory, as checks and counters see it.

use crate::Site;

/// The memories that threads have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Space {
    /// The device's.
    Global,
    /// The block's.
    Shared,
}

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// A plain load.
    Load,
    /// A plain store.
    Store,
    /// An atomic operation: a load, a store or both.
    Atomic,
}

/// Whose threads an atomic operation or a fence counts for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scope {
    /// The threads of the block.
    Block,
    /// All threads of the device.
    Device,
    /// Those of all devices and of the host.
    System,
}

/// One access by one thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access {
    pub site: Site,
    pub kind: Kind,
    /// Of global memory the address; of shared memory the offset from its start.
    pub address: usize,
    /// In bytes: 1, 2, 4, 8 or 16.
    pub size: u32,
}
