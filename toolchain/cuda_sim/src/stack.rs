//! The stacks on which the threads of a block run.

use std::io;

use corosensei::stack::{DefaultStack, Stack, StackPointer};

/// The size of a thread's stack in bytes. It is mostly address space: an optimised kernel touches one or two pages, one that is
/// not optimised 64 KiB or more, because each copy of an inlined function has its own variables. Panic messages are formatted
/// here too.
const SIZE: usize = 128 * 1024;

/// The step by which stacks are staggered within a page.
///
/// Stacks at the same offset of a page compete for the same cache lines. The step is a multiple of a cache
/// line, but not a power of two.
const COLOUR: usize = 704;
const PAGE: usize = 4096;

/// A stack with a guard page. Its base lies up to a page below its end (cache colouring).
pub(crate) struct Coloured {
    stack: DefaultStack,
    colour: usize,
}

// SAFETY: `DefaultStack` owns the memory and the guard page. The base moves down by a multiple of 64, less
// than a page: it stays aligned, and more than `MIN_STACK_SIZE` remains.
unsafe impl Stack for Coloured {
    #[inline]
    fn base(&self) -> StackPointer {
        let base = self.stack.base().get() - self.colour;
        StackPointer::new(base).expect("a stack does not lie at address 0")
    }

    #[inline]
    fn limit(&self) -> StackPointer {
        self.stack.limit()
    }

    #[cfg(windows)]
    fn teb_fields(&self) -> corosensei::stack::StackTebFields {
        self.stack.teb_fields()
    }

    #[cfg(windows)]
    fn update_teb_fields(&mut self, stack_limit: usize, guaranteed_stack_bytes: usize) {
        self.stack
            .update_teb_fields(stack_limit, guaranteed_stack_bytes);
    }
}

/// A pool of stacks; the last one returned is reused first. A kernel whose threads never wait thus uses one
/// stack, which stays in the cache.
#[derive(Default)]
pub(crate) struct Pool {
    free: Vec<Coloured>,
    made: usize,
}

impl Pool {
    /// # Errors
    ///
    /// An error if the system has no address space or mappings left.
    pub fn take(&mut self) -> io::Result<Coloured> {
        if let Some(stack) = self.free.pop() {
            return Ok(stack);
        }
        let colour = self.made * COLOUR % PAGE;
        let stack = DefaultStack::new(SIZE + PAGE)?;
        self.made += 1;
        Ok(Coloured { stack, colour })
    }

    pub fn give_back(&mut self, stack: Coloured) {
        self.free.push(stack);
    }
}
