//! Copies: one loop, with accesses of different widths.
//!
//! A copy computes nothing. Its cost is the bytes, and the instructions that move them: per access an index
//! computation, a comparison, a load and a store, whatever the width of the access. After Justin Luitjens,
//! "CUDA Pro Tip: Increase Performance with Vectorized Memory Access" (NVIDIA, 2013).
//!
//! | kernel | bytes per access | a warp's request | PTX | SASS |
//! |---|---|---|---|---|
//! | [`copy_scalar`] | one element | 4 sectors of 32 bytes (4-byte elements) | `ld.global.b32` | `LDG.E` |
//! | [`copy_vec2`] | 8 bytes | 8 sectors | `ld.global.b64` | `LDG.E.64` |
//! | [`copy_vec4`] | 16 bytes | 16 sectors | `ld.global.v2.b64` | `LDG.E.128` |
//! | [`copy_vec4`] from sm_100 on | 32 bytes | 32 sectors | `ld.global.v4.b64` | `LDG.E.ENL2.256` |
//!
//! The number of sectors is the same for all, because adjacent lanes move adjacent bytes. The number of
//! requests falls: for 4-byte elements `copy_vec4` makes a quarter of the requests and executes a quarter of
//! the instructions. The same number of threads has four times the bytes in flight. More bytes in flight than
//! the latency requires do not help, and for short arrays some threads have no work.
//!
//! The names follow CUDA's `int2` and `int4`. Only the size of an element matters, and only for the scalar
//! copy, the alignment and the ends. There are entry points for elements of 1, 2, 4 and 8 bytes; for 8-byte
//! elements `copy_vec2` is the same as the scalar copy.
//!
//! Bandwidth on an H200 for 4-byte elements, bytes read plus bytes written
//! (`benches/records/h200/2026-11-21/copy.txt`):
//!
//! | size | `copy_scalar` | `copy_vec2` | `copy_vec4` | the driver's copy |
//! |---|---|---|---|---|
//! | 1 MiB | 440 GB/s | 454 GB/s | 460 GB/s | |
//! | 64 MiB | 2.70 TB/s | 3.38 TB/s | 3.53 TB/s | |
//! | 1 GiB | 3.00 TB/s | 3.94 TB/s | 3.96 TB/s | 4.23 TB/s |
//!
//! # Any length, any alignment
//!
//! A wide access requires an address that is a multiple of its width. The elements before the first such
//! address (the head), and those after the last whole word (the tail), are fewer than the threads of a block;
//! one thread copies each of them.
//!
//! Source and target may have different alignments: one address is a multiple of 16, and the other is, for
//! example, 4 bytes behind one. Then no 16-byte word of the source corresponds to a 16-byte word of the target,
//! and the kernel uses the widest words for which the alignments agree: 4 bytes in this case. All threads of
//! the grid compute the same choice from the two addresses.
//!
//! # Accesses of 32 bytes
//!
//! From sm_100 on, one instruction can move 32 bytes. The library embeds no module for sm_100; such a device
//! runs the module for sm_80, with 16 bytes. A module that is built for sm_100 (`cargo xtask sass --kernel
//! copy_vec4_b32 --arch sm_100`) contains the wider path, for which ptxas emits `LDG.E.ENL2.256` and
//! `STG.E.ENL2.256`. It has run in the simulator, but not yet on such a device.
//!
//! # Requirements of every launch
//!
//! - A one-dimensional grid of any number of blocks, and a one-dimensional block of at least 32 threads. The
//!   kernel is a grid-stride loop.
//! - `to` has the length of `from`, and they do not overlap.

use crate::device::cuda_arch;
use crate::element::Element;
use crate::mem::{B128, B256, Global, Word};
use cuda_std::thread::{block_dim_x, block_idx_x, grid_dim_x, thread_idx_x};

/// The bytes of a wide access before sm_100.
pub const VEC4_BYTES: usize = size_of::<B128>();

/// The bytes of an access of [`copy_vec2`].
pub const VEC2_BYTES: usize = size_of::<u64>();

/// Copies element by element.
///
/// # Safety
///
/// The launch meets the [requirements](self).
#[inline(always)]
pub unsafe fn copy_scalar<T: Element>(from: Global<T>, to: Global<T>) {
    let (thread, stride) = grid_stride();
    let mut i = thread;
    while i < from.len() {
        to.set(i, from.get(i));
        i += stride;
    }
}

