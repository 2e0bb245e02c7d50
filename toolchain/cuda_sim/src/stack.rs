//! The stacks on which the threads of a block run.

use std::io;

use corosensei::stack::{DefaultStack, Stack, StackPointer};

/// Bytes of a thread's stack. Address space only: a kernel touches one or two pages of it. A
/// panic's message is formatted here too.
const SIZE: usize = 64 * 1024;

/// Stacks that begin at the same offset of a page compete for the same lines of the CPU's cache, so
/// each begins this much lower than the one before, within a page. The step is a multiple of a line
/// of the cache and no power of two.
const COLOUR: usize = 704;
const PAGE: usize = 4096;

/// A stack, with its guard page, whose base lies a colour below its end.
pub(crate) struct Coloured {
    stack: DefaultStack,
    colour: usize,
}

// SAFETY: the memory and the guard page are `DefaultStack`'s; the base moves down by less than a
// page, a multiple of 64, so it stays aligned and more than `MIN_STACK_SIZE` remains.
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

/// Stacks to be used again, the last returned first: a kernel whose threads never wait runs on a
/// single one, which stays in the cache.
#[derive(Default)]
pub(crate) struct Pool {
    free: Vec<Coloured>,
    made: usize,
}

impl Pool {
    /// # Errors
    ///
    /// When the system has no more address space or mappings to give.
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
