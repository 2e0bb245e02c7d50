//! Functions of floats with one to three arguments.
//!
//! The first parameter is the number of calls of each function, at least 1. The second is the increment of
//! the arguments' words from call to call. The output is the exclusive or of all results; for one call, its
//! result. With many calls, a kernel spends its time in the function.
//! call, its result. Many calls make a kernel that spends its time in the function.

use crate::io::{Io, block_threads, blocks, global_thread};
use crate::value::Value;

/// Calls `function` with each input word.
///
/// # Safety
/// One dimension; as many output words as input words.
#[inline(always)]
pub unsafe fn of_one<T: Value>(io: Io, function: impl Fn(T) -> T) {
    each(io, |[x]| function(x));
}

/// Calls `function` with each two input words.
///
/// # Safety
/// One dimension; half as many output words as input words.
#[inline(always)]
pub unsafe fn of_two<T: Value>(io: Io, function: impl Fn(T, T) -> T) {
    each(io, |[x, y]| function(x, y));
}

/// Calls `function` with each three input words.
///
/// # Safety
/// One dimension; a third as many output words as input words.
#[inline(always)]
pub unsafe fn of_three<T: Value>(io: Io, function: impl Fn(T, T, T) -> T) {
    each(io, |[x, y, z]| function(x, y, z));
}

#[inline(always)]
fn each<T: Value, const ARGUMENTS: usize>(io: Io, function: impl Fn([T; ARGUMENTS]) -> T) {
    let [calls, step, ..] = io.parameters;
    let mut i = global_thread();
    while i < io.input_len() / ARGUMENTS {
        let words: [u64; ARGUMENTS] = core::array::from_fn(|k| io.read(ARGUMENTS * i + k));
        let mut results = 0;
        for call in 0..calls.max(1) {
            let rise = call.wrapping_mul(step);
            let arguments = words.map(|word| T::from_word(word.wrapping_add(rise)));
            results ^= function(arguments).to_word();
        }
        io.write(i, results);
        i += blocks() * block_threads();
    }
}
