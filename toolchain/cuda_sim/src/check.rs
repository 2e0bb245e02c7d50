//! Detection of data races and of loads of uninitialised memory.
//!
//! Two accesses race under these conditions: they have a byte in common, come from different threads, at
//! least one writes, at least one is plain, and neither *happens before* the other. Happens-before follows
//! from the program alone, not from the order in which the simulator ran it. So a race is found under every
//! schedule that executes both accesses.
//!
//! The order is PTX's causality order. Each simplification can only miss a race, and never report a false
//! one:
//!
//! - A thread's own accesses are in program order. A block barrier orders all threads of the block; an exited
//!   thread counts as having reached it. A `sync_warp` orders its members. Shuffles, votes, matches and
//!   reductions order nothing.
//! - A fence followed by an atomic write *publishes* the thread's clock at the fence. A thread that reads
//!   this location atomically, and then issues a fence, acquires that clock. Read-modify-writes keep the
//!   clocks published before them; any other store discards them. A `release` operation is a fence and then
//!   the operation; an `acquire` operation is the operation and then a fence.
//! - A fence of block scope publishes to, and acquires from, threads of its own block only.
//! - An atomic read is ordered after all earlier atomic writes to the same location, without any fence. It
//!   orders no other accesses of the writing threads.
//! - Atomic operations do not race with each other, unless they come from different blocks and one of them
//!   has block scope.

mod atomics;
mod clocks;
mod initialised;
mod page;
mod pool;
mod readers;
mod shadow;
mod slot;
#[cfg(test)]
mod tests;
mod vector_clock;

pub(crate) use clocks::Clocks;
pub(crate) use initialised::Initialised;
pub(crate) use shadow::Shadow;

use crate::access::{Scope, TracedAccess};

/// The attributes of an atomic operation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Atomic {
    pub scope: Scope,
    pub acquire: bool,
    pub release: bool,
    pub reads: bool,
    /// Whether it wrote; false for a compare-and-swap whose comparison failed.
    pub writes: bool,
}

/// The earlier access of a race; the caller makes the later one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Race {
    pub block: u32,
    pub thread: u32,
    /// The earlier access. Its address is exact if it is aligned to the size.
    pub access: TracedAccess,
    /// Both accesses are atomic, but one scope does not include the other's thread.
    pub scoped: bool,
}
