//! A page of shadow memory: the last accesses to its bytes.

use super::atomics::Atomics;
use super::clocks::Clocks;
use super::pool::Pool;
use super::slot::{Slot, WRITES};
use super::{Atomic, Race, readers};
use crate::access::Kind;

/// A page of shadow memory, divided into cells. A cell is as wide as the narrowest access so far, so an
/// access always covers whole cells.
pub(super) struct Page {
    /// The shadow's generation at the last use; contents of an earlier generation are void.
    pub generation: u64,
    /// Log2 of a cell's width in bytes.
    pub shift: u32,
    /// Log2 of the page's width in bytes.
    bits: u32,
    /// For each cell, the plain loads since the last plain store. Empty before the first.
    loads: Vec<Slot>,
    /// For each cell, the last plain store. Empty before the first.
    stores: Vec<Slot>,
    /// For each cell, the number of its list of atomic operations, or zero. Empty before the first.
    atomics: Vec<u32>,
}

/// The lists of cells with several accesses.
#[derive(Default)]
pub(super) struct Lists {
    readers: Pool<Vec<Slot>>,
    atomics: Pool<Atomics>,
}

impl Lists {
    /// Returns all lists to the pool.
    pub fn clear(&mut self) {
        self.readers.clear();
        self.atomics.clear();
    }
}

/// A conflicting access that is not ordered, and its lanes.
pub(super) struct Found {
    slot: Slot,
    lanes: u32,
    kind: Kind,
    scoped: bool,
}

impl Found {
    fn new((slot, lanes): (Slot, u32), kind: Kind) -> Self {
        Self {
            slot,
            lanes,
            kind,
            scoped: false,
        }
    }

    /// The race with this access, in the cell at `address`.
    #[cold]
    pub fn race(self, address: usize) -> Race {
        Race {
            block: self.slot.block,
            thread: self.slot.thread(self.lanes),
            access: self.slot.access(self.kind, address),
            scoped: self.scoped,
        }
    }
}

/// An access and its thread.
#[derive(Clone, Copy)]
pub(super) struct By<'a> {
    pub clocks: &'a Clocks,
    pub thread: u32,
    pub slot: Slot,
}

impl By<'_> {
    #[inline]
    fn unordered(&self, slot: &Slot, kind: Kind) -> Option<Found> {
        let lanes = self.clocks.unordered(self.thread, slot);
        (lanes != 0).then(|| Found::new((*slot, lanes), kind))
    }
}

impl Page {
    /// An unused page of `1 << bits` bytes.
    pub fn new(bits: u32) -> Self {
        Self {
            generation: 0,
            shift: 0,
            bits,
            loads: Vec::new(),
            stores: Vec::new(),
            atomics: Vec::new(),
        }
    }

    /// Discards the contents.
    pub fn reset(&mut self, generation: u64, shift: u32) {
        self.generation = generation;
        self.shift = shift;
        self.loads.clear();
        self.stores.clear();
        self.atomics.clear();
    }

    /// Adds a plain load of a cell; returns an access that it races with.
    #[inline]
    pub fn load(&mut self, cell: usize, lists: &mut Lists, by: By) -> Option<Found> {
        let mut found = self.stored(cell, by);
        if found.is_none() && !self.atomics.is_empty() {
            found = self.operated(cell, lists, by, false);
        }
        if self.loads.is_empty() {
            self.loads.resize(self.cells(), Slot::default());
        }
        let loads = &mut self.loads[cell];
        if loads.like(&by.slot) {
            loads.lanes |= by.slot.lanes;
        } else if loads.as_list().is_none() && by.clocks.unordered(by.thread, loads) == 0 {
            *loads = by.slot;
        } else {
            lists.add_reader(loads, by);
        }
        found
    }

    /// Adds a plain store to a cell; returns an access that it races with.
    ///
    /// It replaces all earlier accesses: accesses ordered after it are also ordered after them.
    #[inline]
    pub fn store(&mut self, cell: usize, lists: &mut Lists, by: By) -> Option<Found> {
        let mut found = self.stored(cell, by);
        if !self.loads.is_empty() {
            found = found.or_else(|| self.loaded(cell, lists, by));
            if let Some(list) = self.loads[cell].as_list() {
                lists.readers.give(list);
            }
            self.loads[cell] = Slot::default();
        }
        if !self.atomics.is_empty() {
            found = found.or_else(|| self.operated(cell, lists, by, true));
            if self.atomics[cell] != 0 {
                lists.atomics.give(self.atomics[cell]);
                self.atomics[cell] = 0;
            }
        }
        if self.stores.is_empty() {
            self.stores.resize(self.cells(), Slot::default());
        }
        self.stores[cell] = by.slot;
        found
    }