/// Copies 8 bytes per access if the alignments agree modulo 8; otherwise in the widest words that they allow.
///
/// # Safety
///
/// The launch meets the [requirements](self).
#[inline(always)]
pub unsafe fn copy_vec2<T: Element>(from: Global<T>, to: Global<T>) {
    let grid = grid_stride();
    // SAFETY: the same launch.
    unsafe {
        if !copy_words::<T, u64>(grid, from, to) {
            copy_narrow(grid, from, to);
        }
    }
}

/// Copies 16 bytes per access (32 from sm_100 on) if the alignments agree; otherwise in the widest words that
/// they allow.
///
/// # Safety
///
/// The launch meets the [requirements](self).
#[inline(always)]
pub unsafe fn copy_vec4<T: Element>(from: Global<T>, to: Global<T>) {
    let grid = grid_stride();
    // SAFETY: the same launch.
    unsafe {
        let done = cuda_arch() >= 1000 && copy_words::<T, B256>(grid, from, to)
            || copy_words::<T, B128>(grid, from, to);
        if !done {
            copy_vec2(from, to);
        }
    }
}

/// Copies in words of fewer than 8 bytes, if the alignments agree for them; otherwise element by element.
///
/// # Safety
///
/// The launch meets the [requirements](self).
#[inline(always)]
unsafe fn copy_narrow<T: Element>(grid: Grid, from: Global<T>, to: Global<T>) {
    // SAFETY: the same launch.
    unsafe {
        let done = size_of::<T>() < 4 && copy_words::<T, u32>(grid, from, to)
            || size_of::<T>() < 2 && copy_words::<T, u16>(grid, from, to);
        if !done {
            copy_scalar(from, to);
        }
    }
}

/// Copies in words of `W`, and the two ends element by element, if the alignments of the arrays agree modulo
/// the size of `W`. Returns whether they do.
///
/// # Safety
///
/// The launch meets the [requirements](self). A word has at least the size of an element; head and tail have at
/// most 31 elements.
#[inline(always)]
unsafe fn copy_words<T: Element, W: Word>(grid: Grid, from: Global<T>, to: Global<T>) -> bool {
    // SAFETY: the caller's contract. Behind these heads a word can begin, or the array ends.
    unsafe {
        // The start of an allocation is always aligned. This common case is tested first and has its own code,
        // because computing a head takes most of the time before the first load.
        if from.is_aligned_for::<W>() && to.is_aligned_for::<W>() {
            copy_with_head::<T, W>(0, grid, from, to);
        } else if from.has_same_alignment::<W>(to) {
            copy_with_head::<T, W>(from.head_len::<W>().min(from.len()), grid, from, to);
        } else {
            return false;
        }
    }
    true
}

/// Copies the `head` elements before the first word one by one, then words, then the tail.
///
/// # Safety
///
/// As [`copy_words`]; in both arrays a word can begin behind the head, or they end there.
#[inline(always)]
unsafe fn copy_with_head<T: Element, W: Word>(
    head: usize,
    (thread, stride): Grid,
    from: Global<T>,
    to: Global<T>,
) {
    let word = size_of::<W>() / size_of::<T>();
    let words = (from.len() - head) / word;
    let tail = head + words * word;

    // SAFETY: behind the head a word can begin in both arrays, or there are no words.
    let (source, target) = unsafe { (from.words::<W>(head, words), to.words::<W>(head, words)) };
    let mut w = thread;
    while w < source.len() {
        target.set(w, source.get(w));
        w += stride;
    }

    // Head and tail have fewer elements than a word, and the grid has at least that many threads.
    if thread < head {
        to.set(thread, from.get(thread));
    }
    if tail + thread < from.len() {
        to.set(tail + thread, from.get(tail + thread));
    }
}

/// The thread's number in the grid, and the number of threads.
///
/// The wide copies load it first. The grid's shape and the kernel's parameters are in different parts of
/// constant memory, and short copies are slower if the second load starts only after the first has finished.
type Grid = (usize, usize);

/// This thread's [`Grid`].
#[inline(always)]
fn grid_stride() -> Grid {
    let threads = block_dim_x() as usize;
    (
        block_idx_x() as usize * threads + thread_idx_x() as usize,
        grid_dim_x() as usize * threads,
    )
}
