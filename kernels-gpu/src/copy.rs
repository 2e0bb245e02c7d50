//! Copies: one loop, and how much an instruction moves.
//!
//! A copy computes nothing. What it costs is the bytes, and the instructions that move them: an
//! index, a compare, a load and a store per access, however wide the access is. After Justin
//! Luitjens, "CUDA Pro Tip: Increase Performance with Vectorized Memory Access" (NVIDIA, 2013).
//!
//! | kernel | an access moves | a warp's request | PTX | SASS |
//! |---|---|---|---|---|
//! | [`copy_scalar`] | one element | 4 sectors of 32 bytes (4-byte elements) | `ld.global.b32` | `LDG.E` |
//! | [`copy_vec2`] | 8 bytes | 8 sectors | `ld.global.b64` | `LDG.E.64` |
//! | [`copy_vec4`] | 16 bytes | 16 sectors | `ld.global.v2.b64` | `LDG.E.128` |
//! | [`copy_vec4`] from sm_100 on | 32 bytes | 32 sectors | `ld.global.v4.b64` | `LDG.E.ENL2.256` |
//!
//! The sectors are the same in all, since neighbouring lanes move neighbouring bytes. What falls
//! is the number of requests: `copy_vec4` of 4-byte elements makes a quarter of them, executes a
//! quarter of the instructions, and has four times the bytes under way for the same number of
//! threads. More of that than is needed to cover the latency brings nothing, and short arrays
//! lose: threads without work.
//!
//! The names are those of CUDA's `int2` and `int4`. Only the size of an element matters here, and
//! only for the scalar copy, the alignment and the ends; the entries are made for elements of 1,
//! 2, 4 and 8 bytes, and `copy_vec2` of 8-byte elements is the scalar copy by another name.
//!
//! On an H200, 4-byte elements, read and written (`benches/records/h200/2026-11-21/copy.txt`): 1 MiB
//! by 440, 454 and 460 GB/s, 64 MiB by 2.70, 3.38 and 3.53 TB/s, 1 GiB by 3.00, 3.94 and 3.96 TB/s.
//! The driver's own copy of 1 GiB runs at 4.23 TB/s.
//!
//! # Any length, any alignment
//!
//! A wide access is only possible at a multiple of its width. The elements before the first such
//! address and those after the last whole word are fewer than the threads of any block, and one
//! thread each moves them.
//!
//! Source and target may lie differently: where one address is a multiple of 16, the other is,
//! say, 4 bytes past one. Then no 16-byte word of the one is a word of the other, at any offset,
//! and the kernel takes the widest words that are: 4 bytes in this case. All threads of the grid
//! decide this alike, from the two addresses; so a wide copy between addresses that differ by an
//! odd number of elements is the scalar copy.
//!
//! # Wider yet
//!
//! From sm_100 on, an instruction moves 32 bytes. No module for sm_100 is embedded in the library:
//! such a device runs that for sm_80, with 16 bytes. In a module built for sm_100
//! (`cargo xtask sass --kernel copy_vec4_b32 --arch sm_100`), `copy_vec4` has the wider path, and
//! ptxas makes `LDG.E.ENL2.256` and `STG.E.ENL2.256` of it. It has run under the simulator, and on
//! no such device.
//!
//! # What every copy asks of its launch
//!
//! - A one-dimensional grid and a one-dimensional block of at least 32 threads; any number of
//!   blocks: the loop strides by the grid.
//! - `to` is as long as `from`, and the two do not overlap.

use crate::device::cuda_arch;
use crate::element::Element;
use crate::mem::{B128, B256, Global, Word};
use cuda_std::thread::{block_dim_x, block_idx_x, grid_dim_x, thread_idx_x};

/// Bytes of a wide access before sm_100.
pub const VEC4_BYTES: usize = size_of::<B128>();

/// Bytes of an access of [`copy_vec2`].
pub const VEC2_BYTES: usize = size_of::<u64>();

