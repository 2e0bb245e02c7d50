//! Who touched which bytes last.

use std::collections::HashMap;

use super::clocks::Clocks;
use super::page::{By, Lists, Page};
use super::slot::{NARROW, READS, WRITES};
use super::{Atomic, Race};
use crate::access::{Access, Kind, Scope, Space};

/// Who touched which bytes last, of one address space.
///
/// Of each byte the last plain store is remembered, and of the accesses since those that nothing
/// orders: all by the running block's threads, and a bounded number of other blocks'.
pub(crate) struct Shadow {
    space: Space,
    /// The size of a page in bytes is two to the power of this.
    page_bits: u32,
    /// Pages with another one are empty.
    generation: u64,
    pages: Vec<Page>,
    indices: HashMap<usize, usize>,
    /// Pages used recently: number and index.
    recent: Box<[(usize, usize); RECENT]>,
    lists: Lists,
}

const RECENT: usize = 256;

impl Shadow {
    /// Of memory that nobody has touched.
    pub fn new(space: Space) -> Self {
        Self {
            space,
            page_bits: match space {
                Space::Global => 12,
                // Begins anew with each block: the less is touched the better.
                Space::Shared => 9,
            },
            generation: 1,
            pages: Vec::new(),
            indices: HashMap::new(),
            recent: Box::new([(usize::MAX, 0); RECENT]),
            lists: Lists::default(),
        }
    }

    /// Forgets all accesses, and keeps the allocations.
    pub fn clear(&mut self) {
        self.generation += 1;
        self.lists.clear();
    }

    /// `thread` makes a plain access. One that it races with, if there is any.
    #[inline]
    pub fn plain(&mut self, clocks: &Clocks, thread: u32, access: &Access) -> Option<Race> {
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

    /// `thread` makes an atomic access. One that it races with, if there is any.
    pub fn atomic(
        &mut self,
        clocks: &mut Clocks,
        thread: u32,
        access: &Access,
        atomic: Atomic,
    ) -> Option<Race> {
        if atomic.release {
            clocks.release(thread, atomic.scope);
        }
        let narrow = atomic.scope == Scope::Block;
        let does = [
            (atomic.reads, READS),
            (atomic.writes, WRITES),
            (narrow, NARROW),
        ]
        .into_iter()
        .filter_map(|(does, what)| does.then_some(what))
        .sum();
        let slot = clocks.slot(thread, access, does);
        let scopes = self.space == Space::Global;
        let mut race = None;
        self.cells(access, |page, lists, cell, address| {
            let by = By {
                clocks,
                thread,
                slot,
            };
            if let Some(found) = page.operate(cell, lists, by, scopes) {
                race.get_or_insert_with(|| found.race(address));
            }
            page.add_atomic(cell, lists, clocks, thread, slot, atomic);
        });
        if atomic.acquire {
            clocks.acquire(thread, atomic.scope);
        }
        race
    }

    /// Calls `touch` for each cell of `access`, with its page, index and address.
    #[inline]
    fn cells(
        &mut self,
        access: &Access,
        mut touch: impl FnMut(&mut Page, &mut Lists, usize, usize),
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
                touch(page, &mut self.lists, cell, address);
                address += 1 << page.shift;
            }
        }
    }

    /// The index of the page with this number, whose cells are at most two to the power of `shift`
    /// bytes wide.
    #[inline]
    fn page(&mut self, number: usize, shift: u32) -> usize {
        let (recent, mut index) = self.recent[number % RECENT];
        if recent != number {
            index = self.find(number);
            self.recent[number % RECENT] = (number, index);
        }
        let page = &mut self.pages[index];
        if page.generation != self.generation {
            page.renew(self.generation, shift);
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
