//! The shared memory of a block.

use std::alloc::{self, Layout};
use std::ptr::NonNull;

use super::poison;

/// Alignment of dynamic shared memory.
pub(crate) const ALIGNMENT: usize = 128;

/// Shared memory: the dynamic part first, then the static arrays in the order of their first use.
pub(crate) struct Arena {
    memory: NonNull<u8>,
    limit: usize,
    /// The arrays: address of the declaration, offset and size. The first is dynamic shared memory, which has
    /// no declaration.
    arrays: Vec<(usize, usize, usize)>,
    used: usize,
}

impl Arena {
    pub fn new(limit: usize) -> Self {
        let layout = Self::layout(limit);
        // SAFETY: the layout has a size.
        let memory = unsafe { alloc::alloc(layout) };
        let Some(memory) = NonNull::new(memory) else {
            alloc::handle_alloc_error(layout)
        };
        // SAFETY: the block has `layout.size()` bytes.
        unsafe { poison(memory.as_ptr(), layout.size()) };
        Self {
            memory,
            limit,
            arrays: Vec::new(),
            used: 0,
        }
    }

    fn layout(limit: usize) -> Layout {
        Layout::from_size_align(limit.max(1), ALIGNMENT).expect("shared memory is small")
    }

    /// Prepares it for the next launch: removes all static arrays.
    pub fn declare(&mut self, dynamic: usize) {
        debug_assert!(dynamic <= self.limit);
        self.arrays.clear();
        self.arrays.push((0, 0, dynamic));
        self.used = dynamic;
    }

    /// Prepares it for the next block: all memory is uninitialised. Arrays keep their offsets.
    pub fn clear(&mut self) {
        // SAFETY: `used` is at most the allocated size.
        unsafe { poison(self.memory.as_ptr(), self.used) };
    }

    /// The array whose declaration has the address `key`.
    ///
    /// # Errors
    ///
    /// The number of bytes that would be needed, if there is not enough room.
    pub fn array(&mut self, key: usize, bytes: usize, alignment: usize) -> Result<*mut u8, usize> {
        let known = self.arrays[1..].iter().find(|array| array.0 == key);
        let offset = match known {
            Some(&(_, offset, _)) => offset,
            None => {
                let offset = self.used.next_multiple_of(alignment.max(1));
                let end = offset + bytes;
                if end > self.limit {
                    return Err(end);
                }
                // SAFETY: inside the memory, because `end` is.
                unsafe { poison(self.memory.as_ptr().add(offset), bytes) };
                self.arrays.push((key, offset, bytes));
                self.used = end;
                offset
            }
        };
        // SAFETY: every array lies inside the memory.
        Ok(unsafe { self.memory.as_ptr().add(offset) })
    }

    /// The start of the memory, which is the start of dynamic shared memory.
    pub fn start(&self) -> *mut u8 {
        self.memory.as_ptr()
    }

    pub fn dynamic(&self) -> usize {
        self.arrays.first().map_or(0, |array| array.2)
    }

    /// The size of all arrays in bytes.
    pub fn used(&self) -> usize {
        self.used
    }

    /// Offset and size of the array that contains an offset. The end of an array counts as inside, for a
    /// handle to an empty array.
    #[inline]
    pub fn array_at(&self, offset: usize) -> Option<(usize, usize)> {
        // Most kernels have at most one array.
        match self.arrays[..] {
            [(_, start, bytes)] => (offset - start <= bytes).then_some((start, bytes)),
            _ => self.one_of_many(offset),
        }
    }

    fn one_of_many(&self, offset: usize) -> Option<(usize, usize)> {
        self.arrays
            .iter()
            .map(|&(_, start, bytes)| (start, bytes))
            .filter(|&(start, bytes)| start <= offset && offset <= start + bytes)
            .max_by_key(|&(start, bytes)| (offset < start + bytes, start))
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        // SAFETY: `new` allocated it with this layout.
        unsafe { alloc::dealloc(self.memory.as_ptr(), Self::layout(self.limit)) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_lie_side_by_side() {
        let mut arena = Arena::new(1024);
        arena.declare(100);
        let first = arena.array(1, 12, 4).unwrap();
        let second = arena.array(2, 64, 16).unwrap();
        assert_eq!(arena.array(1, 12, 4), Ok(first));
        assert_eq!(first.addr() - arena.start().addr(), 100);
        assert_eq!(second.addr() - arena.start().addr(), 112);
        assert_eq!(arena.used(), 176);
        assert_eq!(arena.array_at(99), Some((0, 100)));
        assert_eq!(arena.array_at(100), Some((100, 12)));
        assert_eq!(arena.array_at(112), Some((112, 64)));
        assert_eq!(arena.array_at(200), None);
        assert_eq!(arena.array(3, 1000, 8), Err(1176));
    }
}
