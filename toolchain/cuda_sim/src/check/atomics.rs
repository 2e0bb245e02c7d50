//! Atomic operations on one location.

use std::sync::Weak;

use super::Atomic;
use super::clocks::Clocks;
use super::pool::Reuse;
use super::readers;
use super::slot::{NARROW, READS, Slot, WRITES};
use super::vector_clock::Shared;

/// The maximum number of operations by other blocks that are stored for scope checks. Dropping one can only
/// hide that a scope is too narrow.
const OTHER_BLOCKS: usize = 8;

/// The maximum number of observers that are stored separately.
const OBSERVERS: usize = 128;

/// The atomic operations on one location since the last plain store to it.
///
/// An atomic read *observes* all earlier atomic writes to the location, and accesses ordered after the read
/// are ordered after these writes too. A read-modify-write reads and writes. So it replaces all writes before
/// it: accesses ordered after it are also ordered after them.
#[derive(Clone, Default)]
pub(super) struct Atomics {
    /// Increases at a write that follows a read. So the writes of an epoch come before its reads.
    epoch: u32,
    /// Whether the location was read in this epoch.
    read: bool,
    /// The last epoch whose observers were dropped. All accesses count as ordered after these observers.
    dropped: Option<u32>,
    /// The last read-modify-write, if it is still needed, and the stores that are not ordered before a later
    /// one.
    writes: Vec<Operation>,
    /// Reads, except those that happen before another read of the same epoch.
    observers: Vec<Operation>,
    /// Reads, for races with plain stores.
    reads: Vec<Slot>,
    /// The last operation of each block and kind, for scope checks.
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
    /// An operation that races with a plain access of `thread`, and the operation's racing lanes.
    pub fn races_with_plain(
        &self,
        clocks: &Clocks,
        thread: u32,
        stores: bool,
    ) -> Option<(Slot, u32)> {
        let unordered = |slot: &Slot| {
            let lanes = clocks.unordered(thread, slot);
            (lanes != 0).then_some((*slot, lanes))
        };
        let any = self.writes.iter().any(|w| unordered(&w.slot).is_some());
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
            .find_map(|write| unordered(&write.slot))
            .or_else(|| reads.find_map(unordered))
    }

    /// The last epoch whose writes happen before `thread`'s next access because another thread observed them.
    fn observed(&self, clocks: &Clocks, thread: u32) -> Option<u32> {
        let is_ordered = |observer: &&Operation| {
            observer.slot.has(READS)
                && clocks.unordered(thread, &observer.slot) != observer.slot.lanes
        };
        self.writes
            .iter()
            .chain(&self.observers)
            .filter(is_ordered)
            .map(|observer| observer.epoch)
            .chain(self.dropped)
            .max()
    }

    /// An operation of another block that races with `operation` of `thread` because a scope is too narrow,
    /// and the racing lanes of the former.
    pub fn races_with_atomic(
        &self,
        clocks: &Clocks,
        thread: u32,
        operation: &Slot,
    ) -> Option<(Slot, u32)> {
        // Observers of the operation's block count even if not ordered before it; this can only hide a race.
        let observed = || {
            self.last
                .iter()
                .filter(|last| last.slot.block == operation.block && last.slot.has(READS))
                .map(|last| last.epoch)
                .chain(self.observed(clocks, thread))
                .max()
        };
        self.last.iter().find_map(|last| {
            let conflict = last.slot.block != operation.block
                && (last.slot.has(NARROW) || operation.has(NARROW))
                && (last.slot.has(WRITES) || operation.has(WRITES));
            if !conflict {
                return None;
            }
            let lanes = clocks.unordered(thread, &last.slot);
            let ordered = lanes == 0
                || last.slot.has(WRITES)
                    && observed().is_some_and(|observed| last.epoch <= observed);
            (!ordered).then_some((last.slot, lanes))
        })
    }

    /// Adds an operation of `thread`, then publishes and acquires clocks.
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
        // The new store replaces the stores that happen before it.
        let mut first = store.epoch;
        self.writes.retain_mut(|write| {
            let lanes = clocks.unordered(thread, &write.slot);
            if lanes != 0 {
                first = first.min(write.epoch);
                write.slot.lanes = lanes;
            } else if write.slot.has(READS) {
                self.dropped = self.dropped.max(Some(write.epoch));
            }
            lanes != 0
        });
        self.writes.push(store);
        self.drop_observers(first);
    }

    /// Drops the observers of epochs before `first`, the epoch of the oldest remaining write.
    fn drop_observers(&mut self, first: u32) {
        let writes = self.writes.iter().filter(|write| write.slot.has(READS));
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
        // The new read replaces a read that happens before it.
        if this_epoch.any(|old| clocks.unordered(thread, &old.slot) != old.slot.lanes) {
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
            last.slot.block == slot.block && last.slot.flags() == slot.flags()
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

/// Clocks that atomic writes have published at a location.
#[derive(Clone, Default)]
pub(super) struct Published {
    /// For all threads.
    wide: Shared,
    /// For each block: the clocks that its threads published by fences of any scope.
    local: Vec<Local>,
    /// The length of `local` at which entries of ended blocks are removed.
    sweep: usize,
}

#[derive(Clone)]
struct Local {
    block: u32,
    alive: Weak<()>,
    clock: Shared,
}

impl Published {
    pub fn wide(&self) -> &Shared {
        &self.wide
    }

    pub fn local(&self, block: u32) -> &Shared {
        // The running block is usually the last in the list.
        let found = self.local.iter().rev().find(|local| local.block == block);
        found.map_or(&None, |local| &local.clock)
    }

    /// Publishes the clock of `thread`'s last fence.
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
        let index = match self.local.iter().rposition(|local| local.block == block) {
            Some(index) => index,
            None => {
                if self.local.len() >= self.sweep {
                    self.local.retain(|local| local.alive.strong_count() > 0);
                    self.sweep = 2 * self.local.len() + 8;
                }
                self.local.push(Local {
                    block,
                    alive: clocks.alive(),
                    clock: None,
                });
                self.local.len() - 1
            }
        };
        &mut self.local[index].clock
    }
}
