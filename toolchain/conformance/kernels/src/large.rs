//! Indices beyond 32 bits, in a scratch buffer of bytes.

use crate::io::{Io, block_threads, blocks, global_thread};
use core::sync::atomic::Ordering;
use cuda_std::atomic::AtomicU64;

/// The byte at `index`. It differs for two indices that differ only in their upper halves.
#[inline(always)]
pub fn pattern(index: u64) -> u8 {
    let mixed = (index ^ index >> 32).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed >> 56) as u8
}

/// Sets every byte of the scratch buffer to its [`pattern`], by a grid-stride loop.
///
/// # Safety
/// One dimension.
#[inline(always)]
pub unsafe fn fill(io: Io) {
    let (bytes, len) = io.scratch_bytes();
    let mut index = global_thread();
    while index < len {
        // SAFETY: within the buffer, and this thread's alone.
        unsafe { bytes.add(index).write(pattern(index as u64)) };
        index += blocks() * block_threads();
    }
}

/// Thread `t` sets the byte at input word `2 t` to input word `2 t + 1`.
///
/// # Safety
/// Indices within the scratch buffer, all different.
#[inline(always)]
pub unsafe fn scatter(io: Io) {
    let (bytes, _) = io.scratch_bytes();
    let record = 2 * global_thread();
    // SAFETY: the launch promises the bounds and that indices differ.
    unsafe {
        bytes
            .add(io.read(record) as usize)
            .write(io.read(record + 1) as u8)
    };
}

/// Thread `t` writes the byte at input word `2 t` to output word `t`.
///
/// # Safety
/// Indices within the scratch buffer.
#[inline(always)]
pub unsafe fn gather(io: Io) {
    let (bytes, _) = io.scratch_bytes();
    // SAFETY: the launch promises the bounds.
    let byte = unsafe { bytes.add(io.read(2 * global_thread()) as usize).read() };
    io.write(global_thread(), byte.into());
}

/// Adds to output word `parameters[0]` the number of bytes in the scratch buffer that equal [`fill`]'s, and
/// to the next word the number of all bytes.
///
/// # Safety
/// One dimension; the two output words are 0 before.
#[inline(always)]
pub unsafe fn count(io: Io) {
    let (bytes, len) = io.scratch_bytes();
    let (mut same, mut all) = (0, 0);
    let mut index = global_thread();
    while index < len {
        // SAFETY: within the buffer.
        same += u64::from(unsafe { bytes.add(index).read() } == pattern(index as u64));
        all += 1;
        index += blocks() * block_threads();
    }
    let place = io.parameters[0] as usize;
    for (i, count) in [same, all].into_iter().enumerate() {
        // SAFETY: an aligned word of the output, only used by atomics in this kernel.
        let total = unsafe { &*io.output_word(place + i).cast::<AtomicU64>() };
        total.fetch_add(count, Ordering::Relaxed);
    }
}
