//! Accesses to memory, for checks and counters.

use crate::Site;

/// The memories that threads share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Space {
    /// The device's global memory.
    Global,
    /// The block's shared memory.
    Shared,
}

/// The kinds of accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// A plain load.
    Load,
    /// A plain store.
    Store,
    /// An atomic operation: a load, a store or both.
    Atomic,
}

/// The threads that an atomic operation or a fence is visible to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scope {
    /// The threads of the block.
    Block,
    /// The threads of the device.
    Device,
    /// The threads of all devices and of the host.
    System,
}

/// One access by one thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TracedAccess {
    pub site: Site,
    pub kind: Kind,
    /// The address in global memory; in shared memory, the offset from its start.
    pub address: usize,
    /// In bytes: 1, 2, 4, 8 or 16.
    pub size: u32,
}
