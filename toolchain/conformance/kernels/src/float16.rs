//! Conversions between `half`'s types and `f32`.

use crate::io::{Io, global_thread};
use crate::value::Value;
use cuda_std::float16::Float16;

/// Converts the value in the low bits of each input word to `f32`.
///
/// # Safety
/// One dimension; one word a thread.
#[inline(always)]
pub unsafe fn widen<T: Value + Float16>(io: Io) {
    let value = T::from_word(io.read(global_thread()));
    io.write(global_thread(), value.widen().to_word());
}

/// Rounds the `f32` in the low bits of each input word to `T`.
///
/// # Safety
/// One dimension; one word a thread.
#[inline(always)]
pub unsafe fn narrow<T: Value + Float16>(io: Io) {
    let value = f32::from_word(io.read(global_thread()));
    io.write(global_thread(), T::narrow(value).to_word());
}