    /// Checks an atomic operation on a cell; returns an access that it races with. `scopes`: whether scopes
    /// matter, because several blocks can access the memory.
    pub fn check_atomic(
        &mut self,
        cell: usize,
        lists: &mut Lists,
        by: By,
        scopes: bool,
    ) -> Option<Found> {
        let mut found = self.stored(cell, by);
        if by.slot.has(WRITES) && !self.loads.is_empty() {
            found = found.or_else(|| self.loaded(cell, lists, by));
        }
        if self.atomics.is_empty() {
            self.atomics.resize(self.cells(), 0);
        }
        let number = &mut self.atomics[cell];
        if *number == 0 {
            *number = lists.atomics.take();
        }
        if found.is_none() && scopes {
            found = lists.atomics[*number]
                .races_with_atomic(by.clocks, by.thread, &by.slot)
                .map(|race| Found {
                    scoped: true,
                    ..Found::new(race, Kind::Atomic)
                });
        }
        found
    }

    /// Adds an atomic operation that [`check_atomic`](Self::check_atomic) has checked.
    pub fn add_atomic(
        &self,
        cell: usize,
        lists: &mut Lists,
        clocks: &mut Clocks,
        thread: u32,
        slot: Slot,
        atomic: Atomic,
    ) {
        lists.atomics[self.atomics[cell]].add(clocks, thread, slot, atomic);
    }

    /// A plain store that `by` races with.
    #[inline]
    fn stored(&self, cell: usize, by: By) -> Option<Found> {
        by.unordered(self.stores.get(cell)?, Kind::Store)
    }

    /// A plain load that the write `by` races with.
    #[inline]
    fn loaded(&self, cell: usize, lists: &Lists, by: By) -> Option<Found> {
        let loads = &self.loads[cell];
        match loads.as_list() {
            None => by.unordered(loads, Kind::Load),
            Some(list) => lists.readers[list]
                .iter()
                .find_map(|load| by.unordered(load, Kind::Load)),
        }
    }

    /// An atomic operation that the plain access `by` races with.
    fn operated(&self, cell: usize, lists: &Lists, by: By, stores: bool) -> Option<Found> {
        let number = self.atomics[cell];
        if number == 0 {
            return None;
        }
        let atomics = &lists.atomics[number];
        let race = atomics.races_with_plain(by.clocks, by.thread, stores)?;
        Some(Found::new(race, Kind::Atomic))
    }

    fn cells(&self) -> usize {
        1 << (self.bits - self.shift)
    }

    /// Splits cells until they are `1 << shift` bytes wide.
    #[cold]
    pub fn split(&mut self, shift: u32, lists: &mut Lists) {
        let parts = 1 << (self.shift - shift);
        self.shift = shift;
        split(&mut self.stores, parts, |store| store);
        split(&mut self.loads, parts, |loads| match loads.as_list() {
            None => loads,
            Some(list) => {
                let copy = lists.readers.take();
                lists.readers[copy] = lists.readers[list].clone();
                Slot::list(copy)
            }
        });
        split(&mut self.atomics, parts, |number| match number {
            0 => 0,
            _ => {
                let copy = lists.atomics.take();
                lists.atomics[copy] = lists.atomics[number].clone();
                copy
            }
        });
    }
}

impl Lists {
    /// Adds a load to a cell, and drops loads that happen before it.
    #[cold]
    fn add_reader(&mut self, loads: &mut Slot, by: By) {
        let number = loads.as_list().unwrap_or_else(|| {
            let number = self.readers.take();
            self.readers[number].push(*loads);
            *loads = Slot::list(number);
            number
        });
        let list = &mut self.readers[number];
        readers::add(list, by.clocks, by.thread, by.slot);
        if let [only] = list[..] {
            *loads = only;
            self.readers.give(number);
        }
    }
}

/// Replaces each cell by `parts` cells: the cell and copies of it.
fn split<T: Copy>(cells: &mut Vec<T>, parts: usize, mut copy: impl FnMut(T) -> T) {
    let mut split = Vec::with_capacity(cells.len() * parts);
    for &cell in &*cells {
        split.push(cell);
        split.extend((1..parts).map(|_| copy(cell)));
    }
    *cells = split;
}