/// Copies element by element.
///
/// # Safety
///
/// The launch is as [`copy`](self) asks.
#[inline(always)]
pub unsafe fn copy_scalar<T: Element>(from: Global<T>, to: Global<T>) {
    let (thread, stride) = grid_stride();
    let mut i = thread;
    while i < from.len() {
        to.set(i, from.get(i));
        i += stride;
    }
}

/// Copies 8 bytes at a time where both arrays have them alike; else the widest words they have.
///
/// # Safety
///
/// The launch is as [`copy`](self) asks.
#[inline(always)]
pub unsafe fn copy_vec2<T: Element>(from: Global<T>, to: Global<T>) {
    let grid = grid_stride();
    // SAFETY: the launch is this function's own.
    unsafe {
        if !copy_words::<T, u64>(grid, from, to) {
            copy_narrow(grid, from, to);
        }
    }
}

/// Copies 16 bytes at a time, 32 from sm_100 on, where both arrays have them alike; else the
/// widest words they have.
///
/// # Safety
///
/// The launch is as [`copy`](self) asks.
#[inline(always)]
pub unsafe fn copy_vec4<T: Element>(from: Global<T>, to: Global<T>) {
    let grid = grid_stride();
    // SAFETY: the launch is this function's own.
    unsafe {
        let done = cuda_arch() >= 1000 && copy_words::<T, B256>(grid, from, to)
            || copy_words::<T, B128>(grid, from, to);
        if !done {
            copy_vec2(from, to);
        }
    }
}

/// Copies between arrays that lie differently in words of 8 bytes.
///
/// # Safety
///
/// The launch is as [`copy`](self) asks.
#[inline(always)]
unsafe fn copy_narrow<T: Element>(grid: Grid, from: Global<T>, to: Global<T>) {
    // SAFETY: the launch is this function's own.
    unsafe {
        let done = size_of::<T>() < 4 && copy_words::<T, u32>(grid, from, to)
            || size_of::<T>() < 2 && copy_words::<T, u16>(grid, from, to);
        if !done {
            copy_scalar(from, to);
        }
    }
}

/// Copies in words of `W`, and what is left at both ends by elements, if the two arrays lie alike in
/// such words, and says whether they do.
///
/// # Safety
///
/// The launch is as [`copy`](self) asks; words are no smaller than elements, and the head and the
/// tail, each less than a word, are no more than 31 elements.
#[inline(always)]
unsafe fn copy_words<T: Element, W: Word>(grid: Grid, from: Global<T>, to: Global<T>) -> bool {
    // SAFETY: the caller's promise; behind these heads a word begins, or the array ends.
    unsafe {
        // What an allocation begins with is asked for first and has code of its own: to work out a
        // head is most of what precedes the first load.
        if from.begins_word::<W>() && to.begins_word::<W>() {
            copy_behind::<T, W>(0, grid, from, to);
        } else if from.lies_alike::<W>(to) {
            copy_behind::<T, W>(from.before_words::<W>().min(from.len()), grid, from, to);
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
/// As [`copy_words`]; in both arrays a word begins behind the head, or they end there.
#[inline(always)]
unsafe fn copy_behind<T: Element, W: Word>(
    head: usize,
    (thread, stride): Grid,
    from: Global<T>,
    to: Global<T>,
) {
    let word = size_of::<W>() / size_of::<T>();
    let words = (from.len() - head) / word;
    let tail = head + words * word;

    // SAFETY: behind the head a word may begin, in `to` as in `from`, or there are none.
    let (source, target) = unsafe { (from.words::<W>(head, words), to.words::<W>(head, words)) };
    let mut w = thread;
    while w < source.len() {
        target.set(w, source.get(w));
        w += stride;
    }

    // Either end has fewer elements than a word, and the grid no fewer threads.
    if thread < head {
        to.set(thread, from.get(thread));
    }
    if tail + thread < from.len() {
        to.set(tail + thread, from.get(tail + thread));
    }
}

/// The thread's number in the grid, and how many there are.
///
/// The wide copies ask for it before anything else: the launch's shape and the kernel's parameters
/// are apart in constant memory, and a copy of a few kilobytes feels it when the second is asked for
/// only after the first is there.
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
