//! Shadow memory: the last accesses to each byte.

use std::collections::HashMap;

use super::clocks::Clocks;
use super::page::{By, Lists, Page};
use super::slot::{NARROW, READS, WRITES};
use super::{Atomic, Race};
use crate::access::{Kind, Scope, Space, TracedAccess};

/// Shadow memory of one address space: the last accesses to each byte.
///
/// For each byte it holds the last plain store and the later accesses that are not ordered with each other.
/// It holds all accesses of the running block, and a limited number of other blocks' accesses.
pub(crate) struct Shadow {
    space: Space,
    /// Log2 of the size of a page in bytes.
    page_bits: u32,
    /// Pages of other generations are empty.
    generation: u64,
    pages: Vec<Page>,
    indices: HashMap<usize, usize>,
    /// Recently used pages: number and index.
    recent: Box<[(usize, usize); RECENT]>,
    lists: Lists,
}

const RECENT: usize = 256;

impl Shadow {
    /// Shadow memory without accesses.
    pub fn new(space: Space) -> Self {
        Self {
            space,
            page_bits: match space {
                Space::Global => 12,
                // Cleared for each block: small pages are cheaper to clear.
                Space::Shared => 9,
            },
            generation: 1,
            pages: Vec::new(),
            indices: HashMap::new(),
            recent: Box::new([(usize::MAX, 0); RECENT]),
            lists: Lists::default(),
        }
    }

    /// Removes all accesses, but keeps the allocations.
    pub fn clear(&mut self) {
        self.generation += 1;
        self.lists.clear();
    }

    /// Adds a plain access of `thread`; returns an access that it races with.
    #[inline]
    pub fn plain(&mut self, clocks: &Clocks, thread: u32, access: &TracedAccess) -> Option<Race> {
        let slot = clocks.slot(thread, access, 0);
        let by = By {
            clocks,
            thread,
            slot,
        };
        let mut race = None;
        self.cells(access, |page, lists, cell, address| {
            let found = match access.kind {
                Kind::Store => page.store(cell, lists, by),
                _ => page.load(cell, lists, by),
            };
            if let Some(found) = found {
                race.get_or_insert_with(|| found.race(address));
            }
        });
        race
    }

    /// Adds an atomic access of `thread`; returns an access that it races with.
    pub fn atomic(
        &mut self,
        clocks: &mut Clocks,
        thread: u32,
        access: &TracedAccess,
        atomic: Atomic,
    ) -> Option<Race> {
        if atomic.release {
            clocks.release(thread, atomic.scope);
        }
        let narrow = atomic.scope == Scope::Block;
        let flags = [
            (atomic.reads, READS),
            (atomic.writes, WRITES),
            (narrow, NARROW),
        ]
        .into_iter()
        .filter_map(|(is_set, flag)| is_set.then_some(flag))
        .sum();
        let slot = clocks.slot(thread, access, flags);
        let scopes = self.space == Space::Global;
        let mut race = None;
        self.cells(access, |page, lists, cell, address| {
            let by = By {
                clocks,
                thread,
                slot,
            };
            if let Some(found) = page.check_atomic(cell, lists, by, scopes) {
                race.get_or_insert_with(|| found.race(address));
            }
            page.add_atomic(cell, lists, clocks, thread, slot, atomic);
        });
        if atomic.acquire {
            clocks.acquire(thread, atomic.scope);
        }
        race
    }

    /// Calls `visit` for each cell of `access`, with its page, index and address.
    #[inline]
    fn cells(
        &mut self,
        access: &TracedAccess,
        mut visit: impl FnMut(&mut Page, &mut Lists, usize, usize),
    ) {
        let end = access.address + access.size as usize;
        let shift = (access.address | access.size as usize).trailing_zeros();
        let mut address = access.address;
        while address < end {
            let number = address >> self.page_bits;
            let page_end = (number + 1) << self.page_bits;
            let index = self.page(number, shift);
            let page = &mut self.pages[index];
            while address < end.min(page_end) {
                let cell = (address & ((1 << self.page_bits) - 1)) >> page.shift;
                visit(page, &mut self.lists, cell, address);
                address += 1 << page.shift;
            }
        }
    }

    /// The index of the page with this number, whose cells become at most `1 << shift` bytes wide.
    #[inline]
    fn page(&mut self, number: usize, shift: u32) -> usize {
        let (recent, mut index) = self.recent[number % RECENT];
        if recent != number {
            index = self.find(number);
            self.recent[number % RECENT] = (number, index);
        }
        let page = &mut self.pages[index];
        if page.generation != self.generation {
            page.reset(self.generation, shift);
        } else if page.shift > shift {
            page.split(shift, &mut self.lists);
        }
        index
    }

    #[cold]
    fn find(&mut self, number: usize) -> usize {
        *self.indices.entry(number).or_insert_with(|| {
            self.pages.push(Page::new(self.page_bits));
            self.pages.len() - 1
        })
    }
}
