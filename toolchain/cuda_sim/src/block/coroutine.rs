//! Start and end of a thread: a coroutine with a stack from the pool.

use std::panic::{self, AssertUnwindSafe};

use corosensei::Coroutine;

use super::{Block, Stop};
use crate::finding::Bug;
use crate::lane::Lane;
use crate::overflow;
use crate::stack::{Coloured, Pool};

/// The coroutine of a thread.
pub(crate) type Running = Coroutine<(), (), Exit, Coloured>;

/// How a coroutine ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// The kernel returned.
    Returned,
    /// The kernel panicked; the message is in the lane.
    Panicked,
    /// The stack overflowed, and its contents are lost.
    #[cfg_attr(
        not(all(target_os = "linux", target_arch = "x86_64")),
        expect(dead_code)
    )]
    Overflowed,
}

impl Block {
    /// Gives a thread its stack, when it first runs: threads that never wait then share one.
    #[inline]
    pub(super) fn start(&mut self, i: usize, pool: &mut Pool) -> Result<(), Stop> {
        let stack = match pool.take() {
            Ok(stack) => stack,
            Err(error) => {
                let reason = format!("no stack for thread {i} of the block: {error}");
                self.context
                    .launch()
                    .report(Bug::Refused { reason }, None, None);
                return Err(Stop);
            }
        };
        let lane: *const Lane = &self.lanes[i];
        let kernel = self.context.launch().kernel;
        // SAFETY: lane and kernel outlive the coroutine: the block ends or resets all coroutines before it is
        // dropped, and the launch outlives the block.
        let coroutine = unsafe {
            Coroutine::with_stack_unchecked(stack, move |yielder, ()| {
                (*lane).begin(yielder);
                // The state that a panicking kernel leaves behind is dropped with the launch.
                match panic::catch_unwind(AssertUnwindSafe(kernel)) {
                    Ok(()) => Exit::Returned,
                    Err(_) => Exit::Panicked,
                }
            })
        };
        overflow::watch(&self.lanes[i], &coroutine);
        self.coroutines[i] = Some(coroutine);
        Ok(())
    }

    #[inline]
    pub(super) fn end(&mut self, i: usize, exit: Exit, pool: &mut Pool) -> Result<(), Stop> {
        if let Some(coroutine) = self.coroutines[i].take() {
            pool.give_back(coroutine.into_stack());
        }
        if exit == Exit::Returned {
            return Ok(());
        }
        let said = self.lanes[i].panic.take();
        let (bug, site) = match exit {
            Exit::Overflowed => (Bug::StackOverflow, None),
            _ => {
                let (message, site) = said.unwrap_or_default();
                (Bug::Panic { message }, site)
            }
        };
        let thread = self.context.thread(i as u32);
        self.context
            .launch()
            .report(bug, Some((thread, site)), None);
        Err(Stop)
    }
}
