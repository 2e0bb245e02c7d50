//! Tests of the race detector with hand-written traces, and with random programs against an oracle.

mod atomics;
mod blocks;
mod oracle;
mod plain;
mod property;

use std::panic::Location;

use super::{Atomic, Clocks, Race, Shadow};
use crate::Site;
use crate::access::{Kind, Scope, Space, TracedAccess};

/// Several blocks and one memory; the calls are the accesses in their order.
struct Trace {
    blocks: Vec<Clocks>,
    memory: Shadow,
}

/// A relaxed read-modify-write of device scope.
const ADD: Atomic = Atomic {
    scope: Scope::Device,
    acquire: false,
    release: false,
    reads: true,
    writes: true,
};

const LOAD: Atomic = Atomic {
    writes: false,
    ..ADD
};

const STORE: Atomic = Atomic {
    reads: false,
    ..ADD
};

/// `atomic` with block scope.
const fn narrow(atomic: Atomic) -> Atomic {
    Atomic {
        scope: Scope::Block,
        ..atomic
    }
}

/// A thread: its block and its index.
type Thread = (u32, u32);

impl Trace {
    fn new(space: Space, blocks: u32, threads: u32) -> Self {
        Self {
            blocks: (0..blocks).map(|b| Clocks::new(b, threads)).collect(),
            memory: Shadow::new(space),
        }
    }

    /// One block, with shared memory.
    fn block(threads: u32) -> Self {
        Self::new(Space::Shared, 1, threads)
    }

    fn grid(blocks: u32, threads: u32) -> Self {
        Self::new(Space::Global, blocks, threads)
    }

    #[track_caller]
    fn plain(&mut self, by: Thread, kind: Kind, address: usize, size: u32) -> Option<Race> {
        let access = access(kind, address, size);
        self.memory
            .plain(&self.blocks[by.0 as usize], by.1, &access)
    }

    /// Loads a word.
    #[track_caller]
    fn load(&mut self, by: Thread, address: usize) -> Option<Thread> {
        earlier(self.plain(by, Kind::Load, address, 4))
    }

    /// Stores a word.
    #[track_caller]
    fn store(&mut self, by: Thread, address: usize) -> Option<Thread> {
        earlier(self.plain(by, Kind::Store, address, 4))
    }

    #[track_caller]
    fn wide_atomic(
        &mut self,
        by: Thread,
        address: usize,
        size: u32,
        atomic: Atomic,
    ) -> Option<Race> {
        let access = access(Kind::Atomic, address, size);
        self.memory
            .atomic(&mut self.blocks[by.0 as usize], by.1, &access, atomic)
    }

    /// An atomic operation on a word.
    #[track_caller]
    fn atomic(&mut self, by: Thread, address: usize, atomic: Atomic) -> Option<Thread> {
        earlier(self.wide_atomic(by, address, 4, atomic))
    }

    fn fence(&mut self, by: Thread, scope: Scope) {
        self.blocks[by.0 as usize].fence(by.1, scope);
    }

    fn barrier(&mut self, block: u32) {
        self.blocks[block as usize].barrier();
    }
}

/// The thread of the earlier access of a race.
fn earlier(race: Option<Race>) -> Option<Thread> {
    race.map(|race| (race.block, race.thread))
}

#[track_caller]
fn access(kind: Kind, address: usize, size: u32) -> TracedAccess {
    TracedAccess {
        site: Site::of(Location::caller()),
        kind,
        address,
        size,
    }
}

#[test]
fn blocks_can_run_on_several_threads() {
    fn assert_send<T: Send>() {}
    assert_send::<Clocks>();
    assert_send::<Shadow>();
}
