//! A pool of lists, which avoids allocations.

use std::ops::{Index, IndexMut};

/// A value that can be reused.
pub(super) trait Reuse: Default {
    /// Resets it to the default, but keeps its allocations.
    fn reuse(&mut self);
}

impl<T> Reuse for Vec<T> {
    fn reuse(&mut self) {
        self.clear();
    }
}

/// Items with numbers, from 1.
#[derive(Default)]
pub(super) struct Pool<T> {
    items: Vec<T>,
    /// Items with this number and above are free.
    end: usize,
    /// The free items with numbers below `end`.
    free: Vec<u32>,
}

impl<T: Reuse> Pool<T> {
    /// The number of a reset item.
    pub fn take(&mut self) -> u32 {
        let number = self.free.pop().unwrap_or_else(|| {
            if self.end == self.items.len() {
                self.items.push(T::default());
            }
            self.end += 1;
            u32::try_from(self.end).expect("fewer than 2^32 lists")
        });
        self[number].reuse();
        number
    }

    /// Returns an item to the pool.
    pub fn give(&mut self, number: u32) {
        self.free.push(number);
    }

    /// Returns all items to the pool.
    pub fn clear(&mut self) {
        self.end = 0;
        self.free.clear();
    }
}

impl<T> Index<u32> for Pool<T> {
    type Output = T;

    #[inline]
    fn index(&self, number: u32) -> &T {
        &self.items[number as usize - 1]
    }
}

impl<T> IndexMut<u32> for Pool<T> {
    #[inline]
    fn index_mut(&mut self, number: u32) -> &mut T {
        &mut self.items[number as usize - 1]
    }
}
