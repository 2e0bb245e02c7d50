//! Panics. On a device they trap, or print their location; the launch fails and the context is lost.

use crate::io::{Io, global_thread};

/// No panic.
pub const NONE: u64 = 0;
/// `panic!` with a formatted message.
pub const PANIC: u64 = 1;
/// An index past the end of a slice.
pub const INDEX: u64 = 2;
/// `Option::unwrap` of `None`.
pub const UNWRAP: u64 = 3;
/// An integer divided by zero.
pub const DIVISION: u64 = 4;
/// An assertion with operands.
pub const ASSERTION: u64 = 5;
/// `panic!` with a message that has no values.
pub const MESSAGE: u64 = 6;

/// Threads whose input word is `u64::MAX` panic in the way that `parameters[0]` selects; `parameters[1]` is
/// 0. The other threads copy their input word.
///
/// # Safety
/// One dimension; one input and one output word a thread.
#[inline(always)]
pub unsafe fn trap(io: Io) {
    let thread = global_thread();
    let [kind, zero, ..] = io.parameters;
    let word = io.read(thread);
    if word == u64::MAX {
        match kind {
            PANIC => panic!("thread {thread} was told to"),
            INDEX => io.write(thread, io.read(usize::MAX - zero as usize)),
            UNWRAP => io.write(thread, (zero != 0).then_some(word).unwrap()),
            DIVISION => io.write(thread, word / zero),
            MESSAGE => panic!("this thread was told to panic"),
            ASSERTION => assert_eq!(word, zero, "thread {thread}"),
            _ => {}
        }
    }
    io.write(thread, word);
}
