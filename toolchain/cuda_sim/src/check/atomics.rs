//! Atomic operations on one location.

use std::sync::Weak;

use super::Atomic;
use super::clocks::Clocks;
use super::knowledge::Shared;
use super::pool::Reuse;
use super::readers;
use super::slot::{NARROW, READS, Slot, WRITES};

/// How many operations of other blocks are remembered for the sake of scopes. Forgetting one can
/// only miss that a scope is too narrow.
const OTHER_BLOCKS: usize = 8;

/// How many observers are told apart.
const OBSERVERS: usize = 128;

/// The atomic operations on one location since the last plain store to it.
///
/// Whoever reads the location atomically *observes* all atomic writes made to it before, and who
/// comes after the observer comes after them. So a read-modify-write stands for all writes before
/// it: nobody comes after it and not after them.
#[derive(Clone, Default)]
pub(super) struct Atomics {
    /// Advances at a write that follows a read: writes of an epoch come before its reads.
    epoch: u32,
    /// The location was read in this epoch.
    read: bool,
    /// Observers of this epoch or before were dropped. Where it matters whom exactly they ordered,
    /// everybody counts as ordered.
    dropped: Option<u32>,
    /// The last read-modify-write, if it is still needed, and stores not ordered behind it.
    writes: Vec<Operation>,
    /// Reads that no other read of their epoch happens before.
    observers: Vec<Operation>,
    /// Reads, for the sake of plain stores.
    reads: Vec<Slot>,
    /// The last operation of each block and kind, for the sake of scopes.
    last: Vec<Operation>,
    published: Published,
}

#[derive(Clone, Copy)]
struct Operation {
    slot: Slot,
    epoch: u32,
}

impl Reuse for Atomics {
    fn reuse(&mut self) {
        self.epoch = 0;
        self.read = false;
        self.dropped = None;
        self.writes.clear();
        self.observers.clear();
        self.reads.clear();
        self.last.clear();
        self.published = Published::default();
    }
}

impl Atomics {
    /// An operation that `thread`'s plain access races with, and the racing lanes of it.
    pub fn races_with_plain(
        &self,
        clocks: &Clocks,
        thread: u32,
        stores: bool,
    ) -> Option<(Slot, u32)> {
        let unknown = |slot: &Slot| {
            let lanes = clocks.unknown(thread, slot);
            (lanes != 0).then_some((*slot, lanes))
        };
        let any = self.writes.iter().any(|w| unknown(&w.slot).is_some());
        let observed = if any {
            self.observed(clocks, thread)
        } else {
            None
        };
        let mut writes = self
            .writes
            .iter()
            .filter(|write| any && observed.is_none_or(|observed| observed < write.epoch));
        let mut reads = self.reads.iter().filter(|_| stores);
        writes
            .find_map(|write| unknown(&write.slot))
            .or_else(|| reads.find_map(unknown))
    }

    /// The last epoch whose writes happen before `thread`'s next access because somebody observed
    /// them.
    fn observed(&self, clocks: &Clocks, thread: u32) -> Option<u32> {
        let known = |observer: &&Operation| {
            observer.slot.does(READS)
                && clocks.unknown(thread, &observer.slot) != observer.slot.lanes
        };
        self.writes
            .iter()
            .chain(&self.observers)
            .filter(known)
            .map(|observer| observer.epoch)
            .chain(self.dropped)
            .max()
    }

    /// An operation of another block that `operation` of `thread` is not atomic towards, because a
    /// scope is too narrow, and the racing lanes of it.
    pub fn races_with_atomic(
        &self,
        clocks: &Clocks,
        thread: u32,
        operation: &Slot,
    ) -> Option<(Slot, u32)> {
        // Its own block's observers count although it may not come after them.
        let observed = || {
            self.last
                .iter()
                .filter(|last| last.slot.block == operation.block && last.slot.does(READS))
                .map(|last| last.epoch)
                .chain(self.observed(clocks, thread))
                .max()
        };
        self.last.iter().find_map(|last| {
            let conflict = last.slot.block != operation.block
                && (last.slot.does(NARROW) || operation.does(NARROW))
                && (last.slot.does(WRITES) || operation.does(WRITES));
            if !conflict {
                return None;
            }
            let lanes = clocks.unknown(thread, &last.slot);
            let ordered = lanes == 0
                || last.slot.does(WRITES)
                    && observed().is_some_and(|observed| last.epoch <= observed);
            (!ordered).then_some((last.slot, lanes))
        })
    }

    /// Adds an operation of `thread`, and lets it publish and collect.
    pub fn add(&mut self, clocks: &mut Clocks, thread: u32, slot: Slot, atomic: Atomic) {
        if atomic.writes {
            self.epoch += u32::from(self.read);
            self.read = false;
        }
        self.read |= atomic.reads;
        let operation = Operation {
            slot,
            epoch: self.epoch,
        };
        match (atomic.reads, atomic.writes) {
            (true, true) => {
                self.drop_observers(self.epoch);
                self.writes.clear();
                self.writes.push(operation);
            }
            (false, true) => self.add_store(clocks, thread, operation),
            _ => {
                self.add_observer(clocks, thread, operation);
                readers::add(&mut self.reads, clocks, thread, slot);
            }
        }
        self.remember(operation);
        if atomic.writes {
            if !atomic.reads {
                self.published = Published::default();
            }
            self.published.add(clocks, thread);
        }
        if atomic.reads {
            clocks.collect(thread, &self.published);
        }
    }

