//! Races and uninitialised memory.
//!
//! Two accesses race when they touch a byte in common, come from different threads, at least one
//! writes, at least one is plain, and neither *happens before* the other. What happens before what
//! follows from the program alone, not from the order in which the simulator ran it: a race is
//! found under every schedule that reaches both accesses.
//!
//! The order is PTX's causality order, simplified where it can only miss a race and never invent
//! one:
//!
//! - A thread's own accesses are in program order. A block barrier orders all threads of the block;
//!   one that has exited counts as having arrived. A `sync_warp` orders its members. Shuffles,
//!   votes, matches and reductions order nothing.
//! - A fence followed by an atomic write *publishes* what the thread knew at the fence. Whoever
//!   reads that location atomically, and fences after, knows it too. Read-modify-writes pass on
//!   what was published before them; any other store starts anew. A `release` operation is a fence
//!   and then the operation, an `acquire` operation is the operation and then a fence.
//! - A fence of block scope publishes to, and acquires from, its own block alone.
//! - Whoever reads a location atomically comes after all atomic writes made to it before, without
//!   any fence; nothing else those threads did is ordered by it.
//! - Atomic operations do not race with each other, except when they come from different blocks and
//!   one is of block scope.

mod atomics;
mod clocks;
mod initialised;
mod knowledge;
mod page;
mod pool;
mod readers;
mod shadow;
mod slot;
#[cfg(test)]
mod tests;

pub(crate) use clocks::Clocks;
pub(crate) use initialised::Initialised;
pub(crate) use shadow::Shadow;

use crate::access::{Access, Scope};

/// What an atomic operation does beyond being atomic.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Atomic {
    pub scope: Scope,
    pub acquire: bool,
    pub release: bool,
    pub reads: bool,
    /// Whether it wrote: not if it was a comparison that failed.
    pub writes: bool,
}

/// The other side of a race; the near side is the caller.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Race {
    pub block: u32,
    pub thread: u32,
    /// The earlier access. Its address is exact if it was aligned to its size.
    pub access: Access,
    /// Both are atomic, but a scope is too narrow.
    pub scoped: bool,
}
