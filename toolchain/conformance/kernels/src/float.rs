//! Functions of floats, of as many arguments as they have.

use crate::io::{Io, block_threads, blocks, global_thread};
use crate::value::Value;

/// `function` of each input word.
///
/// # Safety
/// One dimension; as many output words as input words.
#[inline(always)]
pub unsafe fn of_one<T: Value>(io: Io, function: impl Fn(T) -> T) {
    each(io, 1, |i| function(argument(io, i)));
}

/// `function` of each two input words.
///
/// # Safety
/// One dimension; half as many output words as input words.
#[inline(always)]
pub unsafe fn of_two<T: Value>(io: Io, function: impl Fn(T, T) -> T) {
    each(io, 2, |i| function(argument(io, i), argument(io, i + 1)));
}

/// `function` of each three input words.
///
/// # Safety
/// One dimension; a third as many output words as input words.
#[inline(always)]
pub unsafe fn of_three<T: Value>(io: Io, function: impl Fn(T, T, T) -> T) {
    each(io, 3, |i| {
        function(argument(io, i), argument(io, i + 1), argument(io, i + 2))
    });
}

#[inline(always)]
fn argument<T: Value>(io: Io, index: usize) -> T {
    T::from_word(io.read(index))
}

/// Writes the result for each group of input words, of which it gets the first one's index.
#[inline(always)]
fn each<T: Value>(io: Io, arguments: usize, result: impl Fn(usize) -> T) {
    let mut i = global_thread();
    while i < io.input_len() / arguments {
        io.write(i, result(arguments * i).to_word());
        i += blocks() * block_threads();
    }
}