    fn add_store(&mut self, clocks: &Clocks, thread: u32, store: Operation) {
        if let Some(last) = self.writes.last_mut()
            && last.epoch == store.epoch
            && last.slot.like(&store.slot)
        {
            last.slot.lanes |= store.slot.lanes;
            return;
        }
        // Who comes after the new one comes after those that happen before it.
        let mut first = store.epoch;
        self.writes.retain_mut(|write| {
            let lanes = clocks.unknown(thread, &write.slot);
            if lanes != 0 {
                first = first.min(write.epoch);
                write.slot.lanes = lanes;
            } else if write.slot.does(READS) {
                self.dropped = self.dropped.max(Some(write.epoch));
            }
            lanes != 0
        });
        self.writes.push(store);
        self.drop_observers(first);
    }

    /// Drops the observers of epochs before `first`, the first of which a write is left: nobody
    /// needs them to come after it.
    fn drop_observers(&mut self, first: u32) {
        let writes = self.writes.iter().filter(|write| write.slot.does(READS));
        let old = writes
            .chain(&self.observers)
            .map(|observer| observer.epoch)
            .filter(|&epoch| epoch < first);
        self.dropped = self.dropped.max(old.max());
        self.observers.retain(|observer| observer.epoch >= first);
    }

    fn add_observer(&mut self, clocks: &Clocks, thread: u32, read: Operation) {
        if self.writes.is_empty() {
            return;
        }
        let mut this_epoch = self
            .observers
            .iter_mut()
            .filter(|observer| observer.epoch == read.epoch);
        // Who comes after the new one comes after one that happens before it.
        if this_epoch.any(|old| clocks.unknown(thread, &old.slot) != old.slot.lanes) {
            return;
        }
        if let Some(last) = self.observers.last_mut()
            && last.epoch == read.epoch
            && last.slot.like(&read.slot)
        {
            last.slot.lanes |= read.slot.lanes;
        } else if self.observers.len() == OBSERVERS {
            self.observers.clear();
            self.dropped = Some(read.epoch);
        } else {
            self.observers.push(read);
        }
    }

    fn remember(&mut self, operation: Operation) {
        let slot = &operation.slot;
        let same = |last: &&mut Operation| {
            last.slot.block == slot.block && last.slot.all_it_does() == slot.all_it_does()
        };
        if let Some(last) = self.last.iter_mut().find(same) {
            *last = operation;
            return;
        }
        let other = |last: &Operation| last.slot.block != slot.block;
        if self.last.iter().filter(|last| other(last)).count() > OTHER_BLOCKS
            && let Some(oldest) = self.last.iter().position(other)
        {
            self.last.remove(oldest);
        }
        self.last.push(operation);
    }
}

/// What fences and atomic writes have left at a location for those who read it.
#[derive(Clone, Default)]
pub(super) struct Published {
    /// For all threads.
    wide: Shared,
    /// For the threads of one block each: what its own threads left, by fences of any scope.
    local: Vec<Local>,
    /// Blocks that have ended are dropped when there are so many.
    sweep: usize,
}

#[derive(Clone)]
struct Local {
    block: u32,
    alive: Weak<()>,
    knowledge: Shared,
}

impl Published {
    pub fn wide(&self) -> &Shared {
        &self.wide
    }

    pub fn local(&self, block: u32) -> &Shared {
        // The block that is running is mostly the last that came.
        let found = self.local.iter().rev().find(|local| local.block == block);
        found.map_or(&None, |local| &local.knowledge)
    }

    /// Adds what an atomic write by `thread` publishes.
    fn add(&mut self, clocks: &Clocks, thread: u32) {
        let Some(fenced) = clocks.fenced(thread) else {
            return;
        };
        if let Some(snapshot) = &fenced.wide {
            snapshot.publish(&mut self.wide);
        }
        if let Some(snapshot) = &fenced.local {
            snapshot.publish(self.local_mut(clocks));
        }
    }

    fn local_mut(&mut self, clocks: &Clocks) -> &mut Shared {
        let block = clocks.block();
        let at = match self.local.iter().rposition(|local| local.block == block) {
            Some(at) => at,
            None => {
                if self.local.len() >= self.sweep {
                    self.local.retain(|local| local.alive.strong_count() > 0);
                    self.sweep = 2 * self.local.len() + 8;
                }
                self.local.push(Local {
                    block,
                    alive: clocks.alive(),
                    knowledge: None,
                });
                self.local.len() - 1
            }
        };
        &mut self.local[at].knowledge
    }
}
