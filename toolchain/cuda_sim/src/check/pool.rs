//! Lists that come and go without allocations.

use std::ops::{Index, IndexMut};

/// What can be used again.
pub(super) trait Reuse: Default {
    /// Back to the default, allocations kept.
    fn reuse(&mut self);
}

impl<T> Reuse for Vec<T> {
    fn reuse(&mut self) {
        self.clear();
    }
}

/// Items by number, from 1.
#[derive(Default)]
pub(super) struct Pool<T> {
    items: Vec<T>,
    /// Items from here on are not in use.
    end: usize,
    /// Items before `end` that are not in use.
    free: Vec<u32>,
}

impl<T: Reuse> Pool<T> {
    /// An item as if new.
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

    /// Gives an item back.
    pub fn give(&mut self, number: u32) {
        self.free.push(number);
    }

    /// Gives all items back.
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
